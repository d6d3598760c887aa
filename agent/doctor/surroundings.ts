// The real host, as checks see it: each thing is asked when the first check wants it, once, and shared by all.
import { resolve } from 'node:path'
import { detectWsl, nvidiaSmiCommands, nvmlLibraries, readWslFacts } from '../lib/wsl.ts'
import { CHILD_ENTRY } from '../sampler/entry.ts'
import { gpu } from '../sources/gpu.ts'
import type { Config } from '../config/schema.ts'
import type { Lazily, Surroundings } from './definition.ts'
import { readComposeFile } from './compose/file.ts'
import { findContainers } from './parts/containers.ts'
import { readDistribution } from './parts/distribution.ts'
import { findEngines, firstEngine, type Engines } from './parts/engine-facts.ts'
import { createHostFiles } from './parts/host-files.ts'
import { askNvml } from './parts/nvml-facts.ts'
import { createRunCommand } from './parts/run-command.ts'

export type LookOptions = {
  readonly config: Config
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** The one container to look at; undefined: all that want a GPU. */
  readonly container?: string
  readonly composeFiles: readonly string[]
}

/** Asked when it is wanted first; then everybody gets the same answer, or the same error. */
export function lazily<T>(ask: () => Promise<T>): Lazily<T> {
  let answer: Promise<T> | undefined
  return () => {
    answer ??= ask()
    return answer
  }
}

const socketsOf = ({ containers }: Config): readonly string[] | undefined =>
  !containers.enabled ? [] : containers.engines.includes('auto') ? undefined : containers.engines

export function lookAround({ config, env, cwd, container, composeFiles }: LookOptions): Surroundings & { readonly close: () => void } {
  const files = createHostFiles()
  const run = createRunCommand(env)
  let found: Engines | undefined
  const engines = lazily(async () => (found = await findEngines(socketsOf(config), env)))
  return {
    files,
    run,
    config,
    env,
    uid: process.getuid?.() ?? 0,
    distribution: lazily(async () => await readDistribution(files, env)),
    engine: lazily(async () => firstEngine(await engines())),
    containers: lazily(async () => await findContainers(await engines(), files, container)),
    nvml: lazily(async () => {
      const wsl = detectWsl(readWslFacts())
      return await askNvml({
        entry: CHILD_ENTRY,
        metrics: gpu.metrics,
        libraries: nvmlLibraries(config.gpu.library, { wsl }),
        env: { ...process.env, ...env },
        run,
        commands: nvidiaSmiCommands(config.gpu.nvidia_smi, { wsl }),
      })
    }),
    composeFiles: lazily(async () => await Promise.all(composeFiles.map(async (path) => await readComposeFile(path, files, resolve(cwd, path))))),
    close: () => found?.close(),
  }
}
