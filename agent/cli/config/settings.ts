// Loads the configuration for a command and turns what is wrong with it into the command's words.
import { loadConfig, ConfigFileError, type Judge, type LoadedConfig } from '../../config/load.ts'
import type { Problem } from '../../config/problem.ts'
import { ConfigError } from '../../config/problem.ts'
import type { Setting } from '../../config/setting.ts'
import type { NotifierConfig } from '../../model/alert-settings.ts'
import type { DetectorsConfig } from '../../model/detector-settings.ts'
import { UsageError, type Arguments, type Io } from '../command.ts'

export { CONFIG_FLAG, SETTING_FLAGS } from './flags.ts'

const KEY_OF: Readonly<Record<string, string>> = { listen: 'http.listen', 'data-dir': 'data_dir', simulate: 'simulate.scenario' }

/** Loads what there is of notifiers only where some are configured. */
const judgeNotifiers: Judge<readonly NotifierConfig[]> = async (settings, sources) =>
  settings.length === 0 ? { value: [], problems: [] } : (await import('./alert-settings.ts')).judgeNotifiers(settings, sources)

const judgeDetectors: Judge<DetectorsConfig> = async (settings) => (await import('./detector-settings.ts')).judgeDetectors(settings)
/** For a command that asks for none of them: they are loaded only where something is set that must be right. */
const judgeDetectorsIfSet: Judge<DetectorsConfig> = async (settings, sources) =>
  settings.length === 0 ? { value: { settings: {}, custom: [] }, problems: [] } : judgeDetectors(settings, sources)

export type SettingsOptions = {
  /** False: without the defaults of the detectors. */
  readonly detectors?: boolean
}
/** The configuration, or every problem with it. Throws a UsageError when the file cannot be read at all. */
export async function settingsFor(args: Arguments, io: Io, { detectors = true }: SettingsOptions = {}): Promise<LoadedConfig | readonly Problem[]> {
  const flags: Setting[] = []
  for (const [name, path] of Object.entries(KEY_OF)) {
    const value = args.flags.get(name)
    if (value !== undefined) flags.push({ path, value: value === true ? 'healthy' : value, where: `--${name}` })
  }
  const file = args.flags.get('config')
  try {
    return await loadConfig({
      judges: { detectors: detectors ? judgeDetectors : judgeDetectorsIfSet, notifiers: judgeNotifiers },
      env: io.env,
      cwd: io.cwd,
      flags,
      ...(typeof file === 'string' ? { file } : {}),
    })
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    if (error instanceof ConfigFileError) throw new UsageError(error.message, { cause: error })
    throw error
  }
}

export const isLoaded = (result: LoadedConfig | readonly Problem[]): result is LoadedConfig => 'config' in result
export const problemLines = (problems: readonly Problem[]): string => problems.map(({ where, text }) => `${where}: ${text}\n`).join('')
export const warningLines = (warnings: readonly Problem[]): string => warnings.map(({ where, text }) => `${where}: warning: ${text}\n`).join('')
