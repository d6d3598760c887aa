// Which container a log file belongs to, by its path: Docker's and Podman's folders, the kubelet's links.
import { globSync } from 'node:fs'

/** …/containers/ID/ID-json.log (Docker), …/overlay-containers/ID/userdata/ctr.log (Podman), POD_NAMESPACE_NAME-ID.log (kubelet). */
export function containerOfPath(path: string): string | undefined {
  return /(?:^|[/_-])([0-9a-f]{64})(?=[/.-]|$)/.exec(path)?.[1]
}

const FRESH_MS = 5_000

/** Whether a container's log is read from a file, so that the engine need not be asked for it. */
export function readFromFile(patterns: readonly string[]): (id: string) => boolean {
  if (patterns.length === 0) return () => false
  let ids = new Set<string>()
  let looked = Number.NEGATIVE_INFINITY
  return (id) => {
    if (!ids.has(id) && performance.now() - looked > FRESH_MS) {
      ids = new Set(globSync([...patterns]).flatMap((path) => containerOfPath(path) ?? []))
      looked = performance.now()
    }
    return ids.has(id)
  }
}
