// The effective configuration: defaults, then the file, then the environment, then flags; every problem of all of them at once.
import { existsSync, readFileSync } from 'node:fs'
import { homedir, hostname } from 'node:os'
import { join, resolve } from 'node:path'
import type { DetectorsConfig } from '../model/detector-settings.ts'
import { asOptions, DETECTORS } from './detector-settings.ts'
import { environmentSettings } from './environment.ts'
import { ConfigError, type Problem } from './problem.ts'
import { ruleProblems } from './rules.ts'
import { isConfig, nest, type Config } from './schema.ts'
import { judge, type Setting } from './setting.ts'

export type LoadOptions = {
  /** `--config`: must exist. */
  readonly file?: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** What the command line sets, by key. */
  readonly flags?: readonly Setting[]
  readonly cwd: string
  /** Judges what is set under `detectors`: which detectors, options and metrics there are is not known in this room. Without it none is known. */
  readonly detectors?: JudgeDetectors
}
/** Each setting is of one option (`detectors.throttling.load_ratio`), of `detectors.custom`, or of an unusable value in the place of a group. */
export type JudgeDetectors = (settings: readonly Setting[]) => { readonly value: DetectorsConfig; readonly problems: readonly Problem[] }
export type LoadedConfig = {
  readonly config: Config
  /** The file that was read, if any. */
  readonly file: string | undefined
  /** Where each value that is no default came from. */
  readonly origins: ReadonlyMap<string, string>
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
    throw new ConfigFileError(`expected a readable configuration file, came: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
  if (content.length > MAX_FILE_BYTES) throw new ConfigFileError(`${name}: expected at most ${MAX_FILE_BYTES} bytes of configuration, came ${content.length}`)
  return content.toString('utf8')
}

function defaultDataDir(env: LoadOptions['env'], simulated: boolean): string {
  const home = env['XDG_STATE_HOME'] ?? join(homedir(), '.local/state')
  const base = env['STATE_DIRECTORY'] ?? (process.getuid?.() === 0 ? '/var/lib/warpwatch' : join(home, 'warpwatch'))
  // Simulated readings must never stand among those of the real host.
  return simulated ? join(base, 'simulated') : base
}

const isOfDetectors = ({ path }: Setting): boolean => path === DETECTORS || path.startsWith(`${DETECTORS}.`)
const noDetectors: JudgeDetectors = (settings) => ({
  value: { settings: {}, custom: [] },
  problems: settings
    .filter(({ value }) => !(Array.isArray(value) && value.length === 0))
    .map(({ path, where }) => ({ where, text: `unknown key ${path}; no detectors are known here` })),
})

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

  const values = new Map<string, unknown>()
  const origins = new Map<string, string>()
  const { detectors: judgeDetectors = noDetectors } = options
  const [ofDetectors, others] = [settings.filter(isOfDetectors).flatMap(asOptions), settings.filter((setting) => !isOfDetectors(setting))]
  const detectors = judgeDetectors(ofDetectors)
  problems.push(...detectors.problems)
  values.set(DETECTORS, detectors.value)
  for (const { path, where } of ofDetectors) origins.set(path, where)
  for (const setting of others) {
    const judged = judge(setting)
    if ('problems' in judged) {
      problems.push(...judged.problems)
      continue
    }
    values.set(judged.key.path, judged.value)
    origins.set(judged.key.path, setting.where)
  }
  const config = assemble(values, options.env)
  problems.push(...ruleProblems(config, origins))
  if (problems.length > 0) throw new ConfigError(problems)
  return { config, file: file?.path, origins }
}

function assemble(values: ReadonlyMap<string, unknown>, env: LoadOptions['env']): Config {
  const config = nest((key) => (values.has(key.path) ? values.get(key.path) : key.field.default))
  if (!isConfig(config)) throw new Error('a default of agent/config/sections does not pass its own schema')
  return {
    ...config,
    host_name: config.host_name === '' ? hostname() : config.host_name,
    data_dir: config.data_dir === '' ? defaultDataDir(env, config.simulate.scenario !== 'off') : resolve(config.data_dir),
  }
}
