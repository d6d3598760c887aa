// Memory of Intel cards. Their drivers count it by cgroup (xe, new kernels) or by client; no file has the figures of the card.
import { share } from '../../collectors/parts/share.ts'
import { gpuMemoryFreeBytes, gpuMemoryTotalBytes, gpuMemoryUsedBytes, gpuMemoryUsedRatio } from '../../metrics/gpu-memory.ts'
import { makeSeries } from '../../model/series.ts'
import { failureOf, type Failure } from '../../nvml/codes.ts'
import type { Card, CardCollector } from '../card.ts'
import { createDmem } from '../clients/dmem.ts'
import { isFailure } from '../files.ts'
import { meminfoBytes } from '../parts/meminfo.ts'
import { ASLEEP_CLIENTS, rowsOf } from '../parts/processes.ts'
import { report } from '../parts/report.ts'

const METRICS = [gpuMemoryTotalBytes, gpuMemoryUsedBytes, gpuMemoryFreeBytes, gpuMemoryUsedRatio]
/** The walk through the cgroups is for slow questions; a card's memory by clients is there each second. */
const WALK_MS = 5_000

/** Intel's own i915 (DKMS, backports) has files for the whole card, early xe one for each tile, in MiB-aligned bytes; mainline i915 has none. */
function reported({ files, folder, device }: Card): { readonly total: number | undefined; readonly free: () => number | undefined } {
  const read = (path: string): number | undefined => {
    const bytes = files.number(path)
    return isFailure(bytes) || bytes <= 0 ? undefined : bytes
  }
  const total = read(`${folder}/lmem_total_bytes`)
  if (total !== undefined) return { total, free: () => read(`${folder}/lmem_avail_bytes`) }
  const tiles = files
    .list(device)
    .filter((name) => /^tile\d+$/.test(name))
    .flatMap((tile) => read(`${device}/${tile}/physical_vram_size_bytes`) ?? read(`${device}/${tile}/memory/physical_vram_size_bytes`) ?? [])
  return { total: tiles.length === 0 ? undefined : tiles.reduce((sum, bytes) => sum + bytes, 0), free: () => undefined }
}

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
    const noUsedAsleep = failureOf(`${card.device} memory used`, -10, 'not_supported', ASLEEP_CLIENTS)
    const files = card.integrated ? undefined : reported(card)
    let walkedMs = -Infinity
    let byCgroup: number | undefined
    return {
      read(out, nowMs) {
        if (nowMs - walkedMs >= WALK_MS - 50) {
          walkedMs = nowMs
          byCgroup = card.integrated ? undefined : dmem.used(card.slot)
        }
        const { clients, hidden, unasked } = card.clients.of(card.slot, nowMs)
        const byClient = rowsOf(card, clients).reduce((sum, { bytes }) => sum + (bytes ?? 0), 0)
        const host = card.integrated ? meminfoBytes(card.files, card.roots, 'MemTotal') : undefined
        const all: number | Failure = (card.integrated ? host : (dmem.capacity(card.slot) ?? files?.total)) ?? noTotal
        const freeNow = files?.free()
        // The driver's own figure is whole. The other two leave something out: processes in the root cgroup, and memory that is not in a client.
        const taken: number | Failure =
          files?.total !== undefined && freeNow !== undefined
            ? Math.max(0, files.total - freeNow)
            : byCgroup !== undefined
              ? Math.max(byCgroup, byClient)
              : unasked
                ? noUsedAsleep
                : hidden === 0
                  ? byClient
                  : noUsed
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
