// Content negotiation: which of two formats of /metrics, and which compressions a reader takes.

/** The quality that an Accept-like header gives to a name; 0 when it is not named (wildcards count for `*` names only when asked for). */
export function qualityOf(header: string, wanted: RegExp): number {
  let best = 0
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim())
    if (!wanted.test(name)) continue
    const q = parameters.find((parameter) => parameter.startsWith('q='))
    const quality = q === undefined ? 1 : Number(q.slice(2))
    if (quality > best) best = quality
  }
  return best
}

/** OpenMetrics only for readers that ask for it by name and not less than for plain text (Prometheus >= 2.5 does). */
export function metricsFormat(accept: string | undefined): 'text' | 'openmetrics' {
  if (accept === undefined) return 'text'
  const openMetrics = qualityOf(accept, /^application\/openmetrics-text$/)
  return openMetrics > 0 && openMetrics >= qualityOf(accept, /^text\/plain$/) ? 'openmetrics' : 'text'
}

export const acceptsGzip = (acceptEncoding: string | undefined): boolean => acceptEncoding !== undefined && qualityOf(acceptEncoding, /^gzip$/) > 0
