// What was seen around a fault: log lines, readings from 120 s before to 30 s after, the process table, the container's settings.
import { containerMemoryLimitBytes } from '../../metrics/container.ts'
import { processGpuMemoryBytes } from '../../metrics/process.ts'
import type { LogLine } from '../../model/event.ts'
import type { ContainerSettings, IncidentEvidence, IncidentLogLine, IncidentProcess, IncidentSubject } from '../../model/incident.ts'
import { redact } from '../../lib/redact.ts'
import { keptLine, type LogMemory } from './log-memory.ts'
import { lastValue, type RingBuffer, type RecentSeries } from './recent-series.ts'
import { wholeMetrics } from './whole-metrics.ts'
import type { HostIdentityIndex } from './host-identity-index.ts'

export const BEFORE_MS = 120_000
export const AFTER_MS = 30_000
const LINES_BEFORE = 20
const LINES_AFTER = 20
const MAX_LINES = 80
const MAX_SERIES = 64
const MAX_PROCESSES = 64
/** A process that died of the fault was last counted a second or two before. */
const AT_THE_MOMENT_MS = 5_000

export type EvidenceOptions = {
  readonly recent: RecentSeries
  readonly logs: LogMemory
  readonly identities: HostIdentityIndex
  readonly settingsOf: (containerId: string) => ContainerSettings | undefined
}
export type Scope = { readonly subject: IncidentSubject; readonly gpus: readonly string[] }
export type EvidenceReader = ReturnType<typeof createEvidenceReader>

/** As the NVIDIA driver names a GPU in the kernel's log; `busKey` knows every spelling of the address. */
const NAMED_GPU = /\bPCI:[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}/i

const sameLine = (a: IncidentLogLine, b: IncidentLogLine): boolean => a.t === b.t && a.text === b.text && a.origin === b.origin

export function createEvidenceReader({ recent, logs, identities, settingsOf }: EvidenceOptions) {
  const concerns =
    ({ subject, gpus }: Scope) =>
    (ring: RingBuffer): boolean => {
      const { uuid, container, container_id: id } = ring.labels
      if (uuid !== undefined) return gpus.includes(uuid)
      if (id !== undefined || container !== undefined)
        return subject.container !== undefined && (id === subject.container.id || (id === undefined && container === subject.container.name))
      return true // the host's own
    }

  /** The kernel's log is that of all GPUs: a line that names another one would be read as this one's. */
  const isOfOtherGpu = (text: string, gpus: readonly string[]): boolean => {
    const bus = gpus.length === 0 ? undefined : NAMED_GPU.exec(text)?.[0]
    const gpu = bus === undefined ? undefined : identities.gpuByBus(bus)
    return gpu !== undefined && !gpus.includes(gpu.uuid)
  }

  return {
    isOfOtherGpu,
    /** The lines before a fault, the fault's own marked; without those that name another GPU. */
    before(line: LogLine, gpus: readonly string[]): readonly IncidentLogLine[] {
      const own = keptLine(line)
      const recent = logs.recent(line, LINES_BEFORE).filter((kept) => sameLine(kept, own) || !isOfOtherGpu(kept.text, gpus))
      return recent.map((kept) => (sameLine(kept, own) ? { ...kept, matched: true } : kept))
    },
    after: (line: LogLine): IncidentLogLine => keptLine(line),
    /** A fault that no log shows: its own text means the line. */
    ownText: (t: number, stream: string, text: string): IncidentLogLine => ({ t, stream, text: redact(text), matched: true }),
    merge(old: readonly IncidentLogLine[], more: readonly IncidentLogLine[]): readonly IncidentLogLine[] {
      const merged = [...old]
      for (const line of more) {
        const at = merged.findIndex((known) => sameLine(known, line))
        if (at < 0) merged.push(line)
        else if (line.matched === true) merged[at] = line
      }
      if (merged.length <= MAX_LINES) return merged
      // The first ones tell how it began, the newest how it goes on.
      return [...merged.slice(0, MAX_LINES / 2), ...merged.slice(-MAX_LINES / 2)]
    },
    canTakeMore: (lines: readonly IncidentLogLine[], marked: number): boolean => lines.length < Math.min(MAX_LINES, marked + LINES_AFTER),
    /** Cut from what is in memory now; asked for at once, and again when the time after has passed. */
    series: (scope: Scope, startedAt: number): IncidentEvidence['series'] =>
      wholeMetrics(recent.cut(concerns(scope), startedAt - BEFORE_MS, startedAt + AFTER_MS), MAX_SERIES),
    processes(scope: Scope, t: number): readonly IncidentProcess[] {
      const found: IncidentProcess[] = []
      const seen = new Map<string, RingBuffer>()
      for (const ring of recent.living(t - AT_THE_MOMENT_MS)) {
        if (ring.metric !== processGpuMemoryBytes.name) continue
        if (scope.gpus.length > 0 && !scope.gpus.includes(ring.labels['uuid'] ?? '')) continue
        const key = `${ring.labels['uuid']} ${ring.labels['pid']} ${ring.labels['gi'] ?? ''}`
        const known = seen.get(key)
        if (known === undefined || known.lastT < ring.lastT) seen.set(key, ring)
      }
      for (const ring of seen.values()) {
        const { pid, inner_pid: inner, process, gpu, uuid, container, namespace, pod, slurm_job: slurm, unit } = ring.labels
        found.push({
          pid: Number(pid),
          ...(inner === undefined ? {} : { inner_pid: Number(inner) }),
          ...(process === undefined ? {} : { process }),
          ...(gpu === undefined ? {} : { gpu }),
          ...(uuid === undefined ? {} : { uuid }),
          ...(container === undefined ? {} : { container }),
          ...(namespace === undefined ? {} : { namespace }),
          ...(pod === undefined ? {} : { pod }),
          ...(slurm === undefined ? {} : { slurm_job: slurm }),
          ...(unit === undefined ? {} : { unit }),
          gpu_memory_bytes: lastValue(ring),
        })
      }
      return found.sort((a, b) => b.gpu_memory_bytes - a.gpu_memory_bytes || a.pid - b.pid).slice(0, MAX_PROCESSES)
    },
    container({ subject }: Scope): ContainerSettings | undefined {
      const id = subject.container?.id
      if (id === undefined) return undefined
      const gpus = identities.requested(id)
      let limit: number | undefined
      for (const ring of recent.living(Number.NEGATIVE_INFINITY))
        if (ring.metric === containerMemoryLimitBytes.name && ring.labels['container_id'] === id) limit = lastValue(ring)
      const settings: ContainerSettings = {
        ...(limit === undefined ? {} : { memory_limit_bytes: limit }),
        ...(gpus === undefined ? {} : { gpus }),
        ...settingsOf(id),
      }
      return Object.keys(settings).length === 0 ? undefined : settings
    },
  }
}
