// What a scheduler says of the end of a job, in our terms.
import type { Outcome } from '../../model/job.ts'
import type { RunResult } from '../nvidia-smi/run.ts'

export type ReportedEnd = {
  readonly by: string
  /** Its own: `OUT_OF_MEMORY`, `Result=timeout`. */
  readonly words: string
  /** Absent: a code or signal says all. */
  readonly outcome?: Outcome
  readonly exit_code?: number
  readonly signal?: string
}
/** `running`, `silent` (no answer in time, as on a busy host): to be asked again. undefined: it does not know. */
export type Answer = ReportedEnd | 'running' | 'silent' | undefined
export type Ask = (command: string, args: readonly string[]) => Promise<RunResult>

export async function answerOf<Known>(
  ask: Ask,
  command: string,
  args: readonly string[],
  parse: (text: string) => Known,
): Promise<Known | 'silent' | undefined> {
  const result = await ask(command, args)
  if (result.kind === 'timeout' || result.kind === 'still_hanging') return 'silent'
  // scontrol, while slurmctld is restarted.
  if (result.kind === 'ended' && /unable to contact/i.test(result.stderr)) return 'silent'
  return result.kind === 'ended' && result.exitCode === 0 ? parse(result.stdout) : undefined
}
