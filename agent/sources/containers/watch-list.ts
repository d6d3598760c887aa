// The container watch list: passes what the engines report about containers on to other sources, so that only one of them asks the engines.
import type { ContainerEvent } from '../../model/event.ts'

export type ContainerWatcher = {
  /** It runs; called again whenever something about it changed. */
  readonly running: (socketPath: string, id: string) => void
  readonly ended: (socketPath: string, id: string) => void
  /** An engine's event, with the full id. */
  readonly life: (socketPath: string, id: string, event: ContainerEvent) => void
  /** The engine answers for the first time, or again after a failure: containers may have come and gone meanwhile. */
  readonly answering: (socketPath: string) => void
}

/** Passes on what it is called with; a new watcher first gets what holds now. */
export type ContainerWatchList = ContainerWatcher & {
  readonly watch: (watcher: ContainerWatcher) => () => void
  /** The socket of the engine that runs a container, by its full id. */
  readonly engineOf: (id: string) => string | undefined
}

export function createContainerWatchList(): ContainerWatchList {
  const watchers = new Set<ContainerWatcher>()
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
    engineOf: (id) => present.get(id),
    watch(watcher) {
      watchers.add(watcher)
      for (const socketPath of engines) watcher.answering(socketPath)
      for (const [id, socketPath] of present) watcher.running(socketPath, id)
      return () => watchers.delete(watcher)
    },
  }
}
