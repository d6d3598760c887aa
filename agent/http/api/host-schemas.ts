// What /api/v1/summary and /api/v1/hosts answer, as zod schemas.
import * as z from 'zod'
import { SEVERITIES } from '../../model/severity.ts'

const count = z.int().min(0)
const amount = z.number().min(0)

export const hostSummary = z
  .object({
    host: z.string(),
    t: count,
    version: z.string(),
    simulated: z.boolean(),
    gpus: count,
    memory_used_bytes: amount,
    memory_total_bytes: amount,
    utilization_ratio: amount.optional().describe('Mean over the GPUs that say it.'),
    power_watts: amount.optional(),
    silent: z.array(count).describe('Indexes of GPUs that do not answer.'),
    jobs_running: count,
    firing: z.record(z.enum(SEVERITIES), count).describe('Incidents that fire and are not silenced.'),
    worst: z.object({ id: z.string(), kind: z.string(), severity: z.enum(SEVERITIES), title: z.string(), started_at: count }).optional(),
  })
  .meta({ id: 'HostSummary', description: 'A host in one row.' })

export const hostEntry = z
  .object({
    name: z.string(),
    self: z.literal(true).optional().describe('The host that answers this.'),
    summary: hostSummary.optional().describe('The last that it said.'),
    seen_at: count.optional(),
    problem: z.string().optional().describe('Why it does not answer now.'),
  })
  .meta({ id: 'HostEntry' })
