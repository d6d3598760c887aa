// The standard variables of OpenTelemetry's exporters as settings of `otlp`: where nothing else says where to send.
import type { Setting } from './setting.ts'

const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT'
const KEYS: Readonly<Record<string, string>> = {
  [ENDPOINT]: 'otlp.endpoint',
  OTEL_EXPORTER_OTLP_PROTOCOL: 'otlp.protocol',
  OTEL_EXPORTER_OTLP_HEADERS: 'otlp.headers',
  OTEL_EXPORTER_OTLP_COMPRESSION: 'otlp.compression',
  OTEL_EXPORTER_OTLP_TIMEOUT: 'otlp.timeout_ms',
  OTEL_EXPORTER_OTLP_CERTIFICATE: 'otlp.ca_file',
  OTEL_METRIC_EXPORT_INTERVAL: 'otlp.interval_ms',
  OTEL_RESOURCE_ATTRIBUTES: 'otlp.resource_attributes',
}

/**
 * They belong together, so they count as a whole or not at all: a header with a token for one receiver must not go to another.
 * `others`: what is set elsewhere, which goes before each of them.
 */
export function openTelemetrySettings(env: Readonly<Record<string, string | undefined>>, others: readonly Setting[]): readonly Setting[] {
  const isSet = (name: string): boolean => (env[name]?.trim() ?? '') !== ''
  if (!isSet(ENDPOINT) || env['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true') return []
  if (others.some(({ path }) => path === 'otlp.endpoint')) return []
  return Object.entries(KEYS).flatMap(([name, path]) => {
    if (!isSet(name)) return []
    const text = env[name]?.trim() ?? ''
    return [{ path, where: name, value: path.endsWith('_ms') && /^\d{1,15}$/.test(text) ? Number(text) : text }]
  })
}
