// Whose allocators are known: those whose probe speaks now, and those that history remembers within the span looked at. Pure.
import { ABOUT_PROCESS_MEMORY } from '../../../parts/incident/kind-sets.ts'
import type { IncidentSummary } from '../../../../../agent/model/incident.ts'
import type { AllocatorRow, SeriesRow } from '../../../../../agent/model/live.ts'
import { jobOf } from '../../../parts/job/identity.ts'
import { containerKey } from '../../../text/names.ts'

export type Probed = {
  /** In the address: `2072-0`, the pid and the GPU (`2072-0.3` on a MIG instance). */
  readonly key: string
  readonly pid: number
  readonly gpu: string
  readonly gi: string | undefined
  readonly uuid: string
  readonly process: string
  /** Container, Slurm job or unit. */
  readonly owner: string | undefined
  /** The key of its job. */
  readonly job: string
  /** What it says now; undefined when it has ended or fell silent. */
  readonly row: AllocatorRow | undefined
  /** The end of the step in which it was last heard, Unix ms; undefined while it speaks. */
  readonly endedAt: number | undefined
  readonly reservedBytes: number | undefined
}

type Names = Readonly<Record<string, string | undefined>>
const keyOf = (pid: string, gpu: string, gi: string | undefined): string => `${pid}-${gpu}${gi === undefined || gi === '' ? '' : `.${gi}`}`

function ownerOf(names: Names): string | undefined {
  const { container, namespace, pod, slurm_job: job, unit } = names
  if (container !== undefined) return containerKey({ container, ...(namespace === undefined ? {} : { namespace }), ...(pod === undefined ? {} : { pod }) })
  return job === undefined ? unit : `Slurm job ${job}`
}

function placed(names: Names, pid: string): Pick<Probed, 'key' | 'pid' | 'gpu' | 'gi' | 'uuid' | 'process' | 'owner' | 'job'> {
  const { gpu = '?', gi, uuid = '' } = names
  return {
    key: keyOf(pid, gpu, gi),
    pid: Number(pid),
    gpu,
    gi,
    uuid,
    process: names['process'] ?? 'process',
    owner: ownerOf(names),
    job: jobOf({ ...names, pid }).key,
  }
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
function namesOf(row: AllocatorRow): Names {
  return Object.fromEntries(['gpu', 'gi', 'uuid', 'process', 'container', 'namespace', 'pod', 'slurm_job', 'unit'].map((name) => [name, text(row[name])]))
}

/** The end of the last step of a series that has a reading. */
function lastOf({ t, max, step_ms: step }: SeriesRow): { readonly at: number; readonly value: number } | undefined {
  const i = max.findLastIndex((value) => value !== null)
  const [at, value] = [t[i], max[i]]
  return at === undefined || value === undefined || value === null ? undefined : { at: at + step, value }
}

/** `past` are the series of what each reserved. Who speaks comes first, by GPU; then who has ended, the latest first. */
export function probedOf(rows: readonly AllocatorRow[], past: readonly SeriesRow[]): readonly Probed[] {
  const found = new Map<string, Probed>()
  for (const row of rows) {
    const who = placed(namesOf(row), String(row.pid))
    found.set(who.key, { ...who, row, endedAt: undefined, reservedBytes: row.reserved_bytes })
  }
  const ended = new Map<string, Probed & { readonly endedAt: number }>()
  for (const series of past) {
    const last = lastOf(series)
    const { pid } = series.labels
    if (last === undefined || pid === undefined) continue
    const who = placed(series.labels, pid)
    if (found.has(who.key) || (ended.get(who.key)?.endedAt ?? 0) > last.at) continue
    ended.set(who.key, { ...who, row: undefined, endedAt: last.at, reservedBytes: last.value })
  }
  const here = [...found.values()].toSorted((a, b) => a.gpu.localeCompare(b.gpu, undefined, { numeric: true }) || a.pid - b.pid)
  return [...here, ...[...ended.values()].toSorted((a, b) => b.endedAt - a.endedAt)]
}

type Hit = Pick<IncidentSummary, 'kind' | 'subject'>
/** Whom an incident hit: the process that it names, ended or not; else who speaks of its container now. */
function hitBy(all: readonly Probed[], { subject: { process, container, gpu } }: Hit): Probed | undefined {
  const owner = container === undefined ? undefined : containerKey({ ...container, container: container.name })
  return (
    all.find(({ pid, uuid }) => pid === process?.pid && (gpu?.uuid === undefined || gpu.uuid === uuid)) ??
    all.find((one) => owner !== undefined && one.row !== undefined && one.owner === owner && (gpu?.uuid === undefined || gpu.uuid === one.uuid))
  )
}

/**
 * The one to begin with: whom the first of the firing incidents hit; else who has taken most of what it may have, in whole percent, so that
 * the choice stays as long as the picture does.
 */
export function beginWithOf(all: readonly Probed[], firing: readonly Hit[], limitOf: (one: Probed) => number | undefined): Probed | undefined {
  for (const incident of firing) {
    const hit = ABOUT_PROCESS_MEMORY.has(incident.kind) ? hitBy(all, incident) : undefined
    if (hit !== undefined) return hit
  }
  const taken = (one: Probed): number => Math.round(((one.reservedBytes ?? 0) / (limitOf(one) ?? Infinity)) * 100)
  return all.toSorted((a, b) => Number(a.row === undefined) - Number(b.row === undefined) || (a.row === undefined ? 0 : taken(b) - taken(a)))[0]
}

/** Who took the place of one that has ended: the same owner on the same GPU. */
export const successorOf = (all: readonly Probed[], gone: Probed): Probed | undefined =>
  gone.owner === undefined ? undefined : all.find((one) => one.row !== undefined && one.owner === gone.owner && one.gpu === gone.gpu && one.gi === gone.gi)

export const nameOf = ({ pid, process, owner, gpu, gi }: Probed): string =>
  `GPU ${gpu}${gi === undefined || gi === '' ? '' : ` instance ${gi}`} · pid ${pid} · ${owner ?? process}`

type Reported = Pick<IncidentSummary, 'kind' | 'subject' | 'started_at' | 'occurred_at'>
/** When the process ran out of memory, Unix ms. An incident that came again names the process of its newest time, not of its first. */
export const oomsAmong = (incidents: Iterable<Reported>, pid: number): readonly number[] =>
  [...incidents]
    .filter(({ kind, subject }) => kind === 'cuda_oom' && subject.process?.pid === pid)
    .map(({ occurred_at: newest, started_at: first }) => newest ?? first)
