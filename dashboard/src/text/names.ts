// What things are called on the page. Names come from outside and are only ever set as text.

type ContainerNames = { readonly container?: string; readonly namespace?: string; readonly pod?: string }

/** One name per container over its restarts; a pod's containers of equal names stay apart. The same for rows and for series' labels. */
export function containerKey(names: ContainerNames): string {
  const own = names.container ?? ''
  if (names.pod === undefined || names.pod === '') return own
  return `${names.namespace ?? ''}/${names.pod}/${own}`
}

/**
 * Whose a process outside containers is, for the chart of a GPU: a Slurm job, a unit or login session of systemd, else the program, as single pids come and
 * go. Names of containers hold no colon, so the keys never meet.
 */
export const outsideKey = ({
  slurm_job: slurm = '',
  unit = '',
  process = '',
}: {
  readonly slurm_job?: string
  readonly unit?: string
  readonly process?: string
}): string => (slurm === '' ? (unit === '' ? `process:${process}` : `unit:${unit}`) : `slurm:${slurm}`)

/** What the stream says of a Slurm job that runs. */
type SlurmRun = { readonly slurm_job?: string; readonly job: string }
/** A container's name, or of a key of `outsideKey` the words for it: `pretrain (Slurm job 12)`, `ollama.service`, `session-3.scope`, `python`. */
export function holderName(key: string, runs: readonly SlurmRun[] = []): string {
  if (!key.startsWith('slurm:')) return key.replace(/^(unit|process):/, '')
  const id = key.slice('slurm:'.length)
  const job = runs.find(({ slurm_job: of }) => of === id)?.job
  // Until the controller has told its name.
  return job === undefined || job === `job ${id}` ? `Slurm job ${id}` : `${job} (Slurm job ${id})`
}

/** Marketing names without what every card repeats. */
export const shortGpuName = (name: string): string => name.replace(/^NVIDIA\s+/i, '').replace(/^(GeForce|Tesla|Quadro)\s+/i, '')

/** `8 × H100 80GB HBM3`, or the kinds one after the other. */
export function gpuModels(names: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(shortGpuName(name), (counts.get(shortGpuName(name)) ?? 0) + 1)
  return [...counts].map(([name, count]) => (count === 1 ? name : `${count} × ${name}`)).join(', ')
}
