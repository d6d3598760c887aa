// By which labels the series of a job are asked for. Pure.

const OUTSIDE: Readonly<Record<string, string>> = { slurm: 'slurm_job', unit: 'unit', pid: 'pid' }

function labelsOf(key: string): Readonly<Record<string, string>> {
  const [kind = '', ...rest] = key.split(':')
  const label = Object.hasOwn(OUTSIDE, kind) ? OUTSIDE[kind] : undefined
  // An empty label stands for none: the same process in a container is that container's.
  if (label !== undefined && rest.length > 0) return { [label]: rest.join(':'), container: '' }
  const at = key.indexOf('/')
  return at === -1 ? { container: key, pod: '' } : { namespace: key.slice(0, at), pod: key.slice(at + 1) }
}

export function filterOf(key: string): { readonly query: string; readonly inContainer: boolean } {
  const labels = labelsOf(key)
  return { query: new URLSearchParams(labels).toString(), inContainer: labels['container'] !== '' }
}
