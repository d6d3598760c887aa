// ROCm's runtime ends a program whose queue on the GPU failed: "aborting with error : HSA_STATUS_ERROR_…".
import { ruleFamily, type Matched } from './parts/rules.ts'
import { whole } from './parts/window.ts'
import { known } from './parts/window.ts'
import { whoHolds } from './remedies/gpu.ts'
import { synchronous } from './remedies/debug.ts'
import type { Piece } from './remedies/plan.ts'
import { driverLines } from './parts/drm.ts'

const kernelOf = ({ text, at }: { readonly text: readonly string[]; readonly at: number }): string | undefined =>
  demangled(/\b[Kk]ernel(?: [Nn]ame)?: {0,2}([\w.$]{3,120})/.exec(text.slice(at, at + 3).join(' '))?.[1])
/** `_ZN5aiter12fmoe_kernelE…` is aiter::fmoe_kernel. */
function demangled(name: string | undefined): string | undefined {
  let rest = /^_ZN?(\d.*)$/.exec(name ?? '')?.[1]
  const parts: string[] = []
  while (rest !== undefined && /^\d/.test(rest)) {
    const digits = /^\d{1,3}/.exec(rest)?.[0] ?? ''
    parts.push(rest.slice(digits.length, digits.length + Number(digits)))
    rest = rest.slice(digits.length + Number(digits))
  }
  return parts.length === 0 ? name : parts.join('::')
}
/** The variables are in vllm/envs.py and sglang/srt/environ.py. */
const withoutAiter = (matched: Matched): Piece => {
  if (!/aiter/i.test(kernelOf(matched) ?? '')) return undefined
  const { programs, text } = matched.situation()
  const variable = programs.has('vllm') ? 'VLLM_ROCM_USE_AITER' : programs.has('sglang') ? 'SGLANG_USE_AITER' : undefined
  return variable === undefined || new RegExp(`${variable}["']?[=:] ?["']?0`).test(text)
    ? { text: 'The kernel is of AITER: update it together with ROCm and what uses it.' }
    : { text: 'The kernel is of AITER: see whether it goes away without it; then update AITER.', command: `export ${variable}=0` }
}
const inKernel = (matched: Matched): string => {
  const kernel = kernelOf(matched)
  return kernel === undefined ? 'A kernel' : `The kernel ${kernel}`
}
const beforeIt: Piece = {
  text: 'See whether the driver logged a page fault or a reset in the same second: that is then the cause.',
  command: driverLines('amdgpu', 40),
}
const facts = ({ message }: { readonly message: string }): ReturnType<typeof known> => known({ pid: whole(/^pid: ?(\d{1,10})\b/.exec(message)?.[1]) })
const abort = (status: string): RegExp => new RegExp(`aborting with error ?: ?HSA_STATUS_ERROR_${status}`)
const rule = { severity: 'critical', facts } as const

/** The variable makes ROCm take the code of another architecture. */
function overridden(text: string): Piece {
  const value = /\bHSA_OVERRIDE_GFX_VERSION[=: ]{1,3}["']?(\d{1,2}\.\d{1,2}\.\d{1,2})/.exec(text)?.[1]
  return (
    value !== undefined && {
      text: `HSA_OVERRIDE_GFX_VERSION is ${value}: the GPU cannot run the code of that architecture. Leave it out, or name a closer relative of the GPU.`,
      command: 'unset HSA_OVERRIDE_GFX_VERSION',
    }
  )
}
export const hsaAbort = ruleFamily({
  id: 'hsa-abort',
  kind: 'illegal_memory_access',
  literals: ['aborting with error : HSA_STATUS', 'aborting with error: HSA_STATUS', 'aborting with error :', '] scratch_size overflow'],
  rules: [
    {
      ...rule,
      pattern: abort('OUT_OF_RESOURCES'),
      kind: 'cuda_oom',
      title: 'Out of GPU memory or queues',
      verdict: ({ message }) => {
        const free = /Available Free mem ?: ?(\d{1,9} MB)/.exec(message)?.[1]
        return `ROCm could not get what a kernel needs on the GPU: memory, scratch space or a queue.${free === undefined ? '' : ` ${free} of GPU memory were free.`}`
      },
      remedies: ({ situation }) => [
        whoHolds(situation()),
        beforeIt,
        { text: 'Make the work smaller: a smaller batch, or fewer processes and streams on this GPU.' },
      ],
      facts: () => ({}),
    },
    {
      severity: 'critical',
      pattern: /\[UpdateScratch\] scratch_size overflow|aborting with error ?: ?HSA_STATUS_ERROR_INVALID_ARGUMENT/,
      kind: 'compile_error',
      title: 'A kernel does not fit the GPU',
      verdict: (matched) => `${inKernel(matched)} needs more scratch memory (registers that spill) than the runtime can give it.`,
      remedies: [
        { text: 'Compile the kernel with fewer variables for each thread: smaller blocks or tiles, less unrolling.' },
        { text: 'Update ROCm and the library that brings the kernel.' },
      ],
    },
    {
      ...rule,
      pattern: abort('INVALID_ISA'),
      kind: 'cuda_version_mismatch',
      title: 'No code for this GPU',
      verdict: 'The program brings no code for the architecture of this GPU, so its kernel cannot run.',
      remedies: ({ situation }) => [
        overridden(situation().text),
        { text: 'See which architecture the GPU has.', command: 'rocminfo | grep -i gfx' },
        { text: 'Install a build that lists this architecture, of the same ROCm release as the system.' },
      ],
      facts: () => ({}),
    },
    {
      ...rule,
      pattern: abort('(?:EXCEPTION|MEMORY_APERTURE_VIOLATION|ILLEGAL_INSTRUCTION|MEMORY_FAULT|INVALID_PACKET_FORMAT)'),
      title: 'A kernel failed on the GPU',
      verdict: (matched) =>
        `${inKernel(matched)} ${/APERTURE|MEMORY_FAULT/.test(matched.match[0]) ? 'used an address that it may not use' : /ILLEGAL_INSTRUCTION/.test(matched.match[0]) ? 'met an instruction that the GPU refuses' : 'raised an exception on the GPU'}. Likely a bug in the program or a library.`,
      remedies: (matched) => [withoutAiter(matched), kernelOf(matched) === undefined && synchronous({ ...matched.situation(), vendor: 'amd' }), beforeIt],
    },
  ],
})
