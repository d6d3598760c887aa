// The configuration in force, and reading it again. Made first, as the server offers it; the parts that can take a change are named once they are there.
import { createReloader, type Reloader, type ReloaderOptions, type ReloadPart } from '../config/reload.ts'
import type { Config } from '../config/schema.ts'
import { createSignal, type Signal } from '../lib/signal.ts'
import type { ReloadResult, ReloadState } from '../model/reload.ts'
import type { Log } from '../model/source.ts'

export type Reloads = {
  /** What came of reading the configuration, the start included. */
  readonly state: Signal<ReloadState>
  /** The configuration in force. */
  readonly config: () => Config
  /** Names the parts that can take a change while the agent runs. To be called once. */
  readonly takenBy: (parts: readonly ReloadPart[]) => void
  /** Who asks before `allow` was called waits: a part must have started before it takes a change. */
  readonly reload: () => Promise<ReloadResult>
  readonly allow: () => void
  /** Resolves when none is under way; none begins any more. */
  readonly close: () => Promise<void>
}

export type ReloadsOptions = { readonly config: Config; readonly read: ReloaderOptions['read']; readonly log: Log }

export function createReloads({ config, read, log }: ReloadsOptions): Reloads {
  const state = createSignal<ReloadState>({ successful: true, succeededAt: Date.now() })
  const allowed = Promise.withResolvers<void>()
  let reloader: Reloader | undefined
  return {
    state,
    config: () => reloader?.config() ?? config,
    takenBy(parts) {
      reloader = createReloader({ initial: config, parts, read, log, onState: state.set })
    },
    async reload() {
      await allowed.promise
      return reloader?.reload() ?? { ok: false, problems: ['the agent has not started'] }
    },
    allow: allowed.resolve,
    close: async () => reloader?.close(),
  }
}
