// The jobs of one frame: containers and processes gathered by what they belong to, with what each holds, uses and may use.
import type { FrameMessage, ProcessRow } from '../../../agent/model/live.ts'
import { jobOf, type JobName } from './jobs-identity.ts'
import { containerViews, processViews, type ContainerView, type Holding, type ProcessView } from './rows.ts'

export type Job = JobName & {
  readonly containers: readonly ContainerView[]
  readonly processes: readonly ProcessView[]
  /** By GPU, in the order of the host. */
  readonly holdings: readonly Holding[]
  readonly gpuBytes: number | undefined
  /** A GPU that it asked for cannot be read: it may hold more. */
  readonly partial: boolean
  /** GPUs that it asked for and does not use. */
  readonly unused: readonly number[]
  /** How busy the GPUs are on which it holds memory; those that do not say are left out. */
  readonly busy: readonly { readonly index: number; readonly ratio: number; readonly shared: boolean }[]
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

function byGpu(parts: readonly Holding[]): readonly Holding[] {
  const indices = [...new Set(parts.map(({ index }) => index))].toSorted((a, b) => a - b)
  return indices.map((index) => ({ index, bytes: sumOf(parts.filter((part) => part.index === index).map(({ bytes }) => bytes)) }))
}

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

export function jobsOf(frame: FrameMessage): readonly Job[] {
  const ratioOf = new Map(frame.gpus.map((gpu) => [gpu.index, gpu.utilization_ratio]))
  const found = gather(frame).map(({ name, containers, rows }) => {
    const processes = processViews(rows)
    // Where the engine tells no container, its processes still name it.
    const told = containers.filter(({ gpuBytes }) => gpuBytes !== undefined)
    return { name, containers, processes, holdings: byGpu((told.length > 0 ? told : processes).flatMap(({ holdings }) => holdings)) }
  })
  const holders = new Map<number, number>()
  for (const { holdings } of found) for (const { index, bytes } of holdings) if (bytes !== 0) holders.set(index, (holders.get(index) ?? 0) + 1)
  return found.map(({ name, containers, processes, holdings }): Job => {
    const rows = containers.map(({ row }) => row)
    const limits = rows.map((row) => row.memory_limit_bytes)
    return {
      ...name,
      containers,
      processes,
      holdings,
      gpuBytes: sumOf(holdings.map(({ bytes }) => bytes)),
      partial: containers.some(({ partial }) => partial),
      unused: [...new Set(containers.flatMap(({ unused }) => unused))].filter((index) => !holdings.some((held) => held.index === index && held.bytes !== 0)),
      busy: holdings.flatMap(({ index, bytes }) => {
        const ratio = ratioOf.get(index)
        return ratio === undefined || bytes === 0 ? [] : [{ index, ratio, shared: (holders.get(index) ?? 0) > 1 }]
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
