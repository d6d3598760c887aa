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

/** A group of keys, or a text of pairs: so that all of it can be in a variable or a file. */
function pairs(about: { readonly expected: string; readonly description: string; readonly valid: (name: string, value: string) => boolean }): Field<Texts> {
  const group = z.record(z.string(), scalar)
  const written = z.pipe(
    z.string().check(z.refine((list) => pairsOf(list) !== undefined)),
    z.transform((list: string): Record<string, string> => ({ ...pairsOf(list) })),
  )
  const schema = z.union([group, written]).check(z.refine((found) => Object.entries(found).every(([name, value]) => about.valid(name, value))))
  return { kind: 'parts', schema, default: {}, secret: false, expected: about.expected, description: about.description }
}

const endpoint = (description: string, expected: string): Field<string> => ({
  ...httpUrl({ default: '', empty: true, secret: true, expected, description }),
  shown: (value) => (value === '' ? '' : shownUrl(value)),
})
const headers = (description: string): Field<Texts> => ({
  ...pairs({ valid: isHeader, expected: 'header names and their values, or NAME=VALUE,NAME=VALUE', description }),
  secret: true,
  shown: (found) => Object.fromEntries(Object.keys(found).map((name) => [name, HIDDEN])),
})
const TIMEOUT = { min: 100, max: 60_000 }

const WHOLE_URL = 'a URL such as https://collector.example.com/v1/metrics'
/** Of one signal alone. */
const ownProtocol = choice(['same', 'http/protobuf', 'grpc'], { default: 'same', description: 'Protocol of this signal; same = as protocol says.' })
const ownCompression = choice(['same', 'gzip', 'none'], { default: 'same', description: 'Compression of this signal; same = as compression says.' })
const ownTimeout = wholeNumber({
  default: 0,
  min: 0,
  max: TIMEOUT.max,
  description: 'Timeout of the whole answer; 0 = as timeout_ms says.',
})
const ownCa = text({ default: '', description: 'PEM file of trusted certificates; empty = as ca_file says.' })

export const otlp = {
  description: 'Export metrics and incidents to an OpenTelemetry collector or any other OTLP receiver (docs/otlp.md).',
  fields: {
    endpoint: endpoint(
      'Where to; empty = nowhere. For http/protobuf /v1/metrics and /v1/logs are put behind it. http:// is without TLS.',
      'a URL such as http://collector:4318 (http/protobuf) or https://collector:4317 (grpc)',
    ),
    protocol: choice(['http/protobuf', 'grpc'], { default: 'http/protobuf', description: 'Protocol; the usual ports are 4318 (HTTP) and 4317 (gRPC).' }),
    headers: headers(
      'Sent with each request, such as {Authorization: "Bearer TOKEN"}. {file: PATH} and {env: NAME} take all of them from there as NAME=VALUE,NAME=VALUE.',
    ),
    compression: choice(['gzip', 'none'], { default: 'gzip', description: 'Of what is sent.' }),
    interval_ms: wholeNumber({ default: 60_000, min: 1_000, max: 3_600_000, description: 'Time between two exports of metrics. Incidents are sent at once.' }),
    timeout_ms: wholeNumber({ default: 10_000, ...TIMEOUT, description: 'Timeout of the whole answer.' }),
    ca_file: text({ default: '', description: "PEM file of the certificates that are believed; empty = the system's." }),
    metrics: onOff({ default: true, description: 'Send metrics.' }),
    incidents: onOff({ default: true, description: 'Send incidents, as log records.' }),
    resource_attributes: pairs({
      valid: (name) => /^[A-Za-z][\w.-]{0,254}$/.test(name),
      expected: 'attribute names and their values, or NAME=VALUE,NAME=VALUE',
      description: 'Resource attributes beside host.name, host.id and service.*; values set here take precedence.',
    }),
    metrics_endpoint: endpoint('Where metrics go in place of endpoint, used as it is; empty = as endpoint says.', WHOLE_URL),
    metrics_protocol: ownProtocol,
    metrics_headers: headers('Sent with metrics in place of headers; empty = those.'),
    metrics_compression: ownCompression,
    metrics_timeout_ms: ownTimeout,
    metrics_ca_file: ownCa,
    logs_endpoint: endpoint('Where incidents go in place of endpoint, used as it is; empty = as endpoint says.', WHOLE_URL),
    logs_protocol: ownProtocol,
    logs_headers: headers('Sent with incidents in place of headers; empty = those.'),
    logs_compression: ownCompression,
    logs_timeout_ms: ownTimeout,
    logs_ca_file: ownCa,
  },
}
