// How a Slurm job ended, as slurmctld says: `scontrol show job`, which knows a job for MinJobAge (5 minutes) after its end.
import type { Outcome } from '../../model/job.ts'
import { signalName } from '../../text/signals.ts'
import { answerOf, type Answer, type Ask } from './reported-end.ts'
import { lookup } from '../../text/lookup.ts'

/** slurm/slurm.h `enum job_states`. FAILED is not here: its exit code or signal says more. */
const OUTCOMES: Readonly<Record<string, Outcome>> = {
  COMPLETED: 'completed',
  CANCELLED: 'cancelled',
  REVOKED: 'cancelled',
  TIMEOUT: 'time_limit',
  DEADLINE: 'time_limit',
  OUT_OF_MEMORY: 'out_of_memory',
  PREEMPTED: 'preempted',
  NODE_FAIL: 'killed',
  BOOT_FAIL: 'killed',
}
const GOES_ON = new Set(['RUNNING', 'COMPLETING', 'SUSPENDED', 'STOPPED', 'CONFIGURING', 'RESIZING', 'SIGNALING', 'STAGE_OUT'])
/** `0:125` is Slurm's own way to say that memory ran out. */
const LARGEST_SIGNAL = 64

export function parseSlurmJob(text: string): Answer {
  const field = (name: string): string | undefined => new RegExp(`(?:^|\\s)${name}=(\\S{1,80})`).exec(text)?.[1]
  const state = field('JobState')
  if (state === undefined) return undefined
  if (GOES_ON.has(state)) return 'running'
  const reason = field('Reason')
  const [, code, number] = /^(\d{1,3}):(\d{1,3})$/.exec(field('ExitCode') ?? '') ?? []
  const signal = Number(number ?? 0) > 0 && Number(number) <= LARGEST_SIGNAL ? signalName(Number(number)) : undefined
  // It waits to be started again.
  const outcome = state === 'PENDING' || state === 'REQUEUED' ? 'preempted' : lookup(OUTCOMES, state)
  const isCode = code !== undefined && (code !== '0' || state === 'COMPLETED')
  return {
    by: 'Slurm',
    words: reason === undefined || reason === 'None' ? state : `${state}, ${reason}`,
    ...(outcome === undefined ? {} : { outcome }),
    ...(isCode ? { exit_code: Number(code) } : {}),
    ...(signal === undefined ? {} : { signal }),
  }
}

export const askSlurm = (ask: Ask, job: string): Promise<Answer> => answerOf(ask, 'scontrol', ['--oneliner', 'show', 'job', job], parseSlurmJob)
