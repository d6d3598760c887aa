// PyTorch ran out of GPU memory, and its report of that failed because NVML did not answer: two faults, both named.
import { stripPrefix } from '../../text/line-prefix.ts'
import { joinedFrom, linesCovered, plain } from '../joining.ts'
import type { FaultFamily, LogText, Recognised } from './family.ts'
import { GENERAL_REMEDIES } from './cuda-oom/remedies.ts'
import { known } from './parts/window.ts'

/** NVML is used in the allocator only to word the out-of-memory message (reportProcessMemoryInfo, PyTorch 2.1 to 2.13). */
const ASSERT = /NVML_SUCCESS ?== ?(?:DriverAPI::get\(\)->)?\w{1,60}.{0,100}?INTERNAL ASSERT FAILED/
const ELSEWHERE = /PeerToPeerAccess\.cpp/
const SOURCE_LINE = /CUDACachingAllocator\.cpp"?:(\d{1,6})/
const STATUS = /\b(CU(?:BLAS|DNN)_STATUS_[A-Z_]{1,60})/
const LINES = 5
const MESSAGE = 400

function recognise(text: LogText, at: number): readonly Recognised[] | undefined {
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
      verdict: `PyTorch ran out of GPU memory. While it worded that error it asked NVML who holds memory, NVML did not answer${init ? ' (it could not be initialised: driver and library may differ in version)' : ''}, and this assert came instead: two faults, memory first.`,
      facts: known({ source_line: SOURCE_LINE.exec(message)?.[1], status: STATUS.exec(message)?.[1] }),
      remedies: [
        { text: 'Treat it as out of memory: a smaller batch or model, or a GPU (or MIG slice) with more memory. See the cuda_oom beside it.' },
        { text: 'Does NVML work in that container? Without the "utility" capability it does not.', command: 'nvidia-smi; echo "$NVIDIA_DRIVER_CAPABILITIES"' },
        {
          text: 'Compare the versions of driver and library on the host; after an update without reboot they differ.',
          command: 'cat /proc/driver/nvidia/version; nvidia-smi --version',
        },
        {
          text: 'If nvidia-smi in the container says "Unknown Error", its devices were taken away (systemctl daemon-reload with systemd cgroups): recreate the container.',
          command: 'docker compose up -d --force-recreate',
        },
        {
          text: 'On MIG slices and Jetson NVML always refuses this question: there only the memory is to be mended. PyTorch 2.14 and later print the plain message.',
        },
      ],
      lines,
    },
    {
      kind: 'cuda_oom',
      severity: 'critical',
      title: 'Out of GPU memory',
      verdict: "PyTorch's allocator found no memory after all retries; its figures are missing because NVML did not answer.",
      facts: {},
      remedies: GENERAL_REMEDIES,
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
