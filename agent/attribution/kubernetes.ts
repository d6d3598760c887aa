// Names of Kubernetes containers without its API: the kubelet keeps links in /var/log/containers whose names carry pod, namespace, container and id.
import { readdirSync, statSync } from 'node:fs'

export type KubernetesNames = { readonly container?: string; readonly namespace: string; readonly pod: string }
export type KubernetesLookup = {
  readonly byContainer: (containerId: string) => KubernetesNames | undefined
  readonly byPod: (podUid: string) => KubernetesNames | undefined
}

/** `<pod>_<namespace>_<container>-<64hex>.log`. Kubernetes names hold no underscore, so the split is plain. */
export function parseContainerLink(name: string): (KubernetesNames & { readonly container: string; readonly id: string }) | undefined {
  const match = /^([^_/]+)_([^_/]+)_([^_/]+)-([0-9a-f]{64})\.log$/.exec(name)
  const [, pod, namespace, container, id] = match ?? []
  return pod === undefined || namespace === undefined || container === undefined || id === undefined ? undefined : { pod, namespace, container, id }
}

/** `<namespace>_<pod>_<uid>` of /var/log/pods; static pods have 32 hex as uid. */
export function parsePodDirectory(name: string): (KubernetesNames & { readonly uid: string }) | undefined {
  const match = /^([^_/]+)_([^_/]+)_([0-9a-f-]{32,36})$/.exec(name)
  const [, namespace, pod, uid] = match ?? []
  return namespace === undefined || pod === undefined || uid === undefined ? undefined : { namespace, pod, uid }
}

/** Entries of a directory by a key, read again only when its modification time changed, and looked at most once a second. */
function createIndex<Entry>(directory: string, parse: (name: string) => readonly [key: string, entry: Entry] | undefined, now: () => number) {
  let entries: ReadonlyMap<string, Entry> = new Map()
  let modifiedMs = -1
  let lookedAt = Number.NEGATIVE_INFINITY
  return (key: string): Entry | undefined => {
    const known = entries.get(key)
    if (known !== undefined || now() - lookedAt < 1_000) return known
    lookedAt = now()
    try {
      const { mtimeMs } = statSync(directory)
      if (mtimeMs === modifiedMs) return undefined
      modifiedMs = mtimeMs
      entries = new Map(
        readdirSync(directory)
          .map(parse)
          .filter((entry) => entry !== undefined),
      )
    } catch {
      // No such directory: this is no Kubernetes node. Not readable: ids stand for names, as for every unknown container.
      entries = new Map()
      modifiedMs = -1
    }
    return entries.get(key)
  }
}

export function createKubernetesLookup(logDirectory = '/var/log', now: () => number = () => performance.now()): KubernetesLookup {
  const containers = createIndex<KubernetesNames>(
    `${logDirectory}/containers`,
    (name) => {
      const link = parseContainerLink(name)
      return link === undefined ? undefined : [link.id, link]
    },
    now,
  )
  const pods = createIndex<KubernetesNames>(
    `${logDirectory}/pods`,
    (name) => {
      const pod = parsePodDirectory(name)
      return pod === undefined ? undefined : [pod.uid, pod]
    },
    now,
  )
  return { byContainer: containers, byPod: pods }
}
