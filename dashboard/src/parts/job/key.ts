// From whoever holds memory of a GPU to the page of its job; apart from identity.ts, which the first load does not need.

/** The job of a layer in the chart of a GPU (`containerKey`, `outsideKey`); undefined of programs, whose single processes come and go. */
export function jobKeyOf(holder: string): string | undefined {
  if (holder.startsWith('process:')) return undefined
  const [namespace, pod, container] = holder.split('/')
  return container === undefined ? holder : `${namespace}/${pod}`
}
