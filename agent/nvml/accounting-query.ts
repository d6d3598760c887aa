// NVML's accounting mode: what the driver wrote down of each process, those that have ended included. An administrator switches it on (nvidia-smi -am 1).
import { INSUFFICIENT_SIZE, SUCCESS } from './codes.ts'
import type { AccountedProcess, AccountingQuery } from './device.ts'
import { LAYOUTS } from './layouts.ts'
import type { Library } from './library.ts'
import { bind, scalarQuery, wide } from './query.ts'

/** The driver's ring holds 4,000 processes (nvmlDeviceGetAccountingBufferSize). */
const MOST_PIDS = 8_192
const MS = 1
const PERCENT = 100

export function accountingQuery(library: Library, gpu: number, handle: bigint): AccountingQuery {
  const mode = scalarQuery(library, gpu, 'nvmlDeviceGetAccountingMode', handle)
  const count = new Uint32Array(2)
  let list = new Uint32Array(4_096)
  const { size, fields } = LAYOUTS.nvmlAccountingStats_t
  const words = new Uint32Array(size / 4)
  const offset = (name: string): number => (fields.find((field) => field.name === name)?.offset ?? 0) / 4
  const [ratioAt, memoryAt, timeAt, runningAt] = ['gpuUtilization', 'maxMemoryUsage', 'time', 'isRunning'].map(offset)
  const at = (word: number | undefined): number => words[word ?? 0] ?? 0
  const wideAt = (word: number | undefined): number => wide(at(word), at((word ?? 0) + 1))
  const read = (): number => {
    count[0] = list.length
    return bind(library, gpu, 'nvmlDeviceGetAccountingPids', [handle, count, list])()
  }
  return {
    isOn() {
      const code = mode.ask()
      return code === SUCCESS ? mode.values[0] === 1 : code
    },
    pids() {
      let code = read()
      if (code === INSUFFICIENT_SIZE && (count[0] ?? 0) > list.length && (count[0] ?? 0) <= MOST_PIDS) {
        list = new Uint32Array(count[0] ?? 0)
        code = read()
      }
      return code === SUCCESS ? [...list.subarray(0, Math.min(count[0] ?? 0, list.length))] : code
    },
    stats(pid): AccountedProcess | number {
      const code = bind(library, gpu, 'nvmlDeviceGetAccountingStats', [handle, pid, words])()
      if (code !== SUCCESS) return code
      const [ms, bytes, percent] = [wideAt(timeAt) * MS, wideAt(memoryAt), at(ratioAt)]
      return {
        pid,
        isRunning: at(runningAt) === 1,
        ms: Number.isNaN(ms) ? undefined : ms,
        ratio: percent <= PERCENT ? percent / PERCENT : undefined,
        peakBytes: Number.isNaN(bytes) ? undefined : bytes,
      }
    },
  }
}
