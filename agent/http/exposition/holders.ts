// Who holds each GPU or MIG instance, as labels of the DCGM_* series: the pod, namespace and container of Kubernetes, and the Slurm job.
// From the series that the agent has anyway: processes with GPU memory, the GPUs that containers were given, and what the kubelet says that it gave.
import { containerGpuAssigned, containerGpuRequested } from '../../metrics/container.ts'
import { processGpuMemoryBytes } from '../../metrics/process.ts'
import type { Labels, Series } from '../../model/series.ts'

/** `auto`: one pod a GPU, as dcgm-exporter by default; `shared`: a series for each pod, as under its KUBERNETES_VIRTUAL_GPUS. Jobs get a series each in both, as there. */
export type HolderMode = 'auto' | 'shared' | 'off'
/** Jobs by GPU index (`3`) or index and MIG instance (`3.7`). */
export type JobMapping = () => ReadonlyMap<string, readonly string[]>
export type HolderOptions = {
  readonly mode: HolderMode
  /** Replaces what the cgroups of processes say about jobs. */
  readonly jobs?: JobMapping | undefined
  /** Milliseconds of a clock that only rises. */
  readonly now: () => number
}

export type Holders = {
  readonly begin: () => void
  /** Takes in a series of one of the metrics in HOLDING. */
  readonly see: (series: Series) => void
  /** The same for a process whose memory the driver does not report. */
  readonly seeProcess: (labels: Labels) => void
  /** Ends the round. `isMig`: the card is cut into instances, so that a device node says nothing about an instance. True when a label changed. */
  readonly end: (gpuCount: number, isMig: (uuid: string) => boolean) => boolean
  /** The label sets of a place: one empty set where no process holds it. `gi` is empty for a whole GPU. */
  readonly of: (uuid: string, gi: string, gpu: string) => readonly Labels[]
}

export const PROCESS_MEMORY = processGpuMemoryBytes.name
export const REQUESTED = containerGpuRequested.name
export const ASSIGNED = containerGpuAssigned.name

/** Between two steps of a job, or two runs of a pod's process, no process holds the GPU for a moment; dcgm-exporter's figures are up to 30 s old too. */
const LINGER_MS = 30_000
/** Each holder is a series for each name: more than this share no GPU in earnest. */
const MOST = 32
const NO_HOLDER: readonly Labels[] = [{}]

type Named = { readonly key: string; readonly labels: Labels }
type Claim = { readonly place: string; readonly pod?: Named; readonly job?: Named }
type Round = { readonly pods: Map<string, Named>; readonly holding: Set<string>; readonly jobs: Map<string, Named> }
type Shown = { pods: readonly Named[]; podsAt: number; jobs: readonly Named[]; jobsAt: number; sets: readonly Labels[] }

const placeOf = (uuid: string, gi: string): string => `${uuid}|${gi}`
const byKey = (a: Named, b: Named): number => (a.key < b.key ? -1 : 1)

function podOf({ pod, namespace, container }: Labels): Named | undefined {
  if (pod === undefined || namespace === undefined || container === undefined) return undefined
  return { key: `${namespace}/${pod}/${container}`, labels: { container, namespace, pod } }
}
function claimOf(labels: Labels): Claim | undefined {
  const { uuid, gi = '', slurm_job: slurm } = labels
  const pod = podOf(labels)
  if (uuid === undefined || (pod === undefined && slurm === undefined)) return undefined
  return {
    place: placeOf(uuid, gi),
    ...(pod === undefined ? {} : { pod }),
    ...(slurm === undefined ? {} : { job: { key: slurm, labels: { hpc_job: slurm } } }),
  }
}

export function createHolders({ mode, jobs: mapping, now }: HolderOptions): Holders {
  const claims = new WeakMap<Series, Claim | null>()
  let round = new Map<string, Round>()
  /** GPUs by container, of this round. */
  let given = new Map<string, { readonly pod: Named; readonly uuids: Set<string> }>()
  let mapped: ReadonlyMap<string, readonly string[]> | undefined
  const shown = new Map<string, Shown>()

  const roundOf = (place: string): Round => {
    let found = round.get(place)
    if (found === undefined) {
      found = { pods: new Map(), holding: new Set(), jobs: new Map() }
      round.set(place, found)
    }
    return found
  }
  /** `uses`: it has memory there. */
  const claim = ({ place, pod, job }: Claim, uses = true): void => {
    const at = roundOf(place)
    if (pod !== undefined) {
      at.pods.set(pod.key, pod)
      if (uses) at.holding.add(pod.key)
    }
    if (job !== undefined && mapping === undefined) at.jobs.set(job.key, job)
  }
  const give = ({ labels }: Series): void => {
    const pod = podOf(labels)
    const { uuid, by } = labels
    // A privileged container sees every device node without having been given one.
    if (pod === undefined || uuid === undefined || by === 'privileged') return
    const known = given.get(pod.key)
    if (known === undefined) given.set(pod.key, { pod, uuids: new Set([uuid]) })
    else known.uuids.add(uuid)
  }
  /**
   * A pod that was given a GPU and does not use it yet holds it too. One that sees all GPUs of the host says nothing by that (device plugins, exporters and
   * privileged pods do): it counts once it has memory on one of them.
   */
  const addGiven = (gpuCount: number, isMig: (uuid: string) => boolean): void => {
    const active = new Set<string>()
    for (const { holding } of round.values()) for (const key of holding) active.add(key)
    for (const { pod, uuids } of given.values()) {
      if (uuids.size >= gpuCount && !active.has(pod.key)) continue
      for (const uuid of uuids) if (!isMig(uuid)) roundOf(placeOf(uuid, '')).pods.set(pod.key, pod)
    }
  }

  /** The pod shown before stays as long as it holds the GPU, so that labels do not flap between two; a new one that has memory comes before an idle one. */
  const choose = ({ pods, holding }: Round, before: readonly Named[]): readonly Named[] => {
    const all = [...pods.values()].sort(byKey)
    if (mode === 'shared') return all.slice(0, MOST)
    const kept = before.find(({ key }) => pods.has(key))
    const one = kept ?? all.find(({ key }) => holding.has(key)) ?? all[0]
    return one === undefined ? [] : [one]
  }
  const same = (a: readonly Named[], b: readonly Named[]): boolean => a.length === b.length && a.every(({ key }, i) => key === b[i]?.key)
  const cross = (pods: readonly Named[], jobs: readonly Named[]): readonly Labels[] => {
    const ofJobs = jobs.length === 0 ? NO_HOLDER : jobs.map(({ labels }) => labels)
    return pods.length === 0 ? ofJobs : pods.flatMap(({ labels }) => ofJobs.map((job) => ({ ...labels, ...job })))
  }

  const settle = (place: string, at: Round | undefined, t: number): boolean => {
    const before = shown.get(place) ?? { pods: [], podsAt: t, jobs: [], jobsAt: t, sets: NO_HOLDER }
    const pods = at === undefined ? [] : choose(at, before.pods)
    const jobs = at === undefined ? [] : [...at.jobs.values()].sort(byKey).slice(0, MOST)
    const podsLinger = pods.length === 0 && t - before.podsAt < LINGER_MS
    const jobsLinger = jobs.length === 0 && t - before.jobsAt < LINGER_MS
    const next = { pods: podsLinger ? before.pods : pods, jobs: jobsLinger ? before.jobs : jobs }
    const changed = !same(next.pods, before.pods) || !same(next.jobs, before.jobs)
    if (next.pods.length + next.jobs.length === 0) shown.delete(place)
    else
      shown.set(place, {
        ...next,
        podsAt: pods.length > 0 ? t : before.podsAt,
        jobsAt: jobs.length > 0 ? t : before.jobsAt,
        sets: changed ? cross(next.pods, next.jobs) : before.sets,
      })
    return changed
  }

  return {
    begin() {
      round = new Map()
      given = new Map()
    },
    see(series) {
      if (mode === 'off') return
      if (series.metric.name === REQUESTED) return give(series)
      let found = claims.get(series)
      if (found === undefined) {
        found = claimOf(series.labels) ?? null
        claims.set(series, found)
      }
      // The kubelet's word needs no memory, on MIG cards neither.
      if (found !== null) claim(found, series.metric.name !== ASSIGNED)
    },
    seeProcess(labels) {
      const found = mode === 'off' ? undefined : claimOf(labels)
      if (found !== undefined) claim(found)
    },
    end(gpuCount, isMig) {
      if (mode === 'off') return false
      const t = now()
      addGiven(gpuCount, isMig)
      let changed = false
      for (const [place, at] of round) changed = settle(place, at, t) || changed
      for (const place of shown.keys()) if (!round.has(place)) changed = settle(place, undefined, t) || changed
      const jobs = mapping?.()
      changed = changed || jobs !== mapped
      mapped = jobs
      return changed
    },
    of(uuid, gi, gpu) {
      const found = shown.get(placeOf(uuid, gi))
      const jobs = mapped?.get(gi === '' ? gpu : `${gpu}.${gi}`)
      if (jobs === undefined) return found?.sets ?? NO_HOLDER
      return cross(
        found?.pods ?? [],
        jobs.slice(0, MOST).map((job) => ({ key: job, labels: { hpc_job: job } })),
      )
    },
  }
}
