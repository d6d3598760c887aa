// The standard variables of OpenTelemetry's exporters as settings of `otlp`: where nothing else says where to send.
// Their meaning: opentelemetry.io/docs/specs/otel/protocol/exporter and …/configuration/sdk-environment-variables (read in November 2026).
import type { Setting } from './setting.ts'

/** Of both signals, or of one alone, which goes before. */
const OF_A_SIGNAL: Readonly<Record<string, string>> = {
  ENDPOINT: 'endpoint',
  PROTOCOL: 'protocol',
  HEADERS: 'headers',
  COMPRESSION: 'compression',
  TIMEOUT: 'timeout_ms',
  CERTIFICATE: 'ca_file',
}
const ATTRIBUTES = 'OTEL_RESOURCE_ATTRIBUTES'
const SERVICE = 'OTEL_SERVICE_NAME'

const keysOf = (infix: string, prefix: string): readonly (readonly [variable: string, path: string])[] =>
  Object.entries(OF_A_SIGNAL).map(([name, key]) => [`OTEL_EXPORTER_OTLP_${infix}${name}`, `otlp.${prefix}${key}`])
const KEYS: ReadonlyMap<string, string> = new Map([
  ...keysOf('', ''),
  ...keysOf('METRICS_', 'metrics_'),
  ...keysOf('LOGS_', 'logs_'),
  ['OTEL_METRIC_EXPORT_INTERVAL', 'otlp.interval_ms'],
  [ATTRIBUTES, 'otlp.resource_attributes'],
])
const isEndpoint = (path: string): boolean => /^otlp\.(?:metrics_|logs_)?endpoint$/.test(path)

/**
 * They belong together, so they count as a whole or not at all: a header with a token for one receiver must not go to another.
 * `others`: what is set elsewhere, which goes before each of them.
 */
export function openTelemetrySettings(env: Readonly<Record<string, string | undefined>>, others: readonly Setting[]): readonly Setting[] {
  const textOf = (name: string): string => env[name]?.trim() ?? ''
  if (![...KEYS].some(([name, path]) => isEndpoint(path) && textOf(name) !== '')) return []
  if (textOf('OTEL_SDK_DISABLED').toLowerCase() === 'true' || others.some(({ path }) => isEndpoint(path))) return []
  const settings = [...KEYS].flatMap(([name, path]): Setting[] => {
    const text = textOf(name)
    if (text === '') return []
    return [{ path, where: name, value: path.endsWith('_ms') && /^\d{1,15}$/.test(text) ? Number(text) : text }]
  })
  const service = textOf(SERVICE)
  if (service === '') return settings
  // It goes before a service.name among the attributes: of equal names the last counts.
  const attributes = [textOf(ATTRIBUTES), `service.name=${encodeURIComponent(service)}`].filter((text) => text !== '').join(',')
  return [...settings, { path: 'otlp.resource_attributes', where: SERVICE, value: attributes }]
}
