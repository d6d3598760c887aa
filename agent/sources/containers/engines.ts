// All engines of the host: finds their sockets, watches each, and says which of them is silent and why.
import type { ContainerEvent } from '../../model/event.ts'
import type { Gap } from '../../model/reading.ts'
import type { Log } from '../../model/source.ts'
import { createEngineClient } from './engine.ts'
import type { EngineContainer } from './engine-container.ts'
import { candidateSockets, socketIdentity } from './engine-sockets.ts'
import { startEngineWatch } from './engine-watch.ts'
import type { EngineWatch } from './engine-watch.ts'

export type EnginesOptions = {
  /** undefined: look in the usual places. */
  readonly sockets: readonly string[] | undefined
  readonly log: Log
  readonly onInspected?: (container: EngineContainer) => void
  readonly onContainer: (socketPath: string, container: EngineContainer) => void
  readonly onGone: (socketPath: string, id: string) => void
  readonly onEvent: (event: ContainerEvent) => void
  readonly onLife?: (socketPath: string, id: string, event: ContainerEvent) => void
  readonly onAnswering?: (socketPath: string) => void
  readonly onState: () => void
  readonly unconfirmed?: () => readonly string[]
}

export type Engines = {
  /** Looks for sockets that came or went; cheap. */
  readonly discover: () => void
  /** Every engine has answered or failed once. */
  readonly settled: () => boolean
  /** The engine of that socket answers now; false for none. */
  readonly answers: (socketPath: string | undefined) => boolean
  readonly anyAnswers: () => boolean
  /** One gap per silent engine; one for the lack of any where containers are there to be named. */
  readonly gaps: (hasContainers: boolean) => readonly Gap[]
  readonly stop: () => Promise<void>
}

export function createEngines(options: EnginesOptions): Engines {
  const { sockets, log } = options
  const watches = new Map<string, EngineWatch>()
  /** Sockets behind the watched paths, so that two names of one engine are one watch. */
  const identities = new Map<string, string>()

  const watch = (socketPath: string): void => {
    const started = startEngineWatch({
      socketPath,
      client: createEngineClient({ socketPath }),
      log,
      onContainer: (container) => options.onContainer(socketPath, container),
      onGone: (id) => options.onGone(socketPath, id),
      onEvent: options.onEvent,
      ...(options.onInspected === undefined ? {} : { onInspected: options.onInspected }),
      onLife: (id, event) => options.onLife?.(socketPath, id, event),
      onAnswering: () => options.onAnswering?.(socketPath),
      onState: options.onState,
      ...(options.unconfirmed === undefined ? {} : { unconfirmed: options.unconfirmed }),
    })
    watches.set(socketPath, started)
  }
  const discover = (): void => {
    if (sockets !== undefined) {
      for (const path of sockets) if (!watches.has(path)) watch(path)
      return
    }
    for (const path of candidateSockets()) {
      const identity = socketIdentity(path)
      if (identity === undefined || watches.has(path) || [...identities.values()].includes(identity)) continue
      identities.set(path, identity)
      watch(path)
    }
    // An engine that was stopped or taken off leaves its socket or not; its watch goes on trying either way, as it may come back. Its socket
    // is then a new one behind the old path.
    for (const path of identities.keys()) {
      const identity = socketIdentity(path)
      if (identity !== undefined) identities.set(path, identity)
    }
  }
  discover()

  return {
    discover,
    settled: () => [...watches.values()].every((watch) => watch.settled()),
    answers(socketPath) {
      const watch = socketPath === undefined ? undefined : watches.get(socketPath)
      return watch !== undefined && watch.settled() && watch.failure() === undefined
    },
    anyAnswers: () => [...watches.values()].some((watch) => watch.settled() && watch.failure() === undefined),
    gaps(hasContainers) {
      const gaps: Gap[] = []
      for (const { socketPath, failure } of watches.values()) {
        const error = failure()
        if (error === undefined) continue
        const code = error.nativeCode
        gaps.push({
          metric: 'containers',
          labels: { engine: socketPath },
          reason: error.reason,
          detail: error.message,
          ...(code === undefined ? {} : { code }),
        })
      }
      // Whoever named none on purpose misses none.
      if (sockets === undefined && watches.size === 0 && hasContainers) {
        const detail = 'no container engine was found: containers have the first 12 hex of their id for a name, and no image'
        gaps.push({ metric: 'containers', labels: {}, reason: 'not_supported', detail })
      }
      return gaps
    },
    async stop() {
      await Promise.all([...watches.values()].map(async (watch) => await watch.stop()))
      watches.clear()
    },
  }
}
