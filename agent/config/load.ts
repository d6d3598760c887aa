// The effective configuration: defaults, then the file, then the environment, then flags; every problem of all of them at once.
import { existsSync, readFileSync } from 'node:fs'
import { homedir, hostname } from 'node:os'
import { join, resolve } from 'node:path'
import type { NotifierConfig } from '../model/alert-settings.ts'
import type { DetectorsConfig } from '../model/detector-settings.ts'
import { messageOf } from '../text/error.ts'
import { asOptions, DETECTORS } from './detector-settings.ts'
import { environmentSettings } from './environment.ts'
import { ConfigError, type Problem } from './problem.ts'
import { openTelemetrySettings } from './opentelemetry.ts'
import { isReference, lookUp, type Sources } from './references.ts'
import { remoteUrl } from './listen.ts'
import { ruleProblems, ruleWarnings, type RuleContext } from './rules.ts'
import { isConfig, KEYS, nest, type Config } from './schema.ts'
import { judge, type Setting } from './setting.ts'

export type LoadOptions = {
  /** `--config`: must exist. */
  readonly file?: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** What the command line sets, by key. */
  readonly flags?: readonly Setting[]
  readonly cwd: string
  readonly judges?: Judges
}
export type Judged<T> = { readonly value: T; readonly problems: readonly Problem[]; readonly warnings?: readonly Problem[] }
/** Judges all that is set of a key about whose content this room knows nothing, in the order in which it counts: the last goes before the others. */
export type Judge<T> = (settings: readonly Setting[], sources: Sources) => Judged<T> | Promise<Judged<T>>
/** Which detectors, notifiers, options and metrics there are. Without a judge nothing may be set. */
export type Judges = {
  /** Each setting is of one option (`detectors.throttling.load_ratio`), of `detectors.custom`, or of an unusable value in the place of a group. */
  readonly detectors?: Judge<DetectorsConfig>
  readonly notifiers?: Judge<readonly NotifierConfig[]>
}
export type LoadedConfig = {
  readonly config: Config
  /** The file that was read, if any. */
  readonly file: string | undefined
  /** Where each value that is no default came from. */
  readonly origins: ReadonlyMap<string, string>
  /** What is allowed, but hardly meant. */
  readonly warnings: readonly Problem[]
}

/** A configuration beyond this is no configuration. */
const MAX_FILE_BYTES = 1 << 20

/** The file cannot be read at all, as opposed to: its content is wrong. */
export class ConfigFileError extends Error {
  override readonly name = 'ConfigFileError'
}

function findFile(options: LoadOptions): { readonly path: string; readonly name: string } | undefined {
  if (options.file !== undefined) return { path: resolve(options.cwd, options.file), name: options.file }
  const local = join(options.cwd, 'warpwatch.yaml')
  if (existsSync(local)) return { path: local, name: 'warpwatch.yaml' }
  const system = '/etc/warpwatch/warpwatch.yaml'
  return existsSync(system) ? { path: system, name: system } : undefined
}

function readText(path: string, name: string): string {
  let content: Buffer
  try {
    content = readFileSync(path)
  } catch (error) {
    throw new ConfigFileError(`the configuration file cannot be read: ${messageOf(error)}`, { cause: error })
  }
  if (content.length > MAX_FILE_BYTES) throw new ConfigFileError(`${name}: must be at most ${MAX_FILE_BYTES} bytes of configuration, not ${content.length}`)
  return content.toString('utf8')
}

function defaultDataDir(env: LoadOptions['env'], simulated: boolean): string {
  const home = env['XDG_STATE_HOME'] ?? join(homedir(), '.local/state')
  const base = env['STATE_DIRECTORY'] ?? (process.getuid?.() === 0 ? '/var/lib/warpwatch' : join(home, 'warpwatch'))
  // Simulated readings must never stand among those of the real host.
  return simulated ? join(base, 'simulated') : base
}

const isOf = (key: string) => (setting: Setting) => setting.path === key || setting.path.startsWith(`${key}.`)
const knowsNothing =
  <T>(value: T): Judge<T> =>
  (settings) => ({
    value,
    problems: settings
      .filter((setting) => !(Array.isArray(setting.value) && setting.value.length === 0))
      .map(({ path, where }) => ({ where, text: `unknown key ${path}; no ${path.split('.')[0]} are known here` })),
  })

/** A secret that is elsewhere. */
function resolved(setting: Setting, sources: Sources): { readonly setting: Setting; readonly problem?: string; readonly warning?: string } {
  const { field } = KEYS.get(setting.path) ?? {}
  if (field?.secret !== true || !isReference(setting.value)) return { setting }
  const found = lookUp(setting.value, sources)
  return 'problem' in found ? { setting, ...found } : { ...found, setting: { ...setting, value: found.value } }
}

/** Throws a ConfigError that lists every problem, or a ConfigFileError. */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const problems: Problem[] = []
  const settings: Setting[] = []
  const file = findFile(options)
  if (file !== undefined) {
    const text = readText(file.path, file.name)
    const { readFileSettings } = await import('./file.ts')
    const found = readFileSettings(text, file.name)
    settings.push(...found.settings)
    problems.push(...found.problems)
  }
  const environment = await environmentSettings(options.env)
  settings.push(...environment.settings, ...(options.flags ?? []))
  problems.push(...environment.problems)
  settings.unshift(...openTelemetrySettings(options.env, settings))

  const values = new Map<string, unknown>()
  const warnings: Problem[] = []
  const places = new Map<string, Setting>()
  const sources: Sources = { env: options.env, cwd: options.cwd }
  const wrong = new Set<string>()
  const hear = async <T>(key: keyof Judges, judgeAll: Judge<T>): Promise<void> => {
    const own = settings.filter(isOf(key)).flatMap(asOptions)
    const found = await judgeAll(own, sources)
    problems.push(...found.problems)
    warnings.push(...(found.warnings ?? []))
    if (found.problems.length > 0) wrong.add(key)
    values.set(key, found.value)
    for (const setting of own) places.set(setting.path, setting)
  }
  await hear('detectors', options.judges?.detectors ?? knowsNothing<DetectorsConfig>({ settings: {}, custom: [] }))
  await hear('notifiers', options.judges?.notifiers ?? knowsNothing<readonly NotifierConfig[]>([]))
  for (const setting of settings) {
    if (isOf(DETECTORS)(setting) || isOf('notifiers')(setting)) continue
    const { problem, warning, setting: whole } = resolved(setting, sources)
    const { path, where } = setting
    if (warning !== undefined) warnings.push({ where, text: `${path}: ${warning}` })
    const judged = problem === undefined ? judge(whole) : { problems: [{ where, text: `${path}: ${problem}` }] }
    if ('problems' in judged) {
      problems.push(...judged.problems)
      continue
    }
    values.set(judged.key.path, judged.value)
    places.set(judged.key.path, setting)
  }
  const config = assemble(values, options.env)
  const context: RuleContext = {
    where: (key, part = []) => places.get(key)?.at?.(part) ?? places.get(key)?.where ?? key,
    notifiersWrong: wrong.has('notifiers'),
    baseUrlSet: (values.get('alerts.base_url') ?? '') !== '',
  }
  problems.push(...ruleProblems(config, context))
  if (problems.length > 0) throw new ConfigError(problems)
  const origins = new Map([...places].map(([path, { where }]) => [path, where]))
  return { config, file: file?.path, origins, warnings: [...warnings, ...ruleWarnings(config, context)] }
}

/** Where nothing is said, the address under which other hosts probably reach the agent; empty where they cannot, or the port is not known before it is taken. */
export function withBaseUrl(config: Config): Config {
  const base_url = config.alerts.base_url || (remoteUrl(config.http.listen, config.host_name)?.url ?? '')
  return { ...config, alerts: { ...config.alerts, base_url: base_url.replace(/\/+$/, '') } }
}

function assemble(values: ReadonlyMap<string, unknown>, env: LoadOptions['env']): Config {
  const config = nest((key) => (values.has(key.path) ? values.get(key.path) : key.field.default))
  if (!isConfig(config)) throw new Error('a default of agent/config/sections does not pass its own schema')
  const host_name = config.host_name === '' ? hostname() : config.host_name
  return {
    ...withBaseUrl({ ...config, host_name }),
    data_dir: config.data_dir === '' ? defaultDataDir(env, config.simulate.scenario !== 'off') : resolve(config.data_dir),
  }
}
