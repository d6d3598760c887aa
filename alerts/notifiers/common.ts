// What all notifiers have: the options beside those of their type, and the small parts that their options share.
import { httpUrl, text, texts, wholeNumber, type Field, type Fields, type ValuesOf } from '../../agent/config/field.ts'
import { isHeader } from '../../agent/config/sections/targets.ts'

const DAY_MS = 24 * 3_600_000

export const commonOptions = {
  name: text({
    default: '',
    // It is in metrics, in commands and in the path of the API.
    pattern: /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/,
    expected: 'a name of at most 63 letters, digits and _ . -, a letter or digit first',
    description: 'How routes, commands and metrics call it.',
  }),
  type: text({ default: '', expected: 'a type of notifier', description: 'What is spoken to the receiver.' }),
  timeout_ms: wholeNumber({ default: 10_000, min: 100, max: 120_000, description: 'The whole answer must be there within this time, else it is tried again.' }),
  max_messages_per_minute: wholeNumber({
    default: 20,
    min: 0,
    max: 6_000,
    description: 'What is beyond waits and goes together into later messages; 0: no limit.',
  }),
  expire_ms: wholeNumber({
    default: 3 * DAY_MS,
    min: 60_000,
    max: 30 * DAY_MS,
    description: 'What could not be delivered for so long is counted, mentioned in the next message, and dropped.',
  }),
  ca_file: text({ default: '', expected: 'a path', description: 'PEM file with the certificates of a private authority that the receiver is trusted by.' }),
} as const satisfies Fields
export type CommonOptions = ValuesOf<typeof commonOptions>

/** A receiver's URL holds what it takes to write there, so all of it but the host is secret. */
export const receiverUrl = (description: string, example: string, { optional = false }: { readonly optional?: boolean } = {}): Field<string> =>
  httpUrl({ default: '', empty: optional, secret: true, expected: `a URL such as ${example}`, description })
export const secretText = (description: string): Field<string> => text({ default: '', secret: true, description })

export function headersOption(): Field<Readonly<Record<string, string>>> {
  return texts({ default: {}, secret: true, valid: isHeader, expected: 'header names and their values', description: 'Headers sent with each request.' })
}

export type OptionProblem = { readonly option: string; readonly text: string }
/** Of every request; the connection's own are Node's. */
const NOT_THE_USERS = ['content-type', 'content-length', 'host', 'connection', 'transfer-encoding', 'idempotency-key']

/** Two headers of one name would be one too many. */
export function headerProblems(headers: Readonly<Record<string, string>>, own: readonly string[] = []): readonly OptionProblem[] {
  const taken = new Set([...NOT_THE_USERS, ...own])
  return Object.keys(headers)
    .filter((name) => taken.has(name.toLowerCase()))
    .map((name) => ({ option: 'headers', text: `${name} is set by Warpwatch itself: leave it out` }))
}

/** All that people may be shown of a receiver's URL. */
export const hostOf = (url: string): string => new URL(url).host
