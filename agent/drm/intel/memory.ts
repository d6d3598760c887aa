// Memory of Intel cards. Their drivers count it by cgroup (xe, new kernels) or by client; no file has the figures of the card.
import { share } from '../../collectors/parts/share.ts'
import { gpuMemoryFreeBytes, gpuMemoryTotalBytes, gpuMemoryUsedBytes, gpuMemoryUsedRatio } from '../../metrics/gpu-memory.ts'
import { makeSeries } from '../../model/series.ts'
import { failureOf, type Failure } from '../../nvml/codes.ts'
import type { CardCollector } from '../card.ts'
import { createDmem } from '../clients/dmem.ts'
import { isFailure } from '../files.ts'
import { meminfoBytes } from '../parts/meminfo.ts'
import { rowsOf } from '../parts/processes.ts'
import { report } from '../parts/report.ts'

const METRICS = [gpuMemoryTotalBytes, gpuMemoryUsedBytes, gpuMemoryFreeBytes, gpuMemoryUsedRatio]
/** The walk through the cgroups is for slow questions; a card's memory by clients is there each second. */
const WALK_MS = 5_000

export const memory: CardCollector = {
  id: 'memory',
  rate: 'fast',
  readsAsleep: true,
  metrics: METRICS,
  attach(card) {
    const dmem = createDmem(card.files, card.roots.sys)
    const total = makeSeries(gpuMemoryTotalBytes, card.labels)
    const used = makeSeries(gpuMemoryUsedBytes, card.labels)
    const free = makeSeries(gpuMemoryFreeBytes, card.labels)
    const ratio = makeSeries(gpuMemoryUsedRatio, card.labels)
    const noTotal = failureOf(
      `${card.device} memory total`,
      -1,
      'not_supported',
      'no file of this driver and kernel has the size of the memory (xe has it in dmem.capacity, after Linux 6.12)',
    )
    const noUsed = failureOf(
      `${card.device} memory used`,
      -1,
      'no_permission',
      'the driver counts memory by client only, and not all processes can be seen: run the agent as root or with CAP_SYS_PTRACE',
    )
    let walkedMs = -Infinity
    let byCgroup: number | undefined
    return {
      read(out, nowMs) {
        if (nowMs - walkedMs >= WALK_MS - 50) {
          walkedMs = nowMs
          byCgroup = card.integrated ? undefined : dmem.used(card.slot)
        }
        const { clients, hidden } = card.clients.of(card.slot, nowMs)
        const byClient = rowsOf(card, clients).reduce((sum, { bytes }) => sum + (bytes ?? 0), 0)
        const host = card.integrated ? meminfoBytes(card.files, card.roots, 'MemTotal') : undefined
        const all: number | Failure = (card.integrated ? host : dmem.capacity(card.slot)) ?? noTotal
        // Both leave something out: processes in the root cgroup, and memory that is not in a client.
        const taken: number | Failure = byCgroup !== undefined ? Math.max(byCgroup, byClient) : hidden === 0 ? byClient : noUsed
        const available = card.integrated ? meminfoBytes(card.files, card.roots, 'MemAvailable') : undefined
        report(out, total, all)
        report(out, used, taken)
        const left = isFailure(all) ? all : isFailure(taken) ? taken : Math.max(0, all - taken)
        report(out, free, available ?? left)
        if (isFailure(all) || isFailure(taken)) report(out, ratio, isFailure(all) ? all : taken)
        else if (all > 0) out.reading(ratio, share(taken, all))
      },
    }
  },
}
