// What Slurm knows of a job that runs: name, account, partition, time limit, GPUs asked for. From the job's environment at once, and from `scontrol show job`
// in the background, once for each job.
import { setTimeout as delay } from 'node:timers/promises'
import type { SlurmDetails } from '../../model/event.ts'
import { answerOf, type Ask } from './reported-end.ts'

const MAX_TEXT = 120
const MAX_KNOWN = 2_000
const MAX_GPUS = 100_000
/** A controller that does not answer in time, as on a busy host. */
const MAX_TRIES = 5
const PAUSE_MS = 5_000

const text = (value: string | undefined): string | undefined =>
  value === undefined || value === '' || value === '(null)' || value === 'N/A' ? undefined : value.slice(0, MAX_TEXT)
const compact = (found: { readonly [Key in keyof SlurmDetails]: SlurmDetails[Key] | undefined }): SlurmDetails =>
  Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined))

/** `1-02:03:04`, `02:03:04`, `03:04`, `UNLIMITED`. */
export function slurmSeconds(limit: string): number | undefined {
  const [, days = '0', clock] = /^(?:(\d{1,5})-)?(\d{1,5}(?::\d{1,2}){0,2})$/.exec(limit) ?? []
  if (clock === undefined) return undefined
  const parts = clock.split(':').map(Number)
  // With days the first is hours; without them a lone number is minutes.
  const [hours = 0, minutes = 0, seconds = 0] = days !== '0' || parts.length === 3 ? parts : parts.length === 2 ? [0, ...parts] : [0, ...parts, 0]
  return Number(days) * 86_400 + hours * 3_600 + minutes * 60 + seconds
}

/** `gres/gpu=4`, or by type where only those are named: `gres/gpu:h100=2,gres/gpu:a100=1`. */
function gpusOf(tres: string): number | undefined {
  const all = /(?:^|,)gres[/:]gpu[=:](\d{1,6})(?=,|$|\()/.exec(tres)?.[1]
  const typed = Array.from(tres.matchAll(/(?:^|,)gres[/:]gpu[:/][\w.-]{1,64}[=:](\d{1,6})(?=,|$|\()/g), ([, count]) => Number(count))
  const count = all !== undefined ? Number(all) : typed.length === 0 ? undefined : typed.reduce((sum, one) => sum + one, 0)
  return count === undefined || count > MAX_GPUS ? undefined : count
}

/** One line of `scontrol --oneliner show job`. A name may hold blanks: it ends where the next key begins. */
export function parseSlurmDetails(line: string): SlurmDetails | undefined {
  const field = (name: string): string | undefined => text(new RegExp(`(?:^|\\s)${name}=(\\S{1,400})`).exec(line)?.[1])
  if (field('JobId') === undefined) return undefined
  const nodes = Number(field('NumNodes')?.split('-')[0] ?? 1)
  const perNode = gpusOf(field('TresPerNode') ?? '')
  const limit = field('TimeLimit')
  return compact({
    slurm_name: text(/(?:^|\s)JobName=(.{1,400}?) (?:UserId|ArrayJobId)=/.exec(line)?.[1]),
    slurm_user: text(/^[^()\s]{1,64}(?=\(\d+\)$)/.exec(field('UserId') ?? '')?.[0]),
    account: field('Account'),
    partition: field('Partition'),
    time_limit_seconds: limit === undefined ? undefined : slurmSeconds(limit),
    gpus_requested: gpusOf(field('ReqTRES') ?? '') ?? gpusOf(field('TRES') ?? '') ?? (perNode === undefined || !(nodes >= 1) ? undefined : perNode * nodes),
  })
}

/** Of /proc/PID/environ, which only root may read of another user: what the job's own environment says of it. */
export function slurmEnvironment(environ: string): SlurmDetails {
  const found = new Map<string, string>()
  for (const entry of environ.split('\0')) if (entry.startsWith('SLURM_')) found.set(entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1))
  const count = /^(?:[\w.-]{1,64}:)?(\d{1,6})$/.exec(found.get('SLURM_GPUS') ?? '')?.[1]
  return compact({
    slurm_name: text(found.get('SLURM_JOB_NAME')),
    slurm_user: text(found.get('SLURM_JOB_USER')),
    account: text(found.get('SLURM_JOB_ACCOUNT')),
    partition: text(found.get('SLURM_JOB_PARTITION')),
    time_limit_seconds: undefined,
    gpus_requested: count === undefined ? undefined : Number(count),
  })
}

export type SlurmBook = {
  /** What the controller says of a job; undefined: nothing, or not yet. `known` is called when it has answered. */
  readonly ask: (job: string, known: (details: SlurmDetails) => void) => void
}
export function createSlurmBook(ask: Ask | undefined): SlurmBook {
  const jobs = new Map<string, SlurmDetails | undefined>()
  let last: Promise<unknown> = Promise.resolve()
  const look = async (asking: Ask, job: string, known: (details: SlurmDetails) => void): Promise<void> => {
    let details: SlurmDetails | 'silent' | undefined = 'silent'
    for (let tries = 0; details === 'silent' && tries < MAX_TRIES; tries++) {
      if (tries > 0) await delay(PAUSE_MS, undefined, { ref: false })
      details = await answerOf(asking, 'scontrol', ['--oneliner', 'show', 'job', job], parseSlurmDetails)
    }
    if (details === undefined || details === 'silent') return
    jobs.set(job, details)
    known(details)
  }
  return {
    ask(job, known) {
      if (ask === undefined) return
      const before = jobs.get(job)
      if (before !== undefined) return known(before)
      if (jobs.has(job)) return
      jobs.set(job, undefined)
      const oldest = jobs.size > MAX_KNOWN ? jobs.keys().next().value : undefined
      if (oldest !== undefined) jobs.delete(oldest)
      // One at a time: jobs start in swarms.
      last = last.then(() => look(ask, job, known))
    },
  }
}
