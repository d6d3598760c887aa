// The jobs of one frame: containers and processes gathered by what they belong to, with what each holds, uses and may use.
import type { FrameMessage, GpuRow, ProcessRow } from '../../../../agent/model/live.ts'
import { jobOf, type JobName } from '../../parts/job/identity.ts'
import { containerViews, processViews, type ContainerView, type Holding, type ProcessView } from '../../parts/live/rows.ts'

export type Job = JobName & {
  readonly containers: readonly ContainerView[]
  readonly processes: readonly ProcessView[]
  /** By GPU, in the order of the host. */
  readonly holdings: readonly Holding[]
  readonly gpuBytes: number | undefined
  /** GPUs that it asked for and that cannot be read: it may hold more. */
  readonly unread: readonly number[]
  /** GPUs that it asked for and does not use. */
  readonly unused: readonly number[]
  /** GPUs that it holds or asked for and that do not say how busy they are. */
  readonly silent: readonly number[]
  /** How busy the others of them are; `own`: by this job alone, of one that others hold too. */
  readonly busy: readonly { readonly index: number; readonly ratio: number; readonly shared: boolean; readonly own?: true }[]
  readonly cores: number | undefined
  readonly memoryBytes: number | undefined
  /** undefined: there is none, or one of its containers has none. */
  readonly limitBytes: number | undefined
  readonly oomKills: number | undefined
  readonly restarts: number | undefined
}

/** The sum of what is known; undefined where nothing is. */
export function sumOf(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? undefined : known.reduce((sum, value) => sum + value, 0)
}
const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

/** By GPU and MIG instance. */
function byGpu(parts: readonly Holding[]): readonly Holding[] {
  const found = new Map<string, Holding[]>()
  for (const part of parts) found.set(`${part.index} ${part.gi ?? ''}`, [...(found.get(`${part.index} ${part.gi ?? ''}`) ?? []), part])
  return [...found.values()]
    .flatMap((same) => (same[0] === undefined ? [] : [{ ...same[0], bytes: sumOf(same.map(({ bytes }) => bytes)) }]))
    .toSorted((a, b) => a.index - b.index || Number(a.gi ?? -1) - Number(b.gi ?? -1))
}

const heldIn = (holdings: readonly Holding[]): readonly number[] => [...new Set(holdings.flatMap(({ index, bytes }) => (bytes === 0 ? [] : [index])))]

type Draft = { readonly name: JobName; readonly containers: ContainerView[]; readonly rows: ProcessRow[] }

function gather(frame: FrameMessage): readonly Draft[] {
  const drafts = new Map<string, Draft>()
  const draft = (name: JobName): Draft => {
    const known = drafts.get(name.key)
    if (known !== undefined) return known
    const made: Draft = { name, containers: [], rows: [] }
    drafts.set(name.key, made)
    return made
  }
  for (const view of containerViews(frame)) draft(jobOf(view.row)).containers.push(view)
  for (const row of frame.processes) draft(jobOf(row)).rows.push(row)
  return [...drafts.values()]
}

/** A training that works rests for a second now and then: how busy a GPU is, is told over so many. */
export const BUSY_S = 30

/** How busy a GPU was of late, and how busy a job's own processes kept it: where more than the frame is known. */
export type Recently = { readonly gpu: (gpu: GpuRow) => number | undefined; readonly job: (uuid: string, key: string) => number | undefined }
const nowOf = ({ processes }: FrameMessage): Recently => ({
  gpu: (gpu) => gpu.utilization_ratio,
  job: (uuid, key) => sumOf(processes.flatMap((row) => (row.uuid === uuid && jobOf(row).key === key ? [row.gpu_utilization_ratio] : []))),
})

export function jobsOf(frame: FrameMessage, recently: Recently = nowOf(frame)): readonly Job[] {
  const uuidOf = new Map(frame.gpus.map(({ index, uuid }) => [index, uuid]))
  const ratioOf = new Map(frame.gpus.map((gpu) => [gpu.index, gpu.utilization_ratio === undefined ? undefined : recently.gpu(gpu)]))
  const found = gather(frame).map(({ name, containers, rows }) => {
    const processes = processViews(rows, frame.t)
    // Where the engine tells no container, its processes still name it.
    const reported = containers.filter(({ gpuBytes }) => gpuBytes !== undefined)
    return { name, containers, processes, holdings: byGpu((reported.length > 0 ? reported : processes).flatMap(({ holdings }) => holdings)) }
  })
  const holders = new Map<number, number>()
  for (const { holdings } of found) for (const index of heldIn(holdings)) holders.set(index, (holders.get(index) ?? 0) + 1)
  return found.map(({ name, containers, processes, holdings }): Job => {
    const rows = containers.map(({ row }) => row)
    const limits = rows.map((row) => row.memory_limit_bytes)
    const unread = [...new Set(containers.flatMap((container) => container.unread))]
    return {
      ...name,
      containers,
      processes,
      holdings,
      gpuBytes: sumOf(holdings.map(({ bytes }) => bytes)),
      unread,
      unused: [...new Set(containers.flatMap(({ unused }) => unused))].filter((index) => !holdings.some((held) => held.index === index && held.bytes !== 0)),
      silent: [...new Set([...heldIn(holdings).filter((index) => ratioOf.get(index) === undefined), ...unread])].toSorted((a, b) => a - b),
      busy: heldIn(holdings).flatMap((index) => {
        const ratio = ratioOf.get(index)
        if (ratio === undefined) return []
        const shared = (holders.get(index) ?? 0) > 1
        const own = shared ? recently.job(uuidOf.get(index) ?? '', name.key) : undefined
        return [own === undefined ? { index, ratio, shared } : { index, ratio: own, shared, own: true }]
      }),
      cores: sumOf(rows.map((row) => row.cpu_cores)),
      memoryBytes: sumOf(rows.map((row) => row.memory_bytes)),
      limitBytes: limits.includes(undefined) ? undefined : sumOf(limits),
      oomKills: sumOf(rows.map((row) => row.oom_kills_total)),
      restarts: sumOf(rows.map((row) => numberOf(row['restarts_total']))),
    }
  })
}

/** The mean over its GPUs; undefined where none says. */
export const busyRatio = ({ busy }: Pick<Job, 'busy'>): number | undefined =>
  busy.length === 0 ? undefined : busy.reduce((sum, { ratio }) => sum + ratio, 0) / busy.length
