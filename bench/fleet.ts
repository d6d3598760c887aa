// A thousand simulated hosts before a real Prometheus and a real VictoriaMetrics: what a fleet costs (docs/fleet.md). About ten minutes.
// FLEET_STEPS=100,300 takes only the steps of so many hosts; FLEET_SECONDS measures each for longer than 45 s.
import { loadavg } from 'node:os'
import { measureOnDisk, type Kept } from './fleet/on-disk.ts'
import { freePort } from '../test/setup/free-port.ts'
import { enginesMissing } from './fleet/process.ts'
import { record, withoutDcgm } from './fleet/recording.ts'
import { runStep, type Step, type StepFigures } from './fleet/step.ts'
import { churnedPerDay, createTemplate } from './fleet/template.ts'

const GPUS = 8
const DAY_S = 86_400
const MIB = 1024 ** 2
const usual = { intervalS: 15, dcgm: 'classic', churn: 1 } as const
const STEPS: readonly Step[] = [
  { ...usual, engine: 'Prometheus', hosts: 100 },
  { ...usual, engine: 'Prometheus', hosts: 300 },
  { ...usual, engine: 'Prometheus + remote write', hosts: 300 },
  // An hour of ends and starts in a minute.
  { ...usual, engine: 'Prometheus', hosts: 300, churn: 60 },
  { ...usual, engine: 'Prometheus', hosts: 1_000 },
  { ...usual, engine: 'Prometheus', hosts: 1_000, dcgm: 'off' },
  { ...usual, engine: 'Prometheus', hosts: 1_000, intervalS: 60 },
  { ...usual, engine: 'VictoriaMetrics', hosts: 300 },
  { ...usual, engine: 'VictoriaMetrics', hosts: 1_000 },
]

const whole = (figure: number): string => Math.round(figure).toLocaleString('en-US')
const print = (cells: readonly string[]): void => void process.stdout.write(`| ${cells.join(' | ')} |\n`)
const both = (own: string, receiver: string | undefined): string => (receiver === undefined ? own : `${own} + ${receiver}`)

function printStep({ step, ...figures }: StepFigures): void {
  const slowest = Math.max(...figures.queries.values())
  print([
    `${step.engine}${step.churn === 1 ? '' : `, jobs ${step.churn} times as short`}`,
    figures.up === step.hosts ? whole(step.hosts) : `${whole(step.hosts)} (${whole(figures.up)} up)`,
    `${step.intervalS} s`,
    step.dcgm === 'off' ? 'no' : 'yes',
    whole(figures.series),
    whole(figures.samplesPerS),
    both(figures.cores.toFixed(2), figures.receiverCores?.toFixed(2)),
    both(whole(figures.rssBytes / MIB), figures.receiverRssBytes === undefined ? undefined : whole(figures.receiverRssBytes / MIB)),
    `${whole(figures.scrapeP50Ms)} · ${whole(figures.scrapeP99Ms)}`,
    figures.rulesMs === undefined ? '' : whole(figures.rulesMs),
    whole(figures.dashboardMs),
    whole(slowest),
    figures.newSeriesPerS.toFixed(1),
    figures.load.toFixed(1),
  ])
}

export async function run(): Promise<void> {
  if (enginesMissing !== undefined) return void process.stdout.write(`fleet: ${enginesMissing}\n`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  const wanted = process.env['FLEET_STEPS']?.split(',').map(Number)
  const seconds = process.env['FLEET_SECONDS'] === undefined ? undefined : Number(process.env['FLEET_SECONDS'])
  const classic = await record(await freePort())
  const recordings = { classic, off: withoutDcgm(classic) }
  const templates = { classic: createTemplate(recordings.classic, 'text'), off: createTemplate(recordings.off, 'text') }
  process.stdout.write(
    `load of the machine before it: ${loadavg()
      .map((load) => load.toFixed(1))
      .join(' ')}\n\n`,
  )

  print(['a host with 8 GPUs, 10 containers, 18 GPU processes, 9 probes', 'series', 'of these of a GPU, each', 'bytes of a page', 'new series a day'])
  print(['---', '---', '---', '---', '---'])
  for (const [dcgm, template] of Object.entries(templates)) {
    const ofGpus = template.page(0, 0).match(/^(?:warpwatch_gpu_|DCGM_)[^ ]*\{/gm)?.length ?? 0
    const bytes = whole(Buffer.byteLength(template.page(0, 0)))
    print([dcgm === 'off' ? '`metrics.dcgm: off`' : 'as it comes', whole(template.series), whole(ofGpus / GPUS), bytes, whole(churnedPerDay(template))])
  }
  process.stdout.write('\n')

  print(['interval', 'samples', 'Prometheus: bytes a sample', 'a series', 'VictoriaMetrics: bytes a sample', 'a series', 'a host and day, MB (calculated)'])
  print(Array.from({ length: 7 }, () => '---'))
  for (const intervalS of [15, 60]) {
    const { samples, prometheus, victoria } = await measureOnDisk(recordings.classic, intervalS)
    const { series } = templates.classic
    const perDay = ({ perSample, perSeries }: Kept): string =>
      (((series * DAY_S * perSample) / intervalS + (series + churnedPerDay(templates.classic)) * perSeries) / 1e6).toFixed(1)
    const kept = [prometheus, victoria].flatMap(({ perSample, perSeries }) => [perSample.toFixed(2), whole(perSeries)])
    print([`${intervalS} s`, whole(samples), ...kept, `${perDay(prometheus)} · ${perDay(victoria)}`])
  }

  process.stdout.write('\n')
  const head = ['engine', 'hosts', 'interval', 'dcgm names', 'series', 'samples/s', 'CPU, cores', 'RSS, MiB', 'scrape p50 · p99, ms']
  print([...head, 'rules, ms', 'dashboard, ms', 'slowest raw query, ms', 'new series/s', 'load'])
  print(Array.from({ length: head.length + 5 }, () => '---'))
  const done: StepFigures[] = []
  for (const step of STEPS) {
    if (wanted !== undefined && !wanted.includes(step.hosts)) continue
    const figures = await runStep(step, recordings[step.dcgm], seconds)
    done.push(figures)
    printStep(figures)
    if (figures.up !== step.hosts) process.exitCode = 1
  }
  process.stdout.write('\n')
  const most = done.reduce<StepFigures | undefined>((best, figures) => (best === undefined || figures.step.hosts > best.step.hosts ? figures : best), undefined)
  const pair = done.filter(({ step }) => step.hosts === most?.step.hosts && step.intervalS === 15 && step.dcgm === 'classic' && step.churn === 1)
  print([`query, ${most?.step.hosts ?? 0} hosts, ms`, ...pair.map(({ step }) => step.engine)])
  print(['---', ...pair.map(() => '---')])
  for (const what of most?.queries.keys() ?? []) print([what, ...pair.map(({ queries }) => whole(queries.get(what) ?? Number.NaN))])
  for (const { step, pageBytes, fleetCores, peakBytes } of done)
    process.stdout.write(
      `${step.engine}, ${step.hosts} hosts: page ${whole(pageBytes)} bytes compressed; the hosts' own process ${fleetCores.toFixed(2)} cores; peak ${whole(peakBytes / MIB)} MiB\n`,
    )
}
