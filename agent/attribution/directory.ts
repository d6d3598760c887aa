// From a container's id to who it is: filled by the containers source, asked by whoever meets an id.
import type { ContainerIdentity } from '../model/identity.ts'
import type { CgroupPlace } from './cgroup-path.ts'
import { createKubernetesLookup } from './kubernetes.ts'
import type { KubernetesLookup } from './kubernetes.ts'

export type ContainerDirectory = {
  /** What an engine reported about a container. The object given before stays in use when nothing changed, so that it can serve as a cache key. */
  readonly set: (identity: ContainerIdentity) => ContainerIdentity
  /** Never undefined for a container: without an engine the name is the first 12 hex of the id. The same object as long as nothing changes. */
  readonly resolve: (id: string, podUid?: string) => ContainerIdentity
  /** Who lives at that place, undefined outside containers. */
  readonly at: (place: CgroupPlace) => ContainerIdentity | undefined
  /** Rises with every change; what was resolved before must then be resolved again. */
  readonly version: () => number
}

/** Ids are never used twice, so entries are kept after a container's end for its last processes; only the number is bounded. */
const CAPACITY = 4_096

const same = (a: ContainerIdentity, b: ContainerIdentity): boolean =>
  a.id === b.id &&
  a.name === b.name &&
  a.image === b.image &&
  a.composeProject === b.composeProject &&
  a.composeService === b.composeService &&
  a.namespace === b.namespace &&
  a.pod === b.pod

function remember(map: Map<string, ContainerIdentity>, key: string, identity: ContainerIdentity): ContainerIdentity {
  map.delete(key)
  map.set(key, identity)
  // Maps iterate in the order of insertion: the first key is the oldest.
  const oldest = map.size > CAPACITY ? map.keys().next().value : undefined
  if (oldest !== undefined) map.delete(oldest)
  return identity
}

export function createContainerDirectory /** Absent: the kubelet's links under /var/log. */(
  options: { readonly kubernetes?: KubernetesLookup } = {},
): ContainerDirectory {
  const kubernetes = options.kubernetes ?? createKubernetesLookup()
  const reported = new Map<string, ContainerIdentity>()
  const provisional = new Map<string, ContainerIdentity>()
  let version = 0

  const guess = (id: string, podUid: string | undefined): ContainerIdentity => {
    const names = kubernetes.byContainer(id) ?? (podUid === undefined ? undefined : kubernetes.byPod(podUid))
    const name = names?.container ?? id.slice(0, 12)
    return names === undefined ? { id, name } : { id, name, namespace: names.namespace, pod: names.pod }
  }
  const resolve = (id: string, podUid?: string): ContainerIdentity => {
    const known = reported.get(id)
    if (known !== undefined) return known
    const before = provisional.get(id)
    const guessed = guess(id, podUid)
    return before !== undefined && same(before, guessed) ? before : remember(provisional, id, guessed)
  }
  return {
    set(identity) {
      const before = reported.get(identity.id)
      if (before !== undefined && same(before, identity)) return before
      version++
      provisional.delete(identity.id)
      return remember(reported, identity.id, identity)
    },
    resolve,
    at(place) {
      if (place.containerId !== undefined) return resolve(place.containerId, place.podUid)
      if (place.machine === undefined) return undefined
      // LXC, nspawn and libvirt have names in place of ids.
      return provisional.get(place.machine) ?? remember(provisional, place.machine, { id: place.machine, name: place.machine })
    },
    version: () => version,
  }
}
