// An incident that never was, to see what a message looks like and whether it arrives; each part of it says so.
import { createHash } from 'node:crypto'
import { gpuMemoryUsedBytes } from '../agent/metrics/gpu-memory.ts'
import type { Facts } from '../agent/model/facts.ts'
import type { Severity } from '../agent/model/severity.ts'
import type { Incident } from '../agent/model/incident.ts'
import type { IncidentKind } from '../agent/model/kinds.ts'

const GIB = 2 ** 30
const MINUTES = 3
const EVERY_MS = 5_000
const SEVERITY: Severity = 'critical'
const UUID = 'GPU-00000000-0000-0000-0000-000000000000'

/** Memory that a program keeps more of each second, until it is full. */
function rising(t: number): Pick<Incident['evidence']['series'][number], 't' | 'value'> {
  const times = Array.from({ length: (MINUTES * 60_000) / EVERY_MS }, (_, i) => t - MINUTES * 60_000 + (i + 1) * EVERY_MS)
  return { t: times, value: times.map((_, i) => Math.round(GIB * (30 + (50 * (i + 1)) / times.length))) }
}

export type SampleOptions = { readonly kind: IncidentKind; readonly t: number; /** As when it is over. */ readonly resolved?: boolean }

/** The id is the kind's own, so that the sample's end reaches the same alert at receivers that keep them. */
export function sampleIncident({ kind, t, resolved = false }: SampleOptions): Incident {
  const facts: Facts = kind === 'cuda_oom' ? { gpu_index: 0, requested_bytes: 2 * GIB, total_bytes: 80 * GIB, free_bytes: 0, causes: ['capacity'] } : {}
  const shown = kind === 'cuda_oom' ? 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.' : `a line that shows ${kind}`
  return {
    id: createHash('sha256').update(`sample ${kind}`).digest('hex').slice(0, 16),
    kind,
    severity: SEVERITY,
    title: `TEST, a sample of ${kind}`,
    verdict: `This is a test message: nothing has failed. A real one of kind ${kind} would say here what failed and why.`,
    facts,
    remedies: [{ text: 'Nothing is to be done. Here a real message says what to change.', command: 'warpwatch alerts' }],
    status: resolved ? 'resolved' : 'firing',
    subject: {
      gpu: { index: 0, uuid: UUID, name: 'a GPU that does not exist' },
      container: { name: 'warpwatch-test', image: 'none' },
      process: { pid: 1, name: 'test' },
    },
    started_at: t - 1_000,
    fired_at: t - 1_000,
    last_seen_at: t - 1_000,
    ...(resolved ? { resolved_at: t, resolution: 'it was a test' } : {}),
    count: 1,
    consequences: [],
    evidence: {
      log_lines: [{ t: t - 1_000, stream: 'container', origin: 'warpwatch-test', text: `TEST, not from a log: ${shown}`, matched: true }],
      series: [{ metric: gpuMemoryUsedBytes.name, labels: { gpu: '0', uuid: UUID }, ...rising(t) }],
      processes: [],
    },
  }
}
