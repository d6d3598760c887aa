// What a newly read configuration changes, and the one that is in force when only some of it can be taken while the agent runs.
import { isDeepStrictEqual } from 'node:util'
import { withBaseUrl, type LoadedConfig } from './load.ts'
import { isLoopback } from './listen.ts'
import { isConfig, KEYS, nest, readKey, type Config } from './schema.ts'

/** Keys whose values differ, in the order of the example file. */
export function changedKeys(before: Config, after: Config): readonly string[] {
  return [...KEYS.values()].filter((key) => !isDeepStrictEqual(readKey(before, key), readKey(after, key))).map(({ path }) => path)
}

export type Taken = {
  /** In force from now on. */
  readonly config: Config
  readonly changed: readonly string[]
  readonly needsRestart: readonly string[]
}

/** `takes` names the keys that can be taken while the agent runs. */
export function takeChanges(inForce: Config, loaded: Pick<LoadedConfig, 'config' | 'origins'>, takes: ReadonlySet<string>): Taken {
  const merge = (taken: ReadonlySet<string>): Config => {
    const merged = nest((key) => readKey(taken.has(key.path) ? loaded.config : inForce, key))
    if (!isConfig(merged)) throw new Error('the new configuration and the one in force cannot be merged: report this')
    // Where it is not set, it follows from the address that is served now and not from the one that needs a restart.
    return loaded.origins.has('alerts.base_url') ? merged : withBaseUrl({ ...merged, alerts: { ...merged.alerts, base_url: '' } })
  }
  let config = merge(takes)
  const { listen, token, insecure } = config.http
  // The port stays where it is until the restart: without its token it would be open to other hosts.
  if (!isLoopback(listen) && token === '' && !insecure) config = merge(new Set([...takes].filter((path) => path !== 'http.token')))
  const needsRestart = changedKeys(config, loaded.config).filter((path) => path !== 'alerts.base_url')
  return { config, changed: changedKeys(inForce, config), needsRestart }
}
