// The OTLP sink: the present as metrics each interval, incidents as log records, to one receiver or one each. The agent never waits for it.
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { ProtobufLogsSerializer, ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer'
import type { ProxyFor } from '../../lib/proxy.ts'
import type { Sink, TakesIncidents, TakesTicks } from '../../model/sink.ts'
import type { Log } from '../../model/source.ts'
import type { LatestStore } from '../../store/latest.ts'
import { messageOf } from '../../text/error.ts'
import { createIncidentQueue } from './incident-queue.ts'
import { createHttpTransport } from './http.ts'
import { createMetricsCollector, serializeMetrics } from './metrics.ts'
import { createOutlet, type OutletCounts, type Parcel, type Refusal } from './outlet.ts'
import { recordOf } from './records.ts'
import { createResource, type ResourceOptions } from './resource.ts'
import { signalSettings, type OtlpSettings, type SignalSettings } from './settings.ts'
import type { Signal, Transport, TransportOptions } from './transport.ts'

export type OtlpSinkOptions = {
  readonly settings: OtlpSettings
  /** Without it: what the environment says. */
  readonly proxyFor?: ProxyFor
  readonly resource: ResourceOptions
  readonly latest: Pick<LatestStore, 'groups' | 'inventory'>
  /** Ids of incidents that fired before this start. */
  readonly known: Iterable<string>
  readonly log: Log
}
export type OtlpSink = Sink &
  TakesTicks &
  TakesIncidents & {
    readonly counts: () => Readonly<Record<'metrics' | 'incidents', OutletCounts>>
  }

const RECORDS_A_REQUEST = 100
/** For what still waits when the agent stops. */
const LAST_WORDS_MS = 2_000

/** Of a signal that is not sent: nothing is ever handed to it. */
const NOWHERE: Transport = { send: async () => ({ result: 'rejected', why: 'no endpoint' }), close: () => {} }

async function transportFor(signal: Signal, found: SignalSettings | undefined, proxyFor?: ProxyFor): Promise<Transport> {
  if (found === undefined) return NOWHERE
  const { protocol, caFile, caKey, ...rest } = found
  let ca: Buffer | undefined
  try {
    if (caFile !== '') ca = readFileSync(caFile)
  } catch (error) {
    throw new Error(`${caKey}: cannot read the CA certificates: ${messageOf(error)}`, { cause: error })
  }
  const options: TransportOptions = { signal, ...rest, ...(ca === undefined ? {} : { ca }), ...(proxyFor === undefined ? {} : { proxyFor }) }
  if (protocol === 'http/protobuf') return createHttpTransport(options)
  const { createGrpcTransport } = await import('./grpc.ts')
  return createGrpcTransport(options)
}

/** What cannot be read is no partial success: whoever answers 200 with a page of HTML is still no reason to fail. */
function refusalOf(read: () => { readonly items?: number | undefined; readonly words?: string | undefined } | undefined): Refusal | undefined {
  try {
    const { items = 0, words = '' } = read() ?? {}
    return items === 0 && words === '' ? undefined : { items, words }
  } catch {
    return undefined
  }
}

/** Throws when the settings cannot be used; a receiver that is not there is none of these. */
export async function createOtlpSink({ settings, proxyFor, resource: about, latest, known, log }: OtlpSinkOptions): Promise<OtlpSink> {
  const to = { metrics: signalSettings(settings, 'metrics'), logs: signalSettings(settings, 'logs') }
  const transports = { metrics: await transportFor('metrics', to.metrics, proxyFor), logs: await transportFor('logs', to.logs, proxyFor) }
  const sent = { metrics: settings.metrics && to.metrics !== undefined, incidents: settings.incidents && to.logs !== undefined }
  const resource = createResource(about)
  const collector = createMetricsCollector(latest, resource)
  const queue = createIncidentQueue(known)
  let dueAt: number | undefined
  /** An export that was due and has not been delivered. It is not kept: the next one carries the whole present again. */
  let owed = false
  let missed = 0
  let rejectedRecords = 0

  const schedule = (t: number): void => {
    const { interval_ms: interval } = settings
    const late = dueAt === undefined ? 0 : t - dueAt
    // A clock that was set back must not silence it.
    if (dueAt !== undefined && late < 0 && late >= -interval) return
    if (owed) missed += 1
    owed = true
    dueAt = late >= 0 && late < interval ? t - late + interval : t + interval
  }
  const nextMetrics = (t: number): Parcel | undefined => {
    if (!owed) return undefined
    const { resources, points, delivered } = collector.collect(t)
    if (points === 0) {
      owed = false
      return undefined
    }
    return {
      request: serializeMetrics(resources),
      delivered() {
        owed = false
        delivered()
      },
      failed(again) {
        if (again) return
        owed = false
        missed += 1
      },
    }
  }
  const nextRecords = (t: number): Parcel | undefined => {
    const taken = queue.take(RECORDS_A_REQUEST)
    if (taken.length === 0) return undefined
    const records = taken.map(({ incident, event }) => recordOf(incident, event, resource, t))
    return {
      request: ProtobufLogsSerializer.serializeRequest(records) ?? new Uint8Array(),
      delivered: () => {},
      failed(again) {
        if (again) queue.putBack(taken)
        else rejectedRecords += taken.length
      },
    }
  }
  const metrics = createOutlet({
    what: 'metrics',
    to: to.metrics?.url.host ?? '',
    transport: transports.metrics,
    next: nextMetrics,
    refusalOf: (answer) =>
      refusalOf(() => {
        const { partialSuccess } = ProtobufMetricsSerializer.deserializeResponse(answer)
        return { items: partialSuccess?.rejectedDataPoints, words: partialSuccess?.errorMessage }
      }),
    log,
  })
  const incidents = createOutlet({
    what: 'incidents',
    to: to.logs?.url.host ?? '',
    transport: transports.logs,
    next: nextRecords,
    refusalOf: (answer) =>
      refusalOf(() => {
        const { partialSuccess } = ProtobufLogsSerializer.deserializeResponse(answer)
        return { items: partialSuccess?.rejectedLogRecords, words: partialSuccess?.errorMessage }
      }),
    log,
  })

  const lastWords = async (): Promise<void> => {
    await incidents.idle()
    incidents.maintain(Date.now())
    await incidents.idle()
  }
  return {
    name: 'otlp',
    tick(t) {
      if (sent.metrics) {
        schedule(t)
        metrics.maintain(t)
      }
      incidents.maintain(t)
    },
    incident(incident) {
      if (sent.incidents) queue.put(incident)
    },
    dropped: () => missed + rejectedRecords + queue.dropped(),
    counts: () => ({ metrics: metrics.counts(), incidents: incidents.counts() }),
    async close() {
      const given = new AbortController()
      await Promise.race([lastWords(), delay(LAST_WORDS_MS, undefined, { signal: given.signal }).catch(() => undefined)])
      given.abort()
      transports.metrics.close()
      transports.logs.close()
    },
  }
}
