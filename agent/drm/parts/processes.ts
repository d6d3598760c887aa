// Which processes hold memory of a card, by their open descriptors, and on AMD by KFD where those cannot be read.
import { gpuMemoryEvictedBytes } from '../../metrics/gpu-memory.ts'
import { processGpuMemoryBytes } from '../../metrics/process.ts'
import { makeSeries } from '../../model/series.ts'
import { failureOf } from '../../nvml/codes.ts'
import type { ProcessRow } from '../../sampler/protocol.ts'
import type { Card, CardCollector } from '../card.ts'
import type { Client } from '../clients/clients.ts'
import { regionBytes } from '../clients/fdinfo.ts'

/** Regions of the card's own memory, and of host memory that a GPU without any uses in its place: amdgpu, i915, xe. */
const OWN = /^(?:vram\d*|local\d*|stolen-local\d*)$/
/** i915 numbers its regions: `system0`, `stolen-system0`. */
const SHARED = /^(?:gtt|system\d*|stolen\S*|memory)$/
const COMPUTES = /^(?:compute|ccs)$/

function bytesOf(client: Client, integrated: boolean): number | undefined {
  let sum: number | undefined
  for (const [name, region] of client.regions) {
    if (!OWN.test(name) && !(integrated && SHARED.test(name))) continue
    const bytes = regionBytes(region)
    if (bytes !== undefined) sum = (sum ?? 0) + bytes
  }
  return sum
}

export function rowsOf(card: Pick<Card, 'integrated' | 'slot' | 'clients'>, clients: readonly Client[]): readonly ProcessRow[] {
  const computing = card.clients.kfd.pids()
  const rows = new Map<number, { bytes: number | null; computes: boolean }>()
  for (const client of clients) {
    const row = rows.get(client.pid) ?? { bytes: null, computes: computing.has(client.pid) }
    rows.set(client.pid, row)
    const bytes = bytesOf(client, card.integrated)
    if (bytes !== undefined) row.bytes = (row.bytes ?? 0) + bytes
    row.computes ||= [...client.engines].some(([name, { ns, cycles }]) => COMPUTES.test(name) && (ns ?? cycles ?? 0) > 0)
  }
  for (const pid of computing) {
    const bytes = (rows.get(pid)?.bytes ?? null) === null ? card.clients.kfd.bytes(pid, card.slot) : undefined
    if (bytes !== undefined && bytes > 0) rows.set(pid, { bytes, computes: true })
  }
  return [...rows].map(([pid, { bytes, computes }]) => ({ pid, type: computes ? 'C' : 'G', bytes }))
}

export const ASLEEP_CLIENTS = 'the card is asleep, and this driver would wake it to read what its clients hold'

const LISTED = { name: processGpuMemoryBytes.name } as const

export const processes: CardCollector = {
  id: 'processes',
  rate: 'fast',
  readsAsleep: true,
  metrics: [gpuMemoryEvictedBytes],
  attach(card) {
    const evicted = makeSeries(gpuMemoryEvictedBytes, card.labels)
    const tells = card.driver === 'amdgpu'
    return {
      read(out, nowMs) {
        const { clients, hidden, unasked } = card.clients.of(card.slot, nowMs)
        out.processes(rowsOf(card, clients))
        if (unasked) out.gap(LISTED, card.labels, failureOf('/proc/PID/fdinfo', -10, 'not_supported', ASLEEP_CLIENTS))
        else if (hidden > 0)
          out.gap(
            LISTED,
            card.labels,
            failureOf('/proc/PID/fdinfo', -1, 'no_permission', 'the open files of other users cannot be seen: run the agent as root or with CAP_SYS_PTRACE'),
          )
        const moved = clients.flatMap((client) => client.evictedBytes ?? [])
        // Older kernels do not tell it.
        if (tells && moved.length === clients.length && (moved.length > 0 || hidden === 0))
          out.reading(
            evicted,
            moved.reduce((sum, bytes) => sum + bytes, 0),
          )
      },
    }
  },
}
