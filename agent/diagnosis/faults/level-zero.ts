// Errors of Intel's GPU runtime (Level Zero, Unified Runtime, SYCL) by their names: out of memory, device lost.
import { ruleFamily, type Seen } from './parts/rules.ts'
import { driverLines } from './parts/drm.ts'
import { whoHolds } from './remedies/gpu.ts'
import { lessMemory } from './cuda-oom/less/index.ts'

/** A table of codes, or code that handles them, in a text about them. */
const listed = ({ message, match }: Seen): boolean => /^\s{0,8}[A-Z_]{8,60} ?(?:=|,)/.test(message.slice(match.index))
const KERNEL = {
  text: 'See whether the driver reset the GPU in the same second: then that is the cause.',
  command: driverLines('xe', 40).replace("'xe '", "'xe |i915 '"),
}

export const levelZero = ruleFamily({
  id: 'level-zero',
  kind: 'cuda_oom',
  literals: [
    'UR_RESULT_ERROR_OUT_OF_',
    'ZE_RESULT_ERROR_OUT_OF_',
    'PI_ERROR_OUT_OF_',
    'UR_RESULT_ERROR_DEVICE_LOST',
    'ZE_RESULT_ERROR_DEVICE_LOST',
    'ErrorDeviceLost',
    'VK_ERROR_DEVICE_LOST',
    'VkResult: ERROR_DEVICE_LOST',
    'RESULT_ERROR_UNINITIALIZED',
    'PI_ERROR_UNINITIALIZED',
    'PI_ERROR_DEVICE_NOT_FOUND',
    'No device of requested type available',
    'uses-fp64-math',
    'fp64 aspect',
  ],
  rules: [
    {
      pattern: /\bErrorDeviceLost\b|\bVK_ERROR_DEVICE_LOST\b|\bVkResult: ERROR_DEVICE_LOST\b/,
      kind: 'gpu_reset',
      severity: 'critical',
      title: 'GPU was lost under the program (Vulkan)',
      verdict:
        'The driver of the GPU reset it, or gave the program up: mostly a piece of work that ran longer than the driver allows, memory that ran out, or a fault of the driver.',
      remedies: ({ situation }) => [
        situation().system === 'windows'
          ? { text: "See in Windows' Event Viewer (System) whether the display driver stopped responding (event 4101) in the same second." }
          : { text: 'See what the kernel says of the GPU in the same second.', command: "sudo dmesg -T | grep -E 'amdgpu|i915|xe |NVRM' | tail -n 40" },
        situation().programs.has('llamacpp') && {
          text: 'Give it smaller pieces of work, and leave memory free.',
          command: '--ubatch-size 256 --ctx-size <TOKENS>',
        },
        { text: 'Update the driver (Mesa, firmware and kernel for AMD and Intel); if it began with an update, go back to the version before.' },
        situation().programs.has('llamacpp') && { text: "Or use the vendor's own backend in place of Vulkan (CUDA, ROCm, SYCL), where the GPU has one." },
      ],
    },
    {
      pattern: /\b(?:(?:UR|ZE)_RESULT_ERROR|PI_ERROR)_(?:UNINITIALIZED|DEVICE_NOT_FOUND)\b|No device of requested type available/,
      kind: 'gpu_not_visible',
      severity: 'critical',
      title: 'Level Zero finds no GPU',
      verdict: "Intel's GPU runtime found no GPU that this process may use: its compute driver is missing or too old, or the device files may not be opened.",
      remedies: [
        { text: 'See which GPUs the runtime finds.', command: 'sycl-ls; clinfo -l' },
        { text: 'See who may open the device files; the user needs the group render. In a container, pass /dev/dri.', command: 'ls -l /dev/dri; id' },
        {
          text: 'Install or update the compute driver (intel-level-zero-gpu or libze-intel-gpu1, and intel-opencl-icd).',
        },
      ],
      unless: listed,
    },
    {
      pattern: /invalid_kernel\("uses-fp64-math"\)|[Rr]equired aspect fp64 is not supported|fp64 aspect/,
      kind: 'dtype_mismatch',
      severity: 'critical',
      title: 'The GPU has no double precision',
      verdict: 'The program computes in double precision (fp64), which this Intel GPU does not have.',
      remedies: [
        { text: 'Keep tensors and constants in float32: torch.float64 and numpy arrays of double are the usual sources.' },
        { text: 'Or let the driver emulate it (slow).', command: 'export OverrideDefaultFP64Settings=1 IGC_EnableDPEmulation=1' },
      ],
    },
    {
      pattern: /\b(?:UR|ZE)_RESULT_ERROR_DEVICE_LOST\b/,
      kind: 'gpu_reset',
      severity: 'critical',
      title: 'GPU was lost under the program',
      verdict: "Intel's GPU runtime (Level Zero) lost the GPU: it hung or was reset, often after it ran out of memory.",
      remedies: [
        KERNEL,
        { text: 'Restart the program: this process cannot use the GPU any more.' },
        { text: 'Try a smaller batch: running out of memory shows up as a lost device too.' },
      ],
      unless: listed,
    },
    {
      pattern: /\b(?:(?:UR|ZE)_RESULT_ERROR|PI_ERROR)_OUT_OF_(DEVICE_MEMORY|RESOURCES|HOST_MEMORY)\b/,
      severity: 'critical',
      title: ({ match }) => (match[1] === 'HOST_MEMORY' ? 'Out of host memory for the GPU driver' : 'Out of GPU memory'),
      verdict: ({ match }) =>
        match[1] === 'HOST_MEMORY'
          ? 'Level Zero could not get host memory for its work on the GPU.'
          : match[1] === 'RESOURCES'
            ? 'Level Zero could not get what it needs on the GPU: mostly memory, also after the GPU hung.'
            : 'Level Zero could not get memory on the GPU. The message carries no figures.',
      remedies: ({ situation, match }) => [
        match[1] === 'HOST_MEMORY'
          ? { text: 'See how much host memory is free, and what limits this process.', command: 'free -g; ulimit -a' }
          : lessMemory(situation(), {}),
        whoHolds({ ...situation(), vendor: 'intel' }),
        KERNEL,
      ],
      unless: listed,
    },
  ],
})
