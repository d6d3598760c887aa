// A kernel did something that is not allowed: a bad address, a failed assertion, a launch that the GPU gave up.
import type { Facts } from '../../model/facts.ts'
import { ruleFamily, type Rule, type Seen, type Matched } from './parts/rules.ts'
import { byLibrary, kernelOf } from './parts/kernel-library.ts'
import { JETSON_FAULT, jetsonFault } from './parts/jetson-fault.ts'
import { around, cudaErrorCode, currentDevice, inNccl, known, whole } from './parts/window.ts'
import { launchesWait, sanitizer, synchronous, xidsBeside } from './remedies/debug.ts'
import { setVariables } from './remedies/environment.ts'
import { diagnose } from './remedies/gpu.ts'
import type { Piece } from './remedies/plan.ts'
import { INFERENCE } from '../situation/programs.ts'
import type { Situation } from '../situation/situation.ts'
import { xidFacts } from './xid.ts'

const OVERRIDE = /HSA_OVERRIDE_GFX_VERSION["']?[=:] ?["']?(\d{1,2}\.\d\.\d{1,2})/
/** ROCm names no kernel: what it was made to run may be of another chip. */
const otherChip = ({ text }: Situation): Piece => {
  const override = OVERRIDE.exec(text)?.[1]
  return (
    override !== undefined && {
      text: `HSA_OVERRIDE_GFX_VERSION=${override} makes the GPU run code of another chip, which fails where the two differ: leave it out where ROCm supports the GPU, else set that of its nearest relative.`,
      command: 'rocminfo | grep -i gfx',
    }
  )
}
const DRIVER_OF_AMD: Piece = {
  text: 'See what the driver says of it in the same second: the process, page faults, a reset of the GPU.',
  command: "sudo dmesg -T | grep -iE 'amdgpu.*(fault|ring|reset)' | tail",
}
/** What helps to find the failing kernel, for the program that runs. */
function remedies(matched: Matched): readonly Piece[] {
  const { situation, facts } = matched
  const at = situation()
  const { programs, vendor } = at
  const device = facts.gpu_index === undefined ? '' : ` on GPU ${facts.gpu_index}`
  const named = sanitized(matched)
  const saved = /Writing input of failed execution to (\/[\w./-]{5,120}\.pkl)/.exec(at.text)?.[1]
  return [
    vendor === 'amd' && otherChip(at),
    /\bin replica \d{1,3} on device \d{1,3}/.test(at.text) && {
      text: 'nn.DataParallel splits each batch over the GPUs in threads of one process, as Trainer does by itself where it sees several: start it with one process a GPU, or show it one GPU.',
      command: `accelerate launch <SCRIPT>\n${setVariables(at, { CUDA_VISIBLE_DEVICES: '0' })}`,
    },
    byLibrary(matched),
    // Who runs it did not write its kernels: another release or path helps before a stack does.
    programs.has('llamacpp') && {
      text: `Update ${programs.has('ollama') ? 'Ollama' : 'llama.cpp'}, and see whether it goes away${device} without flash attention or with another quantization.`,
    },
    programs.has('vllm') && {
      text: `Update vLLM, and see whether it goes away without CUDA graphs.${saved === undefined ? '' : ` A report needs the input of the failed step, which was saved as ${saved}.`}`,
      command: '--enforce-eager',
    },
    named === undefined && !/AMD_SERIALIZE_KERNEL["']?[=:] ?["']?3/.test(at.text) && synchronous(at),
    programs.has('sglang') &&
      /cuda_?graph_?runner|[Cc]uda graph|CudaGraph/.test(at.text) && { text: 'See whether it goes away without CUDA graphs.', command: '--disable-cuda-graph' },
    named === undefined && !INFERENCE.some((program) => programs.has(program)) && sanitizer(at),
    vendor === 'amd' && at.system !== 'windows' && DRIVER_OF_AMD,
    facts.xid === undefined && vendor !== 'amd' && at.system !== 'windows' && xidsBeside,
    facts.xid !== undefined && diagnose(facts, at, 'If it happens on one GPU only, with programs that run well elsewhere, test that GPU.'),
  ]
}
/** What is checked in the kernel tells what is out of range. */
const CHECKS: readonly (readonly [pattern: RegExp, text: string, why: string])[] = [
  [
    /n_classes|cur_target|ClassNLL|nll_loss/,
    'A label is outside of 0 to the number of classes - 1: check the labels, and the size of the last layer.',
    'a label is out of range',
  ],
  [
    /srcIndex < srcSelectDimSize|indexSelect|embedding/i,
    'An index is out of range of the table it selects from: token ids above the vocabulary, or positions above the maximum length.',
    'an index is out of range of its table',
  ],
  [
    /input_val >= zero/,
    'An input of binary cross entropy is NaN or outside of 0 to 1: give the raw outputs to BCEWithLogitsLoss, or pass them through a sigmoid; look for NaN before.',
    'an input of the loss is not a probability',
  ],
  [
    /probability tensor/,
    'Sampling met a probability that is NaN, infinite or negative: look for NaN in the logits (fp16 overflows: use bf16 or float32; a temperature near 0 too).',
    'a probability is not a number',
  ],
  [
    /idx_dim|index out of bounds|ScatterGather/,
    'An index is out of range in gather, scatter or indexing: compare its smallest and largest value with the size of the dimension (-100 of masked labels is one too).',
    'an index is out of range',
  ],
]
/** The kernel's own line, which is printed late where the program does not wait for it. */
const ASSERTION = /^[^\n]{0,300}Assertion [`'"][^\n]{1,200}/m
const checked = ({ message, text, at, situation }: Seen): (typeof CHECKS)[number] | undefined =>
  [`${message} ${text.slice(Math.max(0, at - 3), at + 4).join(' ')}`, ASSERTION.exec(situation().text)?.[0] ?? '']
    .map((words) => CHECKS.find(([pattern]) => pattern.test(words)))
    .find((one) => one !== undefined)
function asserted(matched: Matched): readonly Piece[] {
  const { message } = matched
  const known = checked(matched)?.[1]
  const situation = matched.situation()
  const kernel = /nvfp4|fp8|moe|flash|triton|cutlass|\.cuh/i.test(message)
  return [
    { text: known ?? 'Most often an index is out of range: a label, a token id or a position.' },
    !kernel && known === undefined && situation.programs.has('pytorch') && { text: 'Run the same step once on the CPU: the message there names the index.' },
    synchronous(situation),
    { text: 'Restart the process: it cannot use the GPU any more after this.' },
  ]
}

// Xids that a kernel's fault leaves in the kernel log, where a journal holds both.
const OF_KERNELS = new Set([13, 31, 43, 69])

function facts({ text, at, message }: Seen, code: number): Facts {
  const nearby = text
    .slice(Math.max(0, at - 6), at + 4)
    .filter((line) => line.includes('Xid ('))
    .map(xidFacts)
    .find((found) => found?.xid !== undefined && OF_KERNELS.has(found.xid))
  // vLLM and Ray put the pid of the process in front of its lines.
  const pid = whole(/^\s{0,4}\([\w. -]{1,40} pid=(\d{1,10})\b/.exec(text[at] ?? '')?.[1])
  return { ...known({ pid }), ...nearby, ...known({ cuda_error_code: cudaErrorCode(message) ?? code, gpu_index: currentDevice(around(text, at, 0, 2)) }) }
}

/** What cuda-gdb or compute-sanitizer found before: the kernel, and what it did. */
function sanitized({ text, at }: Seen): string | undefined {
  const near = around(text, at, 16, 8)
  const stopped = kernelOf(near)
  if (stopped !== null) return `cuda-gdb names the kernel: ${stopped[2]} (${stopped[1]}).`
  const found = /Invalid __\w{1,10}__ (read|write|atomic)\w{0,8} of size (\d{1,6}) bytes\s{1,4}=*\s{1,12}at (?:void )?([\w:~]{1,120})/.exec(near)
  if (found === null) return undefined
  const where = /is ([\d,]{1,18}) bytes (after|before) the nearest allocation/.exec(near)
  return `compute-sanitizer names the kernel: ${found[3]} ${found[1] === 'read' ? 'reads' : 'writes'} ${found[2]} bytes outside its memory${where === null ? '' : `, ${where[1]} bytes ${where[2]} the nearest allocation`}.`
}
/** PyTorch says itself that the stack may be of another call. */
const saysLate = ({ text, at, situation }: Matched): boolean =>
  /asynchronously reported at some other API call/.test(around(text, at, 0, 4)) || launchesWait(situation())
const rule = (pattern: RegExp, code: number, title: string, verdict: string, more: Partial<Rule> = {}): Rule => ({
  pattern,
  severity: 'critical',
  title,
  verdict: (matched) => sanitized(matched) ?? `${verdict.replace(REPORTED_LATE, saysLate(matched) ? '' : lateAt(matched))}${workerOf(matched)}`,
  remedies,
  facts: (seen) => facts(seen, code),
  ...more,
})
/** Engines name the worker in front of its lines. */
const workerOf = ({ text, at }: Seen): string => {
  const [, name, pid] = /^\s{0,4}\(((?:\w{0,12}Worker|RayWorker)[\w -]{0,30}) pid=(\d{1,10})\)/.exec(text[at] ?? '') ?? []
  return name === undefined ? '' : ` It failed in ${name} (pid ${pid}).`
}
const LIBRARIES = /aten|c10|torch|ggml|xla|tensorflow|kokkos|nccl|onnx|paddle|mxnet|caffe|jax|triton|cutlass|flash|llama/i
/** llama.cpp names its own function. */
const lateAt = ({ text, at }: Seen): string => {
  const name = /\bin function (\w{3,80}) at /.exec(around(text, at, 0, 2))?.[1]
  // Of the program's own code, not of a framework's.
  const line = text[at] ?? ''
  const [, place] = (LIBRARIES.test(line) ? undefined : /(?<![\w.-])([\w-]{1,60}\.(?:cuh?|cpp|cc|cxx):\d{1,6})\b/.exec(line)) ?? []
  if (name === undefined && place !== undefined) return REPORTED_LATE.replace('named here', `at ${place}`)
  return name === undefined ? REPORTED_LATE : ` GPU errors are reported late, so ${name}, which is named here, is often not at fault.`
}
export const REPORTED_LATE = ' GPU errors are reported late, so the call named here is often not the one at fault.'

export const illegalMemoryAccess = ruleFamily({
  id: 'illegal-memory-access',
  kind: 'illegal_memory_access',
  literals: [
    'llegal memory',
    JETSON_FAULT,
    'Cuda driver error',
    'CUDA_ERROR_',
    'cudaError',
    'hipErrorIllegalAddress',
    'device-side assert',
    'misaligned address',
    'unspecified launch failure',
    'illegal instruction was encountered',
    'launch timed out and was terminated',
    'not supported on global/shared address space',
    'hardware stack error',
    'encode tensor map: 7',
    'invalid program counter',
    'Memory access fault by GPU',
    'Invalid __global__ ',
    'Invalid __shared__ ',
    '], thread: [',
    'CUDA_EXCEPTION_',
    'CUDA error 7',
    'CUDA error (7',
    'CUDA error: 7',
    'CUDA failure 7',
    'CUDA Error 7',
    ' returned error 7',
    'nvalid error code (7',
  ],
  rules: [
    jetsonFault,
    rule(
      /\ban? illegal memory access|CUDA_ERROR_ILLEGAL_ADDRESS|cudaErrorIllegalAddress|hipErrorIllegalAddress|\bcall to cu\w{2,40} returned error 700\b|(?:Invalid error code|CUDA error) \(700\)/i,
      700,
      'Illegal memory access on the GPU',
      `A kernel read or wrote memory that does not belong to it. Likely a bug in the program or a library.${REPORTED_LATE}`,
    ),
    rule(/device-side assert\b|CUDA_ERROR_ASSERT\b|cudaErrorAssert\b/, 710, 'Assertion failed on the GPU', '', {
      remedies: asserted,
      verdict: (matched) =>
        `A check inside a kernel failed: ${checked(matched)?.[2] ?? 'most often an index is out of range'}.${saysLate(matched) ? '' : REPORTED_LATE}`,
    }),
    rule(/block: \[\d{1,9},\s?\d{1,9},\s?\d{1,9}\],\s{1,3}thread: \[\d{1,9},\s?\d{1,9},\s?\d{1,9}\]\s{1,3}Assertion/, 710, 'Assertion failed on the GPU', '', {
      remedies: asserted,
      verdict: (matched) => `A check inside a kernel failed, and the message names it: ${checked(matched)?.[2] ?? 'most often an index is out of range'}.`,
    }),
    rule(
      /misaligned address|CUDA_ERROR_MISALIGNED_ADDRESS|cudaErrorMisalignedAddress/,
      716,
      'Misaligned address on the GPU',
      `A kernel used an address that is not a multiple of what its access needs: a bug in a kernel, or a tensor view that it does not support.${REPORTED_LATE}`,
      { unless: inNccl },
    ),
    rule(
      /unspecified launch failure|CUDA_ERROR_LAUNCH_FAILED|cudaErrorLaunchFailure/,
      719,
      'A kernel failed on the GPU',
      `A kernel died without a nearer reason: mostly a bad pointer, sometimes failing hardware.${REPORTED_LATE}`,
      { unless: inNccl },
    ),
    rule(
      /illegal instruction was encountered|CUDA_ERROR_ILLEGAL_INSTRUCTION|cudaErrorIllegalInstruction/,
      715,
      'Illegal instruction on the GPU',
      'A kernel met an instruction that the GPU refuses: broken code, a build for another GPU, or failing hardware.',
      { unless: inNccl },
    ),
    rule(
      /launch timed out and was terminated|CUDA_ERROR_LAUNCH_TIMEOUT|cudaErrorLaunchTimeout/,
      702,
      'A kernel ran too long',
      'The driver ended a kernel that ran too long: a hang, or a long kernel on a GPU that also drives a screen.',
      {
        unless: inNccl,
        remedies: ({ situation }) => [
          { text: 'Let another GPU drive the screen, or split the work into shorter kernels.' },
          // learn.microsoft.com/windows-hardware/drivers/display/tdr-registry-keys
          situation().system === 'windows' && {
            text: 'Or let Windows wait longer than 2 s for the GPU, as administrator, and restart; the screen freezes for that long.',
            command: 'reg add HKLM\\SYSTEM\\CurrentControlSet\\Control\\GraphicsDrivers /v TdrDelay /t REG_DWORD /d 60',
          },
          synchronous(situation()),
        ],
      },
    ),
    rule(
      /not supported on global\/shared address space|CUDA_ERROR_INVALID_ADDRESS_SPACE/,
      717,
      'Wrong address space on the GPU',
      `A kernel used an address of the wrong kind.${REPORTED_LATE}`,
    ),
    rule(
      /CUDA_ERROR_INVALID_PC|cudaErrorInvalidPc|CUDA error: invalid program counter/,
      718,
      'A kernel jumped to a wrong address',
      `A kernel's program counter became invalid: memory overwritten by the program.${REPORTED_LATE}`,
    ),
    rule(
      /CUDA_ERROR_HARDWARE_STACK_ERROR|cudaErrorHardwareStackError|CUDA error: hardware stack error/,
      714,
      "A kernel's stack is broken",
      `A kernel overran its stack.${REPORTED_LATE}`,
    ),
    rule(
      /(?:C(?:UDA|uda driver) (?:[Ee]rror|failure):? \(?|encode tensor map: |\bcall to cu\w{2,40} returned error |Invalid error code \()(?:700|702|71[0-9])\b/,
      700,
      'A kernel failed on the GPU',
      `CUDA names by its number that a kernel did what is not allowed.${REPORTED_LATE}`,
    ),
    {
      ...rule(
        /CUDA_EXCEPTION_\d{1,2}, ?(?:Warp|Lane|Device|Cluster) /,
        0,
        'Exception in a kernel',
        'cuda-gdb stopped at an exception in a kernel; it names the kernel and the line.',
      ),
      facts: () => ({}),
    },
    {
      ...rule(/Memory access fault by GPU (node-\d{1,3})(?:[^\n]{0,60} on address (\(nil\)|0x[0-9a-f]{1,16}))?/, 0, 'Memory access fault on the GPU', ''),
      verdict: ({ match }) =>
        `A kernel on GPU ${match[1]} touched a page that is not mapped (ROCm)${match[2] === undefined ? '' : `, at ${match[2] === '(nil)' ? 'address 0: a null pointer' : match[2]}`}. Nearly always a bug in the program or a library.`,
      facts: () => ({}),
    },
    {
      ...rule(
        /Invalid __(?:global|shared|local)__ (?:read|write|atomic)/,
        0,
        'Illegal memory access on the GPU',
        'compute-sanitizer names a kernel that reads or writes outside its memory.',
      ),
      facts: () => ({}),
    },
  ],
})
