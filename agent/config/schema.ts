// All sections of the configuration, and the type of the whole.
import type { Fields, Section, ValuesOf } from './field.ts'
import { actions } from './sections/actions.ts'
import { alerts } from './sections/alerts.ts'
import { allocator } from './sections/allocator.ts'
import { costs } from './sections/costs.ts'
import { containers } from './sections/containers.ts'
import { general } from './sections/general.ts'
import { gpu } from './sections/gpu.ts'
import { hangs } from './sections/hangs.ts'
import { history } from './sections/history.ts'
import { host } from './sections/host.ts'
import { hosts } from './sections/hosts.ts'
import { http } from './sections/http.ts'
import { httpClient } from './sections/http-client.ts'
import { log } from './sections/log.ts'
import { logs } from './sections/logs.ts'
import { metrics } from './sections/metrics.ts'
import { notifiers } from './sections/notifiers.ts'
import { otlp } from './sections/otlp.ts'
import { routes } from './sections/routes.ts'
import { servers } from './sections/servers.ts'
import { simulate } from './sections/simulate.ts'
import { detectors } from './sections/detectors.ts'
import { targets } from './sections/targets.ts'

/** In the order of the example file. */
export const SECTIONS = {
  log,
  http,
  metrics,
  gpu,
  allocator,
  containers,
  logs,
  hangs,
  servers,
  host,
  history,
  costs,
  simulate,
  http_client: httpClient,
  otlp,
  alerts,
}
export { general as GENERAL }
/** Values with parts of their own, after the sections. */
export const LISTS = { notifiers, routes, actions, targets, hosts, detectors }

/** The effective configuration; keys are spelled as in the file. */
export type Config = ValuesOf<typeof general> & ValuesOf<typeof LISTS> & { readonly [S in keyof typeof SECTIONS]: ValuesOf<(typeof SECTIONS)[S]['fields']> }

/** One key by its full name: `http.listen`, `data_dir`. */
export type Key = { readonly path: string; readonly section: string | undefined; readonly key: string; readonly field: Fields[string] }

function gather(): ReadonlyMap<string, Key> {
  const keys = new Map<string, Key>()
  for (const [key, field] of Object.entries<Fields[string]>(general)) keys.set(key, { path: key, section: undefined, key, field })
  for (const [section, { fields }] of Object.entries<Section>(SECTIONS))
    for (const [key, field] of Object.entries(fields)) keys.set(`${section}.${key}`, { path: `${section}.${key}`, section, key, field })
  for (const [key, field] of Object.entries<Fields[string]>(LISTS)) keys.set(key, { path: key, section: undefined, key, field })
  return keys
}

export const KEYS = gather()
export const SECTION_NAMES: readonly string[] = Object.keys(SECTIONS)

/** A group of keys per section, as in the file; what is undefined is left out. */
export function nest(valueOf: (key: Key) => unknown): Readonly<Record<string, unknown>> {
  const whole: Record<string, unknown> = {}
  const groups = new Map<string, Record<string, unknown>>()
  for (const key of KEYS.values()) {
    const value = valueOf(key)
    if (value === undefined && key.section === undefined) continue
    if (key.section === undefined) {
      whole[key.key] = value
      continue
    }
    const group = groups.get(key.section) ?? {}
    if (!groups.has(key.section)) {
      groups.set(key.section, group)
      whole[key.section] = group
    }
    if (value !== undefined) group[key.key] = value
  }
  return whole
}

const isGroup = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null

export function readKey(whole: unknown, key: Key): unknown {
  const group = key.section === undefined || !isGroup(whole) ? whole : whole[key.section]
  return isGroup(group) ? group[key.key] : undefined
}

/** Every key's value passes its field's schema; Config is made from the same declarations. */
export function isConfig(whole: unknown): whole is Config {
  return [...KEYS.values()].every((key) => key.field.schema.safeParse(readKey(whole, key)).success)
}
