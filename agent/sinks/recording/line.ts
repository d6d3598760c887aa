// One event as one line of a recording. `group`, `ttl_ms` and `cursor` are ours; readers of the published format pass over them.
import { redactDeep } from '../../lib/redact.ts'
import type { Event, Scrape } from '../../model/event.ts'
import type { Series } from '../../model/series.ts'

/** A scrape repeats its series every second: their text is made once. */
const prefixes = new WeakMap<Series, string>()

function prefixOf(series: Series): string {
  let prefix = prefixes.get(series)
  if (prefix === undefined) {
    prefix = `[${JSON.stringify(series.metric.name)},${JSON.stringify(series.labels)},`
    prefixes.set(series, prefix)
  }
  return prefix
}

function scrapeLine(scrape: Scrape): string {
  let readings = ''
  for (const { series, value } of scrape.readings) {
    if (!Number.isFinite(value)) continue // JSON has no word for it, and a reading is finite by definition
    // `String` of a negative zero is `0`: no instrument distinguishes the two.
    readings += `${readings === '' ? '' : ','}${prefixOf(series)}${value}]`
  }
  const { t, source, group, ttlMs, durationMs, gaps } = scrape
  const head = `{"type":"scrape","t":${t},"source":${JSON.stringify(source)},"group":${JSON.stringify(group)},"ttl_ms":${ttlMs},"duration_ms":${durationMs}`
  return `${head},"readings":[${readings}],"gaps":${gaps.length === 0 ? '[]' : JSON.stringify(gaps)}}\n`
}

export function metaLine(host: string): string {
  return `${JSON.stringify({ type: 'meta', format: 'warpwatch-recording', version: 1, host })}\n`
}

/** Recordings are handed on, so what a program or a person said loses its secrets; a scrape holds figures and the names of things. */
export function eventLine(event: Event): string {
  return event.type === 'scrape' ? scrapeLine(event) : `${JSON.stringify(redactDeep(event))}\n`
}
