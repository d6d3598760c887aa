// Where each signal goes and how: what is set for one signal alone, else what holds for both.
import type { Signal } from './transport.ts'

type Protocol = 'http/protobuf' | 'grpc'
type Compression = 'gzip' | 'none'
type Headers = Readonly<Record<string, string>>

/** `otlp` in the configuration. */
export type OtlpSettings = {
  readonly endpoint: string
  readonly protocol: Protocol
  readonly headers: Headers
  readonly compression: Compression
  readonly interval_ms: number
  readonly timeout_ms: number
  readonly ca_file: string
  readonly metrics: boolean
  readonly incidents: boolean
} & {
  readonly [S in Signal as `${S}_endpoint`]?: string
} & {
  readonly [S in Signal as `${S}_protocol`]?: Protocol | 'same'
} & {
  readonly [S in Signal as `${S}_headers`]?: Headers
} & {
  readonly [S in Signal as `${S}_compression`]?: Compression | 'same'
} & {
  readonly [S in Signal as `${S}_timeout_ms`]?: number
} & {
  readonly [S in Signal as `${S}_ca_file`]?: string
}

export type SignalSettings = {
  /** Of http/protobuf the whole URL of the request. */
  readonly url: URL
  readonly protocol: Protocol
  readonly headers: Headers
  readonly compression: Compression
  readonly timeoutMs: number
  readonly caFile: string
  /** The key of the configuration that named the file. */
  readonly caKey: string
}

const ofOne = <T extends string>(own: T | 'same' | undefined, common: T): T => (own === undefined || own === 'same' ? common : own)

/** A signal's own endpoint is used as it is, the common one gets the signal's path behind its own. undefined: the signal goes nowhere. */
function urlOf(settings: OtlpSettings, signal: Signal): URL | undefined {
  const own = settings[`${signal}_endpoint`] ?? ''
  if (own !== '') return new URL(own)
  if (settings.endpoint === '') return undefined
  const url = new URL(settings.endpoint)
  url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/${signal}`
  return url
}

export function signalSettings(settings: OtlpSettings, signal: Signal): SignalSettings | undefined {
  const url = urlOf(settings, signal)
  if (url === undefined) return undefined
  const headers = settings[`${signal}_headers`] ?? {}
  const caFile = settings[`${signal}_ca_file`] ?? ''
  return {
    url,
    protocol: ofOne(settings[`${signal}_protocol`], settings.protocol),
    headers: Object.keys(headers).length > 0 ? headers : settings.headers,
    compression: ofOne(settings[`${signal}_compression`], settings.compression),
    timeoutMs: settings[`${signal}_timeout_ms`] || settings.timeout_ms,
    caFile: caFile === '' ? settings.ca_file : caFile,
    caKey: caFile === '' ? 'otlp.ca_file' : `otlp.${signal}_ca_file`,
  }
}
