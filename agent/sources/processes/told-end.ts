// What a scheduler says of the end of a job, in our terms.
import type { Outcome } from '../../model/job.ts'
import type { RunResult } from '../nvidia-smi/run.ts'

export type ToldEnd = {
  readonly by: string
  /** Its own: `OUT_OF_MEMORY`, `Result=timeout`. */
  readonly words: string
  /** Absent: a code or signal says all. */
  readonly outcome?: Outcome
  readonly exit_code?: number
  readonly signal?: string
}
/** `running`: to be asked again. undefined: it does not know. */
export type Answer = ToldEnd | 'running' | undefined
export type Ask = (command: string, args: readonly string[]) => Promise<RunResult>

/** undefined: it could not be asked. */
export async function linesOf(ask: Ask, command: string, args: readonly string[]): Promise<string | undefined> {
  const result = await ask(command, args)
  return result.kind === 'ended' && result.exitCode === 0 ? result.stdout : undefined
}
