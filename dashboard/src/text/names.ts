// What things are called on the page. Names come from outside and are only ever set as text.

type ContainerNames = { readonly container?: string; readonly namespace?: string; readonly pod?: string }

/** One name per container over its restarts; a pod's containers of equal names stay apart. The same for rows and for series' labels. */
export function containerKey(names: ContainerNames): string {
  const own = names.container ?? ''
  if (names.pod === undefined || names.pod === '') return own
  return `${names.namespace ?? ''}/${names.pod}/${own}`
}

/** Marketing names without what every card repeats. */
export const shortGpuName = (name: string): string => name.replace(/^NVIDIA\s+/i, '').replace(/^(GeForce|Tesla|Quadro)\s+/i, '')

/** `8 × H100 80GB HBM3`, or the kinds one after the other. */
export function gpuModels(names: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(shortGpuName(name), (counts.get(shortGpuName(name)) ?? 0) + 1)
  return [...counts].map(([name, count]) => (count === 1 ? name : `${count} × ${name}`)).join(', ')
}
