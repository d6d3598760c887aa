// Reading the configuration again while the agent runs: refused as a whole, or what can be taken is put in force at once and the rest is named.
import type { Reloaded, ReloadResult, ReloadState } from '../model/reload.ts'
import type { Log } from '../model/source.ts'
import { messageOf } from '../text/error.ts'
import { takeChanges } from './changes.ts'
import type { LoadedConfig } from './load.ts'
import type { Problem } from './problem.ts'
import type { Config } from './schema.ts'

/** A part of the agent that can take a new configuration while it runs. */
export type ReloadPart = {
  /** Which keys; what no part takes needs a restart. */
  readonly takes: readonly string[]
  /** Makes ready what is new, and changes nothing yet: where it throws the configuration is refused as a whole. Returns what puts it in force. */
  readonly prepare: (next: Config) => Commit | Promise<Commit>
}
export type Commit = () => void | Promise<void>

export type ReloaderOptions = {
  readonly initial: Config
  readonly parts: readonly ReloadPart[]
  /** The configuration as it is now in file, environment and flags, or every problem with it. */
  readonly read: () => Promise<LoadedConfig | readonly Problem[]>
  readonly log: Log
  readonly onState: (state: ReloadState) => void
  readonly now?: () => number
}
export type Reloader = {
  /** Resolves when it is done. However many ask while one is under way, one more follows for all of them. */
  readonly reload: () => Promise<ReloadResult>
  /** The configuration in force. */
  readonly config: () => Config
  /** Resolves when none is under way; none begins any more. */
  readonly close: () => Promise<void>
}

const textOf = ({ where, text }: Problem): string => `${where}: ${text}`
export function createReloader({ initial, parts, read, log, onState, now = Date.now }: ReloaderOptions): Reloader {
  const takes = new Set(parts.flatMap((part) => part.takes))
  let config = initial
  let succeededAt = now()
  let closed = false
  let underWay: Promise<ReloadResult> | undefined
  let following: Promise<ReloadResult> | undefined
  onState({ successful: true, succeededAt })

  const refused = (problems: readonly string[]): ReloadResult => {
    log.error(`the configuration was not reloaded, the old one stays in force:\n${problems.join('\n')}`)
    onState({ successful: false, succeededAt })
    return { ok: false, problems }
  }
  /** Keys whose part failed at the last step; the agent then needs a restart for them. */
  const commitAll = async (ready: readonly { readonly part: ReloadPart; readonly commit: Commit }[]): Promise<readonly string[]> => {
    const failed: string[] = []
    for (const { part, commit } of ready) {
      try {
        await commit()
      } catch (error) {
        log.error(`${part.takes.join(', ')} could not be put in force: ${messageOf(error)}; restart the agent`)
        failed.push(...part.takes)
      }
    }
    return failed
  }
  const once = async (): Promise<ReloadResult> => {
    if (closed) return { ok: false, problems: ['the agent is stopping'] }
    let loaded: LoadedConfig | readonly Problem[]
    try {
      loaded = await read()
    } catch (error) {
      return refused([messageOf(error)])
    }
    if (!('config' in loaded)) return refused(loaded.map(textOf))
    const taken = takeChanges(config, loaded, takes)
    const ready: { part: ReloadPart; commit: Commit }[] = []
    try {
      for (const part of parts) if (part.takes.some((key) => taken.changed.includes(key))) ready.push({ part, commit: await part.prepare(taken.config) })
    } catch (error) {
      return refused([messageOf(error)])
    }
    config = taken.config
    const failed = await commitAll(ready)
    const result: Reloaded = {
      ok: true,
      changed: taken.changed.filter((key) => !failed.includes(key)),
      needs_restart: [...taken.needsRestart, ...taken.changed.filter((key) => failed.includes(key))],
      warnings: loaded.warnings.map(textOf),
    }
    log.info(`configuration reloaded${loaded.file === undefined ? '' : ` from ${loaded.file}`}: ${result.changed.join(', ') || 'nothing'} changed`)
    for (const warning of result.warnings) log.warn(warning)
    if (result.needs_restart.length > 0) log.warn(`needs a restart: ${result.needs_restart.join(', ')}`)
    succeededAt = now()
    onState({ successful: true, succeededAt })
    return result
  }
  const begin = async (): Promise<ReloadResult> => {
    underWay = once()
    try {
      return await underWay
    } finally {
      underWay = undefined
    }
  }
  const reload = async (): Promise<ReloadResult> => {
    if (underWay === undefined) return begin()
    following ??= underWay.then(
      () => follow(),
      () => follow(),
    )
    return following
  }
  const follow = async (): Promise<ReloadResult> => {
    // The one before is done, though its caller may not have its answer yet.
    following = undefined
    return begin()
  }
  return {
    reload,
    config: () => config,
    async close() {
      closed = true
      await (following ?? underWay)
    },
  }
}
