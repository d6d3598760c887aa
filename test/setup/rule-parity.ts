// Gives a scene to a detector and, as the metrics that a scrape each 15 s would see, to Prometheus' own engine: a test of promtool that says what the detector said.
import { createDetection } from '../../agent/diagnosis/detection.ts'
import type { Expression } from '../../agent/diagnosis/detectors/definition.ts'
import type { Event, Scrape } from '../../agent/model/event.ts'
import type { About } from '../../agent/model/finding.ts'
import type { Forecast } from '../../agent/model/finding.ts'
import type { Reading } from '../../agent/model/reading.ts'
import type { Labels } from '../../agent/model/series.ts'
import { createForecastReadings } from '../../agent/sources/incidents/forecasts.ts'
import { timeOf, type RuleScene } from './rule-scenes/scene.ts'

const SCRAPE_S = 15
/** Slow judgments are evaluated by the minute, as they would be in a group of their own. */
const SLOW_MS = 10_000
export const evaluationOf = ({ detector }: RuleScene): number => (detector.everyMs >= SLOW_MS || forOf(detector.expression).endsWith('m') ? 60 : 15)
const forOf = (expression: Expression): string => ('promql' in expression ? (expression.for ?? '0s') : '')

/** What /metrics would show: the newest scrape of each group, as long as it holds. */
function createExposition(): { readonly ingest: (event: Event) => void; readonly at: (t: number) => readonly Reading[] } {
  const groups = new Map<string, Scrape>()
  return {
    ingest: (event) => void (event.type === 'scrape' && groups.set(`${event.source}\n${event.group}`, event)),
    at: (t) => [...groups.values()].flatMap(({ t: then, ttlMs, readings }) => (t - then > ttlMs ? [] : readings)),
  }
}

type Turn = { readonly second: number; readonly firing: readonly string[] }
export type Judged = { readonly turns: readonly Turn[]; readonly series: ReadonlyMap<string, readonly string[]>; readonly failures: readonly unknown[] }

const seriesName = (name: string, labels: Labels): string =>
  `${name}{${Object.entries(labels)
    .map(([label, value]) => `${label}="${value}"`)
    .join(',')}}`

function subjectOf(by: RuleScene['by'], { uuid, container, named }: About): string {
  return (by === undefined ? '' : { uuid, container, target: named }[by]) ?? ''
}

export function judge({ detector, seconds, tell, by }: RuleScene): Judged {
  const failures: unknown[] = []
  const forecasts = new Map<string, Forecast>()
  const detection = createDetection({
    definitions: [detector],
    onFailure: (_, error) => void failures.push(error),
    onForecast: (forecast) =>
      void (forecast.earliestMs === null && forecast.latestMs === null ? forecasts.delete(forecast.key) : forecasts.set(forecast.key, forecast)),
  })
  const forecastReadings = createForecastReadings()
  const exposition = createExposition()
  const firing = new Map<string, string>()
  const turns: Turn[] = []
  const series = new Map<string, string[]>()
  for (let second = 0; second < seconds; second++) {
    const t = timeOf(second)
    for (const event of tell(second)) {
      detection.ingest(event)
      exposition.ingest(event)
    }
    const before = [...firing.keys()].join()
    for (const finding of detection.judge(t)) {
      const key = `${finding.kind} ${finding.key}`
      if (finding.state === 'faulty') firing.set(key, subjectOf(by, finding.about))
      else if (finding.state === 'healthy') firing.delete(key)
    }
    if ([...firing.keys()].join() !== before) turns.push({ second, firing: [...new Set(firing.values())].sort() })
    if (second % SCRAPE_S !== 0) continue
    const at = second / SCRAPE_S
    for (const { series: of, value } of [...exposition.at(t), ...forecastReadings({ forecasts: [...forecasts.values()], firing: [] }, t)]) {
      const name = seriesName(of.metric.name, of.labels)
      let values = series.get(name)
      if (values === undefined) series.set(name, (values = []))
      while (values.length < at) values.push(values.length > 0 && !/stale|_/.test(values.at(-1) ?? '') ? 'stale' : '_')
      values[at] = String(value)
    }
  }
  const scrapes = Math.ceil(seconds / SCRAPE_S)
  for (const values of series.values()) if (values.length < scrapes) values.push('stale')
  return { turns, series, failures }
}

export type RuleTest = {
  readonly name: string
  readonly interval: string
  readonly input_series: readonly { readonly series: string; readonly values: string }[]
  readonly promql_expr_test: readonly object[]
}

/** At each evaluation that is not within two of a turn: who fires. With a host, as a Prometheus sees it that scrapes more than one. */
export function ruleTest(scene: RuleScene, alert: string, { turns, series }: Judged, host?: string): RuleTest {
  const { name, seconds, by } = scene
  const every = evaluationOf(scene)
  const scraped = host === undefined ? '' : `job="warpwatch",instance="${host}"`
  const times = Array.from({ length: Math.floor(seconds / every) - 1 }, (_, n) => (n + 1) * every)
  const settled = times.filter((second) => !turns.some((turn) => Math.abs(turn.second - second) <= 2 * every))
  const firing = `ALERTS{alertname="${alert}",alertstate="firing"${scraped === '' ? '' : `,${scraped}`}}`
  const named = (key: string): string => (scraped === '' ? key : key.replace('{', `{${scraped},`).replace(',}', '}'))
  return {
    name,
    interval: `${SCRAPE_S}s`,
    input_series: [...series].map(([key, values]) => ({ series: named(key), values: values.join(' ') })),
    promql_expr_test: settled.map((second) => {
      const subjects = turns.findLast((turn) => turn.second <= second)?.firing ?? []
      return {
        expr: by === undefined ? `group(${firing})` : `group by (${by}) (${firing})`,
        eval_time: `${second}s`,
        exp_samples: subjects.map((subject) => ({ labels: by === undefined || subject === '' ? '{}' : `{${by}="${subject}"}`, value: 1 })),
      }
    }),
  }
}
