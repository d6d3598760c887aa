// Memory of a Jetson's GPU, which is the host's: total and free from /proc/meminfo, what GPU and video hold from the allocator nvmap, by process for root.
import { share } from '../../collectors/parts/share.ts'
import { gpuMemoryFreeBytes, gpuMemoryTotalBytes, gpuMemoryUsedBytes, gpuMemoryUsedRatio } from '../../metrics/gpu-memory.ts'
import { processGpuMemoryBytes } from '../../metrics/process.ts'
import { makeSeries } from '../../model/series.ts'
import { failureOf, type Failure } from '../../nvml/codes.ts'
import type { ProcessRow } from '../../sampler/protocol.ts'
import type { Card, CardCollector } from '../card.ts'
import { isFailure } from '../files.ts'
import { meminfoBytes } from '../parts/meminfo.ts'
import { report } from '../parts/report.ts'

const clientsPath = ({ roots }: Card): string => `${roots.sys}/kernel/debug/nvmap/iovmm/clients`
const MOST_LINES = 2_000

/** Lines such as `user   python3   4242   1830912K`, a line for each time that a process opened nvmap; `total` at the end is the sum of all. */
export function nvmapClients(text: string): { readonly rows: readonly ProcessRow[]; readonly totalBytes: number | undefined } {
  const bytes = new Map<number, number>()
  let totalBytes: number | undefined
  for (const line of text.split('\n', MOST_LINES)) {
    const total = /^total\s+(\d{1,15})K\s*$/.exec(line)?.[1]
    if (total !== undefined) totalBytes = Number(total) * 1024
    const [, pid, size] = /^user\s+.*?\s(\d{1,9})\s+(\d{1,15})K\s*$/.exec(line) ?? []
    if (pid !== undefined) bytes.set(Number(pid), (bytes.get(Number(pid)) ?? 0) + Number(size) * 1024)
  }
  return { rows: [...bytes].map(([pid, held]) => ({ pid, type: 'C', bytes: held })), totalBytes }
}

/** nvmap's list is for root; the sum is in /proc/meminfo of its kernels. */
function taken(card: Card): number | Failure {
  const reported = meminfoBytes(card.files, card.roots, 'NvMapMemUsed')
  if (reported !== undefined) return reported
  const path = clientsPath(card)
  const text = card.files.text(path)
  return isFailure(text) ? text : (nvmapClients(text).totalBytes ?? failureOf(path, -1, 'parse_error', `${path} has no line "total"`))
}

export const memory: CardCollector = {
  id: 'memory',
  rate: 'fast',
  readsAsleep: true,
  metrics: [gpuMemoryTotalBytes, gpuMemoryUsedBytes, gpuMemoryFreeBytes, gpuMemoryUsedRatio],
  attach(card) {
    const total = makeSeries(gpuMemoryTotalBytes, card.labels)
    const used = makeSeries(gpuMemoryUsedBytes, card.labels)
    const free = makeSeries(gpuMemoryFreeBytes, card.labels)
    const ratio = makeSeries(gpuMemoryUsedRatio, card.labels)
    const missing = (key: string): Failure => failureOf(`${card.roots.proc}/meminfo`, -1, 'not_supported', `${card.roots.proc}/meminfo has no ${key}`)
    return {
      read(out) {
        const all = meminfoBytes(card.files, card.roots, 'MemTotal') ?? missing('MemTotal')
        const held = taken(card)
        report(out, total, all)
        report(out, used, held)
        // nvmap's pages cannot be swapped out.
        report(out, free, meminfoBytes(card.files, card.roots, 'MemAvailable') ?? missing('MemAvailable'))
        if (isFailure(all) || isFailure(held)) report(out, ratio, isFailure(all) ? all : held)
        else if (all > 0) out.reading(ratio, share(held, all))
      },
    }
  },
}

const LISTED = { name: processGpuMemoryBytes.name } as const

export const processes: CardCollector = {
  id: 'processes',
  rate: 'fast',
  readsAsleep: true,
  metrics: [],
  attach(card) {
    const path = clientsPath(card)
    return {
      read(out) {
        const text = card.files.text(path)
        if (!isFailure(text)) return out.processes(nvmapClients(text).rows)
        const detail = `${path} lists who holds memory, and cannot be read: run the agent as root, with debugfs mounted`
        out.gap(LISTED, card.labels, failureOf(path, text.code, text.reason === 'not_supported' ? 'not_supported' : 'no_permission', detail))
      },
    }
  },
}
