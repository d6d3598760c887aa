// Metrics and incidents to a receiver of OpenTelemetry's protocol.
import * as z from 'zod/mini'
import { HIDDEN, shownUrl } from '../../lib/shown-url.ts'
import { choice, httpUrl, onOff, text, wholeNumber, type Field } from '../field.ts'
import { isHeader } from './targets.ts'

type Texts = Readonly<Record<string, string>>

/** `NAME=VALUE,NAME=VALUE` with percent-encoded values, as OpenTelemetry's variables have it; undefined when it is none. */
function pairsOf(list: string): Texts | undefined {
  const pairs: Record<string, string> = {}
  for (const part of list.split(',')) {
    if (part.trim() === '') continue
    const [, name = '', value = ''] = /^\s*([^\s=]+)\s*=(.*)$/.exec(part) ?? []
    if (name === '') return undefined
    try {
      pairs[name] = decodeURIComponent(value.trim())
    } catch {
      return undefined
    }
  }
  return pairs
}

const scalar = z.pipe(z.union([z.string(), z.number(), z.boolean()]), z.transform(String))

/** A group of keys, or a text of pairs: so that all of it can stand in a variable or a file. */
function pairs(about: { readonly expected: string; readonly description: string; readonly valid: (name: string, value: string) => boolean }): Field<Texts> {
  const group = z.record(z.string(), scalar)
  const written = z.pipe(
    z.string().check(z.refine((list) => pairsOf(list) !== undefined)),
    z.transform((list: string): Record<string, string> => ({ ...pairsOf(list) })),
  )
  const schema = z.union([group, written]).check(z.refine((found) => Object.entries(found).every(([name, value]) => about.valid(name, value))))
  return { kind: 'parts', schema, default: {}, secret: false, expected: about.expected, description: about.description }
}

const endpoint: Field<string> = {
  ...httpUrl({
    default: '',
    empty: true,
    secret: true,
    expected: 'a URL such as http://collector:4318 (http/protobuf) or https://collector:4317 (grpc)',
    description: 'Where to; empty = nowhere. For http/protobuf /v1/metrics and /v1/logs are put behind it. http:// is without TLS.',
  }),
  shown: (value) => (value === '' ? '' : shownUrl(value)),
}
const headers: Field<Texts> = {
  ...pairs({
    valid: isHeader,
    expected: 'header names and their values, or NAME=VALUE,NAME=VALUE',
    description:
      'Sent with each request, such as {Authorization: "Bearer TOKEN"}. {file: PATH} and {env: NAME} take all of them from there as NAME=VALUE,NAME=VALUE.',
  }),
  secret: true,
  shown: (found) => Object.fromEntries(Object.keys(found).map((name) => [name, HIDDEN])),
}

export const otlp = {
  description: 'Metrics and incidents to an OpenTelemetry collector, or whoever else speaks OTLP (docs/otlp.md).',
  fields: {
    endpoint,
    protocol: choice(['http/protobuf', 'grpc'], { default: 'http/protobuf', description: 'How; the port differs, as a rule 4318 and 4317.' }),
    headers,
    compression: choice(['gzip', 'none'], { default: 'gzip', description: 'Of what is sent.' }),
    interval_ms: wholeNumber({ default: 60_000, min: 1_000, max: 3_600_000, description: 'How often metrics are sent. Incidents are sent at once.' }),
    timeout_ms: wholeNumber({ default: 10_000, min: 100, max: 60_000, description: 'The whole answer must be there within this time.' }),
    ca_file: text({ default: '', description: "PEM file of the certificates that are believed; empty = the system's." }),
    metrics: onOff({ default: true, description: 'Send metrics.' }),
    incidents: onOff({ default: true, description: 'Send incidents, as log records.' }),
    resource_attributes: pairs({
      valid: (name) => /^[A-Za-z][\w.-]{0,254}$/.test(name),
      expected: 'attribute names and their values, or NAME=VALUE,NAME=VALUE',
      description: 'Who speaks, beside host.name, host.id and service.*; what is set here goes before those.',
    }),
  },
}
