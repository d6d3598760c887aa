// Whether a log line says that a program ran out of GPU memory, by the same families that make incidents of such lines.
import type { LogLine } from '../../../model/event.ts'
import { cudaOomAsync, cudaOomInference, cudaOomPlain, cudaOomTorch, cudaOomXla, nvmlAllocatorAssert } from '../../faults/index.ts'
import { createLogJudge } from '../../live-judge.ts'
import { createScanner, type Scanner } from '../../scanner.ts'

let scanner: Scanner | undefined
/** Made once: its tables cost a millisecond. */
const oomScanner = (): Scanner => (scanner ??= createScanner([cudaOomAsync, cudaOomInference, cudaOomPlain, cudaOomTorch, cudaOomXla, nvmlAllocatorAssert]))

export function createOomText(): (line: LogLine) => boolean {
  const { judge } = createLogJudge(oomScanner())
  return (line) => line.stream !== 'kernel' && judge(line).some(({ kind }) => kind === 'cuda_oom' || kind === 'nvml_allocator_assert')
}
