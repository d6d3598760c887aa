// What a check of `warpwatch doctor` is: it looks at one thing of the host, or of each container, and says whether that is well and how to fix it.
import type { Config } from '../config/schema.ts'
import type { CheckGroup, Finding } from '../model/doctor.ts'
import type { IncidentKind } from '../model/kinds.ts'
import type { ComposeFile } from './compose/file.ts'
import type { DoctorContainer } from './parts/containers.ts'
import type { Distribution } from './parts/distribution.ts'
import type { EngineFacts } from './parts/engine-facts.ts'
import type { HostFiles } from './parts/host-files.ts'
import type { NvmlFacts } from './parts/nvml-facts.ts'
import type { RunCommand } from './parts/run-command.ts'

export type { CheckGroup, CheckStatus, Finding } from '../model/doctor.ts'

/** A promise made when the first check asks and shared by all; an error in it skips the checks that need it, with its message. */
export type Lazily<T> = () => Promise<T>

/** The host as checks see it. Nothing behind it changes anything. */
export type Surroundings = {
  /** Files of the host; relative to a root that tests choose. */
  readonly files: HostFiles
  /** Runs a program without a shell, with a time-out; only programs that change nothing. */
  readonly run: RunCommand
  /** For all containers of one check; without it a little less than the time of a check. */
  readonly containersMs?: number
  readonly distribution: Lazily<Distribution>
  /** The first engine that answers. undefined: none is installed; rejects with a message when there are some and none answers. */
  readonly engine: Lazily<EngineFacts | undefined>
  /** Those of all engines that want a GPU, or the one that was named. Rejects as `engine` does; empty where there is none. */
  readonly containers: Lazily<readonly DoctorContainer[]>
  /** From a short-lived child, as a driver may hang; undefined: no library. Rejects with an NvmlError when it does not answer. */
  readonly nvml: Lazily<NvmlFacts | undefined>
  /** Those named by `--compose`. */
  readonly composeFiles: Lazily<readonly ComposeFile[]>
  readonly config: Config
  readonly env: Readonly<Record<string, string | undefined>>
  readonly uid: number
}

export type CheckDefinition = {
  /** Kebab-case and public: `--only`, `--skip` and the JSON name it. The file bears the same name. */
  readonly id: string
  readonly group: CheckGroup
  /** Ends "checks that …". */
  readonly title: string
  /** Failures that it foretells or explains: kinds whose runbooks name it. */
  readonly covers: readonly IncidentKind[]
  /** For how long it may look; undefined: two seconds. It then counts as skipped, and the others go on. */
  readonly timeoutMs?: number
  readonly run: (around: Surroundings) => Promise<readonly Finding[]>
}

export function defineCheck(definition: CheckDefinition): CheckDefinition {
  return definition
}
