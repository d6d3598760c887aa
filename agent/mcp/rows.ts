// What the tools read of the API's answers, checked as they come.
import * as z from 'zod'
import type { Ask } from './tool.ts'

const figures = z.record(z.string(), z.number())
export const gpu = z.looseObject({
  uuid: z.string(),
  index: z.number(),
  name: z.string().optional(),
  memory_used_bytes: z.number().optional(),
  memory_total_bytes: z.number().optional(),
  utilization_ratio: z.number().optional(),
  power_watts: z.number().optional(),
  power_limit_watts: z.number().optional(),
  temperature_celsius: z.number().optional(),
  sample_age_seconds: z.number().optional(),
  throttle_active: figures.optional(),
})
export const processRow = z.looseObject({
  pid: z.number(),
  process: z.string(),
  uuid: z.string(),
  container: z.string().optional(),
  slurm_job: z.string().optional(),
  unit: z.string().optional(),
  user: z.string().optional(),
  gpu_memory_bytes: z.number().optional(),
})
export const run = z.looseObject({
  job_id: z.string(),
  job: z.string(),
  kind: z.string(),
  user: z.string().optional(),
  run: z.number(),
  started_at: z.number(),
  ended_at: z.number().optional(),
  seen_at: z.number(),
  outcome: z.string().optional(),
  reason: z.string().optional(),
  gpus: z.array(z.looseObject({ gpu: z.string() })),
  gpu_seconds: z.object({ active: z.number(), idle: z.number(), lost: z.number() }),
  gpu_memory_peak_bytes: z.number().optional(),
  incidents: z.array(z.object({ id: z.string(), kind: z.string(), title: z.string() })),
})
export const job = z.looseObject({ job_id: z.string(), job: z.string(), runs: z.number(), running: z.number(), last: run })
export const progress = z.looseObject({
  job: z.string(),
  progress_ratio: z.number().optional(),
  step: z.number().optional(),
  steps: z.number().optional(),
  eta_seconds: z.number().optional(),
  loss: z.number().optional(),
})
const remedy = z.object({ text: z.string(), command: z.string().optional() })
const subject = z.looseObject({
  gpu: z.looseObject({ index: z.number().optional() }).optional(),
  container: z.looseObject({ name: z.string() }).optional(),
  process: z.looseObject({ pid: z.number(), name: z.string().optional() }).optional(),
  host: z.looseObject({ name: z.string() }).optional(),
})
export const incident = z.looseObject({
  id: z.string(),
  kind: z.string(),
  severity: z.string(),
  status: z.string(),
  title: z.string(),
  verdict: z.string(),
  confidence: z.string().optional(),
  started_at: z.number(),
  last_seen_at: z.number(),
  count: z.number(),
  subject,
  facts: z.record(z.string(), z.unknown()),
  remedies: z.array(remedy),
  part_of: z.object({ id: z.string(), kind: z.string() }).optional(),
  evidence: z.looseObject({ log_lines: z.array(z.looseObject({ t: z.number(), stream: z.string(), text: z.string() })) }),
})
export const server = z.looseObject({
  name: z.string(),
  server: z.string(),
  version: z.string().optional(),
  model: z.string().optional(),
  state: z.string().optional(),
  gpu: z.string().optional(),
  requests_running: z.number().optional(),
  requests_waiting: z.number().optional(),
  kv_cache_usage_ratio: z.number().optional(),
  tokens_rate: figures.optional(),
  time_to_first_token_seconds: figures.optional(),
})
export const series = z.looseObject({
  metric: z.string(),
  labels: z.record(z.string(), z.string()),
  t: z.array(z.number()),
  min: z.array(z.number().nullable()),
  mean: z.array(z.number().nullable()),
  max: z.array(z.number().nullable()),
})
export const doctor = z.looseObject({
  status: z.string(),
  counts: figures,
  checks: z.array(
    z.looseObject({
      id: z.string(),
      title: z.string(),
      status: z.string(),
      findings: z.array(z.looseObject({ status: z.string(), subject: z.string().optional(), summary: z.string(), remedies: z.array(remedy).optional() })),
    }),
  ),
})
export const host = z.looseObject({ hostname: z.string() })

/** Asks for rows; those of another shape are an older or newer agent's, and the answer says so. */
export async function rowsOf<T extends z.ZodType>(ask: Ask, path: string, row: T): Promise<readonly z.infer<T>[]> {
  const parsed = z.array(row).safeParse(await ask(path))
  if (!parsed.success) throw new Error(`${path}: the agent answered in a form that this version does not know`)
  return parsed.data
}
