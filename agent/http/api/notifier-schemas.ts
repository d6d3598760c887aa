// What the API answers about notifiers, as zod schemas; loaded with the description of the API only.
import * as z from 'zod'
import { INCIDENT_KINDS } from '../../model/kinds.ts'

const time = z.int().min(0).describe('Unix ms.')
const count = z.int().min(0)

export const notifierRow = z
  .object({
    name: z.string(),
    type: z.string(),
    host: z.string().describe('Where it sends to; never the whole URL.'),
    status: z.enum(['ok', 'retrying', 'failing']),
    waiting: count.describe('Notifications that have not been delivered yet.'),
    oldest_waiting_at: time.optional(),
    delivered: count,
    failed_tries: count,
    expired: count.describe('Too old before it could be delivered.'),
    set_aside: count.describe('Refused by the receiver; kept for POST /api/v1/notifiers/NAME/retry.'),
    last_delivered_at: time.optional(),
    last_error: z.object({ at: time, text: z.string() }).optional(),
    next_try_at: time.optional(),
  })
  .meta({ id: 'Notifier' })

export const notifierTest = z
  .object({
    notifier: z.string(),
    host: z.string(),
    result: z.enum(['delivered', 'retry', 'rejected', 'unusable']),
    status: z.int().optional().describe("The receiver's HTTP status."),
    took_ms: z.number().min(0),
    why: z.string().optional(),
  })
  .meta({ id: 'NotifierTest' })

export const testWanted = z.strictObject({ kind: z.enum(INCIDENT_KINDS).optional() }).meta({ id: 'NotifierTestWanted' })
export const retried = z.object({ notifier: z.string(), retried: count }).meta({ id: 'NotifierRetried' })
