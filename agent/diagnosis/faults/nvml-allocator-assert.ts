// PyTorch ran out of GPU memory, and its report of that failed because NVML did not answer: two faults, both named.
import { stripPrefix } from '../../text/line-prefix.ts'
import { joinedFrom, linesCovered, plain } from '../joining.ts'
import type { FaultFamily, LogText, Recognised } from './family.ts'
import { lessMemory } from './cuda-oom/less/index.ts'
import { MIG } from './cuda-oom/less/phase.ts'
import { generalRemedies } from './cuda-oom/remedies.ts'
import { whoHolds } from './remedies/gpu.ts'
import { plan } from './remedies/plan.ts'
import type { Situation } from '../situation/situation.ts'
import type { Remedy } from '../../model/fault.ts'
import { known } from './parts/window.ts'

/** NVML is used in the allocator only to word the out-of-memory message (reportProcessMemoryInfo, PyTorch 2.1 to 2.13). */
const ASSERT = /NVML_SUCCESS ?== ?(?:DriverAPI::get\(\)->)?\w{1,60}.{0,100}?INTERNAL ASSERT FAILED/
const ELSEWHERE = /PeerToPeerAccess\.cpp/
const SOURCE_LINE = /CUDACachingAllocator\.cpp"?:(\d{1,6})/
const STATUS = /\b(CU(?:BLAS|DNN)_STATUS_[A-Z_]{1,60})/
const LINES = 5
const MESSAGE = 400

const onMig = ({ text }: Situation): boolean => MIG.test(text) || /\bMIG (?:mode|\dg\.|device|instance|slice)/i.test(text)

function remedies(situation: Situation, init: boolean): readonly Remedy[] {
  const { jetson } = situation
  const mig = onMig(situation)
  return plan(
    lessMemory(situation, {}).slice(0, situation.programs.size > 1 || mig ? 2 : 1),
    jetson && whoHolds(situation),
    init && {
      text: 'NVML could not be initialized: compare the versions of driver and library; after an update without a reboot they differ.',
      command: 'cat /proc/driver/nvidia/version; nvidia-smi --version',
    },
    !init &&
      !jetson &&
      !mig && {
        text: 'See whether NVML works where the program runs; a container needs the capability "utility".',
        command: 'nvidia-smi; echo "$NVIDIA_DRIVER_CAPABILITIES"',
      },
  )
}

function recognise(text: LogText, at: number, situation: () => Situation): readonly Recognised[] | undefined {
  const joined = joinedFrom(text, at, LINES)
  const start = ASSERT.exec(joined)
  if (start === null || start.index > plain(stripPrefix(text[at] ?? '')).length) return undefined
  const message = joined.slice(start.index, start.index + MESSAGE)
  if (ELSEWHERE.test(message)) return undefined
  const lines = linesCovered(text, at, start.index + (SOURCE_LINE.exec(message)?.index ?? start[0].length))
  const init = message.includes('nvmlInit')
  return [
    {
      kind: 'nvml_allocator_assert',
      severity: 'critical',
      title: 'Out of GPU memory, hidden behind an NVML assert',
      verdict: `PyTorch ran out of GPU memory; while it reported that, NVML ${init ? 'could not be initialized' : 'failed'} and this assert came instead.${!init && onMig(situation()) ? ' On a GPU with MIG, NVML names the processes of the whole GPU only to privileged callers.' : ''}`,
      facts: known({ source_line: SOURCE_LINE.exec(message)?.[1], status: STATUS.exec(message)?.[1] }),
      remedies: remedies(situation(), init),
      lines,
    },
    {
      kind: 'cuda_oom',
      severity: 'critical',
      title: 'Out of GPU memory',
      verdict: "PyTorch's allocator found no memory after all retries; its figures are missing because NVML did not answer.",
      facts: {},
      remedies: generalRemedies(situation()),
      lines,
    },
  ]
}

export const nvmlAllocatorAssert: FaultFamily = {
  id: 'nvml-allocator-assert',
  kinds: ['nvml_allocator_assert', 'cuda_oom'],
  literals: ['NVML_SUCCESS =='],
  recognise,
}
