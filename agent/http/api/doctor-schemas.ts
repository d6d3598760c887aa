// Schemas of the doctor's report, for the description of the API and its tests.
import * as z from 'zod'
import { CHECK_GROUPS, CHECK_STATUSES } from '../../model/doctor.ts'

const status = z.enum(CHECK_STATUSES).describe('fail: broken; warn: odd; skipped: there was nothing to look at, or it could not be seen.')
const remedy = z.strictObject({ text: z.string(), command: z.string().optional() })
const finding = z.strictObject({
  status,
  subject: z.string().optional().describe('The container, GPU, file or service that it is about; absent: the host.'),
  summary: z.string(),
  detail: z.string().optional(),
  remedies: z.array(remedy).optional(),
  notice: z.literal(true).describe('Passed, and yet to be known.').optional(),
})
const check = z.strictObject({
  id: z.string(),
  group: z.enum(CHECK_GROUPS),
  title: z.string().describe('Ends "checks that …".'),
  status,
  duration_ms: z.int().min(0),
  findings: z.array(finding),
})
export const doctorReport = z
  .strictObject({
    version: z.literal(1),
    t: z.int().min(0),
    host: z.string(),
    status: status.describe('The worst of all checks.'),
    counts: z.strictObject({ pass: z.int(), warn: z.int(), fail: z.int(), skipped: z.int() }),
    checks: z.array(check),
    duration_ms: z.int().min(0),
  })
  .meta({ id: 'DoctorReport' })
