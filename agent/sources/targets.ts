// Services beside the GPUs: each target is asked by HTTP on the scheduler's grid, and what came of it is a scrape of its own.
import { isDeepStrictEqual } from 'node:util'
import type { TargetConfig } from '../config/sections/targets.ts'
import { createHttpClient, type HttpClient } from '../lib/http-client.ts'
import { proxyRules, type ProxyFor } from '../lib/proxy.ts'
import { shownUrl } from '../lib/shown-url.ts'
import { targetFailedChecks, targetFailing, targetInfo, targetLatencySeconds, targetStatus, targetUp } from '../metrics/target.ts'
import type { Scrape } from '../model/event.ts'
import type { Gap, Reading } from '../model/reading.ts'
import { makeSeries, type Series } from '../model/series.ts'
import type { Source, SourceContext } from '../model/source.ts'
import { defineSource } from './definition.ts'
import { checkTarget, type Checked } from './targets/check.ts'

const targetMetrics = [targetInfo, targetUp, targetLatencySeconds, targetStatus, targetFailing, targetFailedChecks] as const

const ID = 'targets'
/** Which targets there are is reported again so often, however rarely they are asked: a source that is silent for long counts as down. */
const RENEW_MS = 10_000

/** What one check says, as readings and gaps. */
const infoOf = ({ name, url, container }: TargetConfig): Reading => ({
  series: makeSeries(targetInfo, { target: name, url: shownUrl(url), ...(container === undefined ? {} : { container }) }),
  value: 1,
})

function createFindingDeduper({ name }: TargetConfig): (checked: Checked) => { readonly readings: readonly Reading[]; readonly gaps: readonly Gap[] } {
  const labels = { target: name }
  const [up, latency, status] = [makeSeries(targetUp, labels), makeSeries(targetLatencySeconds, labels), makeSeries(targetStatus, labels)]
  const inRow = makeSeries(targetFailedChecks, labels)
  let failed: number | undefined
  const failing = new Map<string, Series>()
  const failingFor = (reason: string): Series => {
    let series = failing.get(reason)
    if (series === undefined) failing.set(reason, (series = makeSeries(targetFailing, { ...labels, reason })))
    return series
  }
  const gap = (metric: string, reason: Gap['reason'], detail: string): Gap => ({ metric, labels, reason, detail })
  return (checked) => {
    if (checked.up !== undefined) failed = checked.up ? 0 : (failed ?? 0) + 1
    const row: readonly Reading[] = failed === undefined ? [] : [{ series: inRow, value: failed }]
    if (checked.up === undefined)
      return { readings: row, gaps: [targetUp, targetLatencySeconds, targetStatus].map((metric) => gap(metric.name, 'driver_error', checked.detail)) }
    const readings: Reading[] = [{ series: up, value: checked.up ? 1 : 0 }, ...row]
    if (checked.latencyMs !== undefined) readings.push({ series: latency, value: checked.latencyMs / 1_000 })
    if (checked.status !== undefined) readings.push({ series: status, value: checked.status })
    if (checked.up) return { readings, gaps: [] }
    readings.push({ series: failingFor(checked.reason), value: 1 })
    // Also where there was an answer: the words stand nowhere else.
    return { readings, gaps: [gap(targetFailing.name, checked.reason === 'timeout' ? 'timeout' : 'driver_error', checked.detail)] }
  }
}

/** Asks one target on the scheduler's grid until it is stopped. */
function watchTarget(target: TargetConfig, client: HttpClient, { emit, every, log }: SourceContext): () => void {
  const ending = new AbortController()
  const { signal } = ending
  const { name, url, interval_ms: intervalMs, timeout_ms: timeoutMs, expect_status: expectStatus, headers } = target
  const tell = createFindingDeduper(target)
  const options = { client, url, timeoutMs, headers, signal, ...(expectStatus === undefined ? {} : { expectStatus }) }
  let before: string | undefined
  let busy = false
  const check = async (): Promise<void> => {
    if (busy) return // the first one, which no grid knows of
    busy = true
    const begunAt = performance.now()
    const checked = await checkTarget(options)
    busy = false
    if (signal.aborted) return
    const state = checked.up === true ? 'up' : checked.up === undefined ? checked.detail : `${checked.reason}: ${checked.detail}`
    if (checked.up !== true && state !== before) log.warn(`target ${name} is not well: ${state}`)
    else if (checked.up === true && before !== undefined && before !== 'up') log.info(`target ${name} is well again`)
    before = state
    // The second in which the answer came: a time of the past would move the judges back.
    emit({ type: 'scrape', t: second(), source: ID, group: name, ttlMs: 3 * intervalMs, durationMs: performance.now() - begunAt, ...tell(checked) })
  }
  const stop = every(intervalMs, check, intervalMs)
  // The first answer must not wait for the grid.
  void check()
  return () => {
    ending.abort()
    stop()
  }
}

const second = (): number => Math.floor(Date.now() / 1_000) * 1_000
const scrapeOf = (t: number, group: string, readings: readonly Reading[]): Scrape => ({
  type: 'scrape',
  t,
  source: ID,
  group,
  ttlMs: 3 * RENEW_MS,
  durationMs: 0,
  readings,
  gaps: [],
})

export type TargetsSource = Source & { readonly configure: (targets: readonly TargetConfig[]) => void }

export function createTargetsSource(initial: readonly TargetConfig[], proxyFor?: ProxyFor): TargetsSource {
  let targets = initial
  // A check says whether a new connection would be taken, so none is kept.
  const client = createHttpClient(proxyFor === undefined ? {} : { proxyFor })
  let context: SourceContext | undefined
  let stopRenewing: (() => void) | undefined
  const watched = new Map<string, { readonly target: TargetConfig; readonly stop: () => void }>()

  const apply = (): void => {
    if (context === undefined) return
    const { emit, every } = context
    for (const [name, { target, stop }] of watched) {
      if (targets.some((wanted) => isDeepStrictEqual(wanted, target))) continue
      stop()
      watched.delete(name)
      // What it said last is nobody's state any more.
      emit(scrapeOf(second(), name, []))
    }
    const renew = (t: number): void => emit(scrapeOf(t, '', targets.map(infoOf)))
    // Which there are, before the first answer; also that there are none any more.
    if (targets.length > 0 || stopRenewing !== undefined) renew(second())
    stopRenewing?.()
    stopRenewing = targets.length > 0 ? every(RENEW_MS, renew) : undefined
    for (const target of targets) if (!watched.has(target.name)) watched.set(target.name, { target, stop: watchTarget(target, client, context) })
  }
  return {
    id: ID,
    metrics: targetMetrics,
    start(given) {
      context = given
      apply()
    },
    configure(next) {
      targets = next
      apply()
    },
    stop() {
      context = undefined
      stopRenewing?.()
      stopRenewing = undefined
      for (const { stop } of watched.values()) stop()
      watched.clear()
    },
  }
}

export const targets = defineSource({
  id: ID,
  metrics: targetMetrics,
  needs: ['config'],
  create({ config }) {
    // A simulated host has no services of its own.
    if (config.simulate.scenario !== 'off') return undefined
    const source = createTargetsSource(config.targets, proxyRules(config.http_client))
    return { ...source, reload: { takes: ['targets'], apply: (next) => source.configure(next.targets) } }
  },
})
