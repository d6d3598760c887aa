// Tells others what the engines say of containers' lives, so that nobody else has to ask them.
import type { ContainerEvent } from '../../model/event.ts'

export type RosterWatcher = {
  /** It runs; said again whenever something about it changed. */
  readonly running: (socketPath: string, id: string) => void
  readonly ended: (socketPath: string, id: string) => void
  /** An engine's event, with the full id. */
  readonly life: (socketPath: string, id: string, event: ContainerEvent) => void
  /** The engine answers for the first time, or again after a failure: containers may have come and gone meanwhile. */
  readonly answering: (socketPath: string) => void
}

/** Says to its watcher what it is told; what was told before the watcher came is told again to it. */
export type ContainerRoster = RosterWatcher & { readonly watch: (watcher: RosterWatcher) => () => void }

export function createContainerRoster(): ContainerRoster {
  const watchers = new Set<RosterWatcher>()
  /** Running containers and their engines. */
  const present = new Map<string, string>()
  const engines = new Set<string>()
  return {
    running(socketPath, id) {
      present.set(id, socketPath)
      for (const watcher of watchers) watcher.running(socketPath, id)
    },
    ended(socketPath, id) {
      if (present.get(id) === socketPath) present.delete(id)
      for (const watcher of watchers) watcher.ended(socketPath, id)
    },
    life(socketPath, id, event) {
      for (const watcher of watchers) watcher.life(socketPath, id, event)
    },
    answering(socketPath) {
      engines.add(socketPath)
      for (const watcher of watchers) watcher.answering(socketPath)
    },
    watch(watcher) {
      watchers.add(watcher)
      for (const socketPath of engines) watcher.answering(socketPath)
      for (const [id, socketPath] of present) watcher.running(socketPath, id)
      return () => watchers.delete(watcher)
    },
  }
}
