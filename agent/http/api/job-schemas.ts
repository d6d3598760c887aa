// Jobs as zod schemas: for the OpenAPI description, the tests, and what `warpwatch exec` sends.
import * as z from 'zod'
import type { ExecEvent } from '../../model/event.ts'
import { JOB_GROUPS, JOB_KINDS, OUTCOMES } from '../../model/job.ts'
import { INCIDENT_KINDS } from '../../model/kinds.ts'

const time = z.int().min(0).describe('Unix ms.')
const amount = z.number().min(0)
const jobId = z.string().regex(/^[0-9a-f]{16}$/)
const outcome = z.enum(OUTCOMES)

const gpuSeconds = z
  .object({ active: amount, idle: amount, lost: amount.describe('Part of the two others that a bad end threw away.') })
  .meta({ id: 'GpuSeconds', description: 'Share of the time in which a kernel ran on the GPUs that were held, or none did.' })
const runGpu = z
  .object({
    uuid: z.string(),
    gpu: z.string(),
    gi: z.string().optional(),
    ci: z.string().optional(),
    share: amount.max(1).describe("Mean share of the GPU's time: 0.5 where two jobs held it all along."),
    held_seconds: amount,
    active_seconds: amount.optional(),
    idle_seconds: amount.optional(),
    energy_joules: amount.optional(),
    memory_byte_seconds: amount.describe('GPU memory that it held, times how long.').optional(),
    memory_peak_bytes: amount.optional(),
    memory_total_bytes: amount.describe('That the GPU has.').optional(),
  })
  .meta({ id: 'RunGpu' })

const identity = { job_id: jobId, job: z.string(), kind: z.enum(JOB_KINDS), user: z.string().optional(), namespace: z.string().optional() }
const used = { gpu_seconds: gpuSeconds, energy_joules: amount.optional(), memory_peak_bytes: amount.optional(), gpu_memory_peak_bytes: amount.optional() }

export const run = z
  .object({
    ...identity,
    uid: z.int().min(0).describe('Of the user, on the host.').optional(),
    container: z.string().optional(),
    container_id: z.string().optional(),
    image: z.string().optional(),
    slurm_job: z.string().optional(),
    account: z.string().describe('Of the Slurm job.').optional(),
    partition: z.string().optional(),
    time_limit_seconds: amount.optional(),
    gpus_requested: z.int().min(0).optional(),
    unit: z.string().optional(),
    pid: z.int().optional(),
    command: z.string().optional(),
    run: z.int().min(1).describe('Number of this run of the job, from 1.'),
    started_at: time,
    started_before: z.literal(true).describe('It ran already when the agent first saw it.').optional(),
    saved_at: time.describe('When its log last said that it saved a state from which it can go on.').optional(),
    ended_at: time.optional(),
    seen_at: time,
    outcome: outcome.optional(),
    reason: z.string().optional(),
    exit_code: z.int().optional(),
    signal: z.string().optional(),
    sent_by: z.string().describe('Who sent the signal, where that is known.').optional(),
    gpus: z.array(runGpu),
    ...used,
    tokens: amount.describe('Processed as an inference server that says so.').optional(),
    incidents: z.array(z.object({ id: z.string(), kind: z.enum(INCIDENT_KINDS), title: z.string() })).describe('The cause first.'),
  })
  .meta({ id: 'JobRun', description: 'One run of a job; without an outcome it still runs.' })

const sums = {
  runs: z.int().min(1),
  running: z.int().min(0),
  outcomes: z.partialRecord(outcome, z.int().min(1)),
}
export const job = z
  .object({ ...identity, ...sums, ...used, last: run.describe('The newest run.') })
  .meta({ id: 'Job', description: 'A job with the sums of its runs.' })
export const jobGroup = z
  .object({
    by: z.enum(JOB_GROUPS),
    key: z.string().describe('Absent for runs of which it is not known.').optional(),
    unheld: z.literal(true).describe('No use, but the energy of GPUs that nobody held.').optional(),
    ...sums,
    runs: z.int().min(0),
    gpu_seconds: gpuSeconds,
    energy_joules: amount.optional(),
    held_seconds: amount.describe('Time in which GPU memory was held: two that hold a GPU for an hour hold it for two.').optional(),
    memory_byte_seconds: amount.optional(),
    tokens: amount.describe('Processed by inference servers that say so.').optional(),
    price: amount.describe('Of GPU time and energy, by the section `costs` of the configuration; absent where that sets no price.').optional(),
    currency: z.string().optional(),
    co2_grams: amount.describe('Of the energy, by `costs.grams_per_kwh`; absent where that is not set.').optional(),
  })
  .meta({ id: 'JobGroup', description: 'What all runs of one user, GPU, … used.' })
export const jobsAnswer = z.union([job, jobGroup]).meta({ id: 'JobOrGroup', description: 'A job, or with `by` a group of jobs.' })

const jobName = { job: z.string(), job_id: z.string(), slurm_job: z.string().optional() }
export const waste = z
  .object({
    host: z.string(),
    from: time,
    to: time,
    rows: z.array(
      z.object({
        user: z.string().describe('Absent: not known, or `by` asks for another.').optional(),
        namespace: z.string().optional(),
        account: z.string().optional(),
        gpu_hours_held: amount,
        gpu_hours_idle: amount.describe('Held while no kernel of anybody ran, split evenly between those that held a GPU together.'),
        gpu_hours_queueable: amount.describe('The part in whole hours, in which another user could have used the GPU; of the last nine days only.'),
        gpu_hours_lost: amount.describe('Thrown away by runs that ended badly.'),
        died: z.array(z.object({ ...jobName, runs: z.int().min(1), gpu_hours_lost: amount })),
        oversized: z.array(z.object({ ...jobName, text: z.string() })).describe('Jobs that asked for much more than they used.'),
        price: amount.describe('Of what was idle or lost, by the factors under costs.').optional(),
        currency: z.string().optional(),
      }),
    ),
  })
  .meta({ id: 'WasteSummary', description: 'What was held and not used, by user, namespace or account, the most first.' })

export const execReport = z
  .strictObject({
    action: z.enum(['start', 'end']),
    id: z.string().regex(/^[0-9a-f]{16}$/),
    pid: z
      .int()
      .min(1)
      .max(2 ** 31),
    start_ticks: z.int().min(0).optional(),
    name: z.string().trim().min(1).max(120).optional(),
    command: z.string().min(1).max(200),
    user: z.string().max(100).optional(),
    exit_code: z.int().min(0).max(255).optional(),
    signal: z
      .string()
      .regex(/^SIG[A-Z0-9]{2,8}$/)
      .optional(),
    cause_kind: z
      .string()
      .regex(/^[a-z][a-z_]{1,40}$/)
      .describe('At the end: what ended it, by its output, as the kind of an incident.')
      .optional(),
    cause_title: z.string().min(1).max(200).describe('What that is called.').optional(),
    notify: z
      .string()
      .regex(/^[\w.-]{1,63}$/)
      .describe('At the end: the notifier that is sent what became of the run.')
      .optional(),
  })
  .meta({ id: 'ExecTold', description: 'A command under `warpwatch exec` began or ended.' })
export const execTaken = z
  .object({
    id: z.string(),
    run: run.describe('As far as it is known.').optional(),
    not_sent: z.string().describe('Why the notifier is sent nothing.').optional(),
  })
  .meta({ id: 'ExecTaken' })

/** `t`: when it is said. */
export function parseExec(text: string, t: number): { readonly value: ExecEvent; readonly notify?: string } | { readonly problem: string } {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return { problem: 'body: this is no JSON' }
  }
  const result = execReport.safeParse(body)
  if (!result.success) return { problem: result.error.issues.map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`.slice(0, 300)).join('; ') }
  const { action, id, pid, command, start_ticks: ticks, name, user, exit_code: code, signal, notify } = result.data
  const { cause_kind, cause_title } = result.data
  const optional = Object.fromEntries(
    Object.entries({ start_ticks: ticks, name, user, exit_code: code, signal, cause_kind, cause_title }).filter(([, value]) => value !== undefined),
  )
  return { value: { type: 'exec', t, action, id, pid, command, ...optional }, ...(notify === undefined || action === 'start' ? {} : { notify }) }
}
