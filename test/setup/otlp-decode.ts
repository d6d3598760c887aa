// Takes OTLP requests apart by test/setup/otlp.proto, and puts a receiver's answers together.
import { join } from 'node:path'
import protobuf from 'protobufjs'
import * as z from 'zod'

const root = protobuf.loadSync(join(import.meta.dirname, 'otlp.proto'))

function decode(type: string, bytes: Uint8Array): unknown {
  const found = root.lookupType(`otlp.${type}`)
  return found.toObject(found.decode(bytes), { longs: String, enums: String, defaults: false })
}
/** Fields have the names of protobufjs: in camel case. */
export function encode(type: string, message: Readonly<Record<string, unknown>>): Buffer {
  const found = root.lookupType(`otlp.${type}`)
  const problem = found.verify(message)
  if (problem !== null) throw new Error(`${type}: ${problem}`)
  return Buffer.from(found.encode(found.create(message)).finish())
}

type Fields = Readonly<Record<string, unknown>>
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)
const listIn = (value: unknown): readonly unknown[] => {
  const values = isFields(value) ? (value['values'] ?? []) : undefined
  if (!Array.isArray(values)) throw new Error(`expected a list of values, came ${JSON.stringify(value)}`)
  return values
}
/** Whole numbers are bigints, so that an int is told from a double. */
function valueOf(any: unknown): unknown {
  if (!isFields(any)) throw new Error(`expected a value, came ${JSON.stringify(any)}`)
  const [[kind, value] = [], ...others] = Object.entries(any)
  if (others.length > 0) throw new Error('a value: expected one kind, came several')
  if (kind === 'intValue') return BigInt(String(value))
  if (kind === 'arrayValue') return listIn(value).map(valueOf)
  return kind === 'kvlistValue' ? attributesFrom(listIn(value)) : value
}
/** By hand, as a minute of requests holds half a million of them. A key that comes twice is an error. */
function attributesFrom(pairs: readonly unknown[]): Fields {
  const found: Record<string, unknown> = {}
  for (const pair of pairs) {
    if (!isFields(pair) || typeof pair['key'] !== 'string') throw new Error(`expected a key and a value, came ${JSON.stringify(pair)}`)
    if (pair['key'] in found) throw new Error(`attribute ${pair['key']}: comes twice`)
    found[pair['key']] = valueOf(pair['value'])
  }
  return found
}
const anyValue = z.unknown().transform(valueOf)
const keyValues = z.array(z.unknown()).default([]).transform(attributesFrom)
const nanos = z.string().default('0').transform(BigInt)
const about = { droppedAttributesCount: z.number().optional(), attributes: keyValues }
const scope = z.strictObject({ name: z.string(), version: z.string(), ...about })
const point = z.strictObject({
  attributes: keyValues,
  startTimeUnixNano: nanos,
  timeUnixNano: nanos,
  asDouble: z.number().optional(),
  asInt: z.string().optional(),
  flags: z.number().optional(),
})
const points = z.array(point).min(1)
const histogramPoint = z.strictObject({
  attributes: keyValues,
  startTimeUnixNano: nanos,
  timeUnixNano: nanos,
  count: z.coerce.number(),
  sum: z.number().optional(),
  bucketCounts: z.array(z.coerce.number()),
  explicitBounds: z.array(z.number()).default([]),
})
const metric = z.strictObject({
  name: z.string(),
  description: z.string().default(''),
  unit: z.string().default(''),
  gauge: z.strictObject({ dataPoints: points }).optional(),
  sum: z.strictObject({ dataPoints: points, aggregationTemporality: z.string(), isMonotonic: z.boolean().default(false) }).optional(),
  histogram: z.strictObject({ dataPoints: z.array(histogramPoint).min(1), aggregationTemporality: z.literal('CUMULATIVE') }).optional(),
})
const schemaUrl = z.string().default('')
/** The agent's own resource, then one for each container; each has the one scope. */
const resourceMetrics = z.strictObject({
  resource: z.strictObject(about),
  schemaUrl,
  scopeMetrics: z.tuple([z.strictObject({ scope, schemaUrl, metrics: z.array(metric).default([]) })]),
})
const metricsRequest = z.strictObject({ resourceMetrics: z.array(resourceMetrics).min(1) })
const logRecord = z.strictObject({
  timeUnixNano: nanos,
  observedTimeUnixNano: nanos,
  severityNumber: z.number(),
  severityText: z.string(),
  body: anyValue,
  eventName: z.string(),
  attributes: keyValues,
  droppedAttributesCount: z.literal(0),
})
const logsRequest = z.strictObject({
  resourceLogs: z.tuple([
    z.strictObject({
      resource: z.strictObject(about),
      schemaUrl,
      scopeLogs: z.tuple([z.strictObject({ scope, schemaUrl, logRecords: z.array(logRecord).min(1) })]),
    }),
  ]),
})

export type Attributes = Readonly<Record<string, unknown>>
export type SentPoint = {
  readonly attributes: Attributes
  /** Nanoseconds; 0n: none. */
  readonly start: bigint
  readonly time: bigint
  readonly value: number
  readonly whole: boolean
}
export type SentMetric = {
  readonly name: string
  readonly unit: string
  readonly description: string
  readonly instrument: 'gauge' | 'counter' | 'updowncounter' | 'histogram'
  readonly points: readonly SentPoint[]
  /** Of a histogram, which has no other points. */
  readonly histograms: readonly z.infer<typeof histogramPoint>[]
}
export type SentMetrics = {
  readonly resource: Attributes
  readonly schemaUrl: string
  readonly scope: { readonly name: string; readonly version: string }
  readonly metrics: readonly SentMetric[]
  readonly containers: readonly { readonly resource: Attributes; readonly metrics: readonly SentMetric[] }[]
}
export type SentRecord = z.infer<typeof logRecord>
export type SentLogs = { readonly resource: Attributes; readonly records: readonly SentRecord[] }

function pointOf({ attributes, startTimeUnixNano, timeUnixNano, asDouble, asInt }: z.infer<typeof point>): SentPoint {
  if ((asDouble === undefined) === (asInt === undefined)) throw new Error('a point: expected one value, an int or a double')
  return { attributes, start: startTimeUnixNano, time: timeUnixNano, value: asDouble ?? Number(asInt), whole: asInt !== undefined }
}
function metricOf({ name, unit, description, gauge, sum, histogram }: z.infer<typeof metric>): SentMetric {
  if (histogram !== undefined) return { name, unit, description, instrument: 'histogram', points: [], histograms: histogram.dataPoints }
  if ((gauge === undefined) === (sum === undefined)) throw new Error(`${name}: expected a gauge or a sum`)
  if (sum !== undefined && sum.aggregationTemporality !== 'CUMULATIVE')
    throw new Error(`${name}: expected a cumulative sum, came ${sum.aggregationTemporality}`)
  const instrument = sum === undefined ? 'gauge' : sum.isMonotonic ? 'counter' : 'updowncounter'
  return { name, unit, description, instrument, points: (gauge ?? sum)?.dataPoints.map(pointOf) ?? [], histograms: [] }
}

export function decodeMetrics(bytes: Uint8Array): SentMetrics {
  const [first, ...others] = metricsRequest.parse(decode('MetricsRequest', bytes)).resourceMetrics.map((one) => {
    const [inner] = one.scopeMetrics
    if (inner.schemaUrl !== one.schemaUrl) throw new Error('expected the schema of the resource on its scope')
    const { name, version } = inner.scope
    return { resource: one.resource.attributes, schemaUrl: one.schemaUrl, scope: { name, version }, metrics: inner.metrics.map(metricOf) }
  })
  if (first === undefined) throw new Error('expected a resource, came none')
  return { ...first, containers: others.map(({ resource, metrics }) => ({ resource, metrics })) }
}
export function decodeLogs(bytes: Uint8Array): SentLogs {
  const [{ resource, scopeLogs }] = logsRequest.parse(decode('LogsRequest', bytes)).resourceLogs
  return { resource: resource.attributes, records: scopeLogs[0].logRecords }
}
