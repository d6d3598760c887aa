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
export function outsideKey(labels: { readonly slurm_job?: string; readonly unit?: string; readonly process?: string }): string {
  if (labels.slurm_job !== undefined && labels.slurm_job !== '') return `slurm:${labels.slurm_job}`
  return labels.unit !== undefined && labels.unit !== '' ? `unit:${labels.unit}` : `process:${labels.process ?? ''}`
}

/** A container's name, or of a key of `outsideKey` the words for it: `Slurm job 12`, `ollama.service`, `session 3`, `python`. */
export function holderName(key: string): string {
  const [, kind = '', name = ''] = /^(slurm|unit|process):(.*)$/s.exec(key) ?? []
  if (kind === 'slurm') return `Slurm job ${name}`
  const [, session] = /^session-(\w+)\.scope$/.exec(name) ?? []
  return session === undefined ? (kind === '' ? key : name) : `session ${session}`
}

/** Marketing names without what every card repeats. */
export const shortGpuName = (name: string): string => name.replace(/^NVIDIA\s+/i, '').replace(/^(GeForce|Tesla|Quadro)\s+/i, '')

/** `8 × H100 80GB HBM3`, or the kinds one after the other. */
export function gpuModels(names: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(shortGpuName(name), (counts.get(shortGpuName(name)) ?? 0) + 1)
  return [...counts].map(([name, count]) => (count === 1 ? name : `${count} × ${name}`)).join(', ')
}
