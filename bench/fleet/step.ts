// One step of the fleet bench: so many hosts before one engine, from its start until some rounds of scrapes are in, and what that cost.
import { loadavg } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { poll } from '../../test/setup/poll.ts'
import { ask, ownFigure, startPrometheus, startVictoria, type EngineName } from './engines.ts'
import { costOf, startFleet, type Engine } from './process.ts'
import { timeDashboard, timeQueries } from './queries.ts'
import type { Recording } from './recording.ts'

export type Step = { readonly engine: EngineName; readonly hosts: number; readonly intervalS: number; readonly dcgm: 'classic' | 'off'; readonly churn: number }
export type StepFigures = {
  readonly step: Step
  readonly up: number
  readonly seriesPerHost: number
  readonly series: number
  readonly samplesPerS: number
  /** Share of one core over the measured rounds; that of the engine's receiver where it writes to one. */
  readonly cores: number
  readonly receiverCores: number | undefined
  readonly rssBytes: number
  readonly peakBytes: number
  readonly receiverRssBytes: number | undefined
  readonly scrapeP50Ms: number
  readonly scrapeP99Ms: number
  /** How many bytes a page is on the wire, compressed. */
  readonly pageBytes: number
  readonly fleetCores: number
  readonly newSeriesPerS: number
  /** Wall time of all rule groups of one evaluation; VictoriaMetrics has none here (vmalert is a program of its own). */
  readonly rulesMs: number | undefined
  readonly dashboardMs: number
  readonly queries: ReadonlyMap<string, number>
  /** Of the machine, at the end: what ran beside it. */
  readonly load: number
}

/** Measured for so long, at least for one round of scrapes, after the first round, which makes the series. */
const MEASURED_S = 45

export async function runStep(step: Step, recording: Recording, measuredS = MEASURED_S): Promise<StepFigures> {
  const { hosts, intervalS } = step
  const fleet = await startFleet(recording, step.churn)
  const engines: Engine[] = []
  const started = async (engine: Promise<Engine>): Promise<Engine> => {
    engines.push(await engine)
    return engine
  }
  try {
    const scraped = { hosts, intervalS, address: fleet.address }
    const receiver = step.engine === 'Prometheus + remote write' ? await started(startVictoria()) : undefined
    const writeTo = receiver === undefined ? undefined : `${receiver.url}/api/v1/write`
    const engine = await started(step.engine === 'VictoriaMetrics' ? startVictoria(scraped) : startPrometheus(scraped, writeTo))
    const asked = receiver ?? engine
    await poll(async () => (await fleet.figures()).pages >= hosts, {
      what: 'a first scrape of every host',
      deadlineMs: 3 * intervalS * 1_000 + 120_000,
      everyMs: 500,
    })
    const isVictoria = step.engine === 'VictoriaMetrics'
    const samples = (): Promise<number> =>
      isVictoria ? ownFigure(engine, 'vm_rows_inserted_total', 'type="promscrape"') : ownFigure(engine, 'prometheus_tsdb_head_samples_appended_total')
    const all = async () => ({
      at: performance.now(),
      samples: await samples(),
      cost: costOf(engine.pid),
      receiver: receiver === undefined ? undefined : costOf(receiver.pid),
      fleet: costOf(fleet.pid),
      sent: await fleet.figures(),
    })
    const before = await all()
    await delay(Math.max(measuredS, intervalS) * 1_000)
    const after = await all()
    const seconds = (after.at - before.at) / 1_000
    const figure = async (query: string): Promise<number> => (await ask(asked, query)) ?? Number.NaN
    return {
      step,
      up: await figure('sum(up{job="warpwatch"})'),
      seriesPerHost: await figure('avg(scrape_samples_post_metric_relabeling{job="warpwatch"})'),
      series: isVictoria ? await figure('sum(scrape_samples_post_metric_relabeling)') : await ownFigure(engine, 'prometheus_tsdb_head_series'),
      samplesPerS: (after.samples - before.samples) / seconds,
      cores: (after.cost.cpuS - before.cost.cpuS) / seconds,
      receiverCores: after.receiver === undefined || before.receiver === undefined ? undefined : (after.receiver.cpuS - before.receiver.cpuS) / seconds,
      rssBytes: after.cost.rssBytes,
      peakBytes: after.cost.peakBytes,
      receiverRssBytes: after.receiver?.rssBytes,
      scrapeP50Ms: 1_000 * (await figure('quantile(0.5, scrape_duration_seconds)')),
      scrapeP99Ms: 1_000 * (await figure('quantile(0.99, scrape_duration_seconds)')),
      pageBytes: (after.sent.bytes - before.sent.bytes) / (after.sent.pages - before.sent.pages),
      fleetCores: (after.fleet.cpuS - before.fleet.cpuS) / seconds,
      // Those of the scrapes alone: recordings make series too. The first round is before these seconds.
      newSeriesPerS: (await figure(`sum(sum_over_time(scrape_series_added[${Math.floor(seconds) - 2}s]))`)) / Math.floor(seconds - 2),
      rulesMs: isVictoria ? undefined : 1_000 * (await ownFigure(engine, 'prometheus_rule_group_last_duration_seconds')),
      dashboardMs: await timeDashboard(asked),
      queries: await timeQueries(asked),
      load: loadavg()[0] ?? Number.NaN,
    }
  } finally {
    for (const engine of engines.toReversed()) await engine.stop()
    await fleet.stop()
  }
}
