// What people may send: silences, and a word about an incident. Loaded with the first of them, as zod costs a dashboard's first look 12 MiB.
import * as z from 'zod'
import { SEVERITIES } from '../../model/severity.ts'
import { INCIDENT_KINDS } from '../../model/kinds.ts'
import type { NewSilence, SilenceScope, Word } from '../../model/maintenance.ts'

/** A year: what is silent for longer should not be watched. */
export const MAX_SILENCE_MS = 366 * 24 * 3_600_000
const time = z.int().min(0).describe('Unix ms.')
const who = z.string().trim().min(1).max(100)
const name = z.string().trim().min(1).max(256)

const scope = {
  kind: z.enum(INCIDENT_KINDS).optional(),
  gpu: name.describe('Index or UUID.').optional(),
  container: name.describe('Name or id.').optional(),
  severity: z.enum(SEVERITIES).optional(),
}
export const silence = z
  .object({ id: z.string(), ...scope, created_at: time, until: time, reason: z.string(), by: z.string().optional() })
  .meta({ id: 'Silence', description: 'Incidents that match all given parts are silenced until then.' })
export const newSilence = z
  .strictObject({
    ...scope,
    all: z.literal(true).describe('The whole host; needed where neither kind, gpu, container nor severity is given.').optional(),
    until: time.optional(),
    for_ms: z.int().min(1_000).max(MAX_SILENCE_MS).describe('Instead of until.').optional(),
    reason: z.string().trim().min(1).max(500),
    by: who.optional(),
  })
  .meta({ id: 'NewSilence' })
export const word = z.strictObject({ by: who.optional(), note: z.string().trim().min(1).max(500).optional() }).meta({ id: 'Word' })

export type Parsed<T> = { readonly value: T } | { readonly problem: string }

function parsed<T>(schema: z.ZodType<T>, text: string): Parsed<T> {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (error) {
    return { problem: `body: this is no JSON: ${error instanceof Error ? error.message.slice(0, 100) : 'it cannot be read'}` }
  }
  const result = schema.safeParse(body)
  if (result.success) return { value: result.data }
  return { problem: result.error.issues.map(({ path, message }) => `${path.length === 0 ? 'body' : path.join('.')}: ${message}`.slice(0, 300)).join('; ') }
}

export function parseSilence(text: string, now: number): Parsed<NewSilence> {
  const found = parsed(newSilence, text)
  if ('problem' in found) return found
  const { all, until, for_ms: forMs, reason, by, kind, gpu, container, severity } = found.value
  const asked: SilenceScope = {
    ...(kind === undefined ? {} : { kind }),
    ...(gpu === undefined ? {} : { gpu }),
    ...(container === undefined ? {} : { container }),
    ...(severity === undefined ? {} : { severity }),
  }
  const parts = Object.keys(asked).length
  if (parts === 0 && all === undefined)
    return { problem: 'what to silence is missing: give kind, gpu, container or severity, or "all": true for the whole host' }
  if (parts > 0 && all !== undefined) return { problem: `"all" and ${Object.keys(asked).join(', ')} exclude each other: leave out one` }
  if ((until === undefined) === (forMs === undefined))
    return { problem: `${until === undefined ? 'the end is missing' : 'until and for_ms exclude each other'}: give until or for_ms` }
  const end = until ?? now + (forMs ?? 0)
  if (end <= now || end > now + MAX_SILENCE_MS) return { problem: `until: must be a time in the next 366 days, not ${end} (now ${now})` }
  return { value: { ...asked, until: end, reason, ...(by === undefined ? {} : { by }) } }
}

export function parseWord(text: string): Parsed<Word> {
  const found = parsed(word, text === '' ? '{}' : text)
  if ('problem' in found) return found
  const { by, note } = found.value
  return { value: { ...(by === undefined ? {} : { by }), ...(note === undefined ? {} : { note }) } }
}
