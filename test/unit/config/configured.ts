// Loads a configuration as commands do, with all that can be judged; files beside it are written first.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { judgeNotifiers } from '../../../agent/cli/config/alert-settings.ts'
import { loadConfig, type LoadedConfig, type LoadOptions } from '../../../agent/config/load.ts'
import { ConfigError } from '../../../agent/config/problem.ts'

export type Given = {
  readonly env?: LoadOptions['env']
  /** Readable for their owner alone, unless their name begins with `open`. */ readonly files?: Readonly<Record<string, string>>
}

export async function load(yaml: string, { env = {}, files = {} }: Given = {}): Promise<LoadedConfig> {
  const cwd = mkdtempSync(join(tmpdir(), 'warpwatch-config-'))
  onTestFinished(() => rmSync(cwd, { recursive: true }))
  writeFileSync(join(cwd, 'warpwatch.yaml'), yaml)
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(cwd, name), text)
    chmodSync(join(cwd, name), name.startsWith('open') ? 0o644 : 0o600)
  }
  return loadConfig({ cwd, env, judges: { notifiers: judgeNotifiers } })
}

/** As they are printed. */
export async function problems(yaml: string, given: Given = {}): Promise<readonly string[]> {
  const error: unknown = await load(yaml, given).catch((caught: unknown) => caught)
  if (!(error instanceof ConfigError)) throw new Error('expected a ConfigError, came something else', { cause: error })
  return error.problems.map(({ where, text }) => `${where}: ${text}`)
}
