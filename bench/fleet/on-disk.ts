// Bytes of a sample on disk: two hours of a few hosts, as each engine keeps them when it has compacted. A short run of the fleet cannot tell it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, createWriteStream, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { poll } from '../../test/setup/poll.ts'
import { ownFigure, startVictoria } from './engines.ts'
import { hostName } from './host.ts'
import { PROMTOOL } from './process.ts'
import { samplesOf, type Recording } from './recording.ts'
import { createTemplate } from './template.ts'

/** A block of Prometheus. */
const SPAN_MS = 2 * 3_600_000
const HOSTS = 2

/** What the samples take, and what their names take: the one for each sample, the other once for each series in a block (Prometheus) or a day (VictoriaMetrics). */
export type Kept = { readonly perSample: number; readonly perSeries: number }
export type OnDisk = { readonly intervalS: number; readonly samples: number; readonly prometheus: Kept; readonly victoria: Kept }

type Sizes = { readonly data: number; readonly index: number }

const sizeOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).reduce(
    (sum, file) => sum + (file.isFile() ? statSync(join(file.parentPath, file.name)).size : 0),
    0,
  )

/** Each sample with the labels that a scrape adds, and its time: in seconds (`perSecond` 1,000) for OpenMetrics, else in milliseconds (1). */
function* samplesAt(recording: Recording, intervalS: number, begin: number, perSecond: number): Generator<string> {
  const template = createTemplate(recording, 'text')
  for (let now = begin; now < begin + SPAN_MS; now += intervalS * 1_000) {
    for (let host = 0; host < HOSTS; host += 1) {
      const target = `job="warpwatch",instance="${hostName(host)}:9839"`
      const lines = samplesOf(template.page(host, now))
      yield lines.map((line) => `${line.includes('{') ? line.replace('{', `{${target},`) : line.replace(' ', `{${target}} `)} ${now / perSecond}\n`).join('')
    }
  }
}

async function prometheusBlocks(text: string, folder: string): Promise<Sizes> {
  const child = spawn(PROMTOOL, ['tsdb', 'create-blocks-from', 'openmetrics', text, folder], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (more: string) => (said = (said + more).slice(-2_000)))
  const [code]: unknown[] = await once(child, 'close')
  if (code !== 0) throw new Error(`promtool: expected exit 0, came ${String(code)}: ${said}`)
  const index = readdirSync(folder).reduce((sum, block) => sum + statSync(join(folder, block, 'index')).size, 0)
  return { data: sizeOf(folder) - index, index }
}

async function victoriaParts(text: string, samples: number): Promise<Sizes> {
  const engine = await startVictoria()
  try {
    const sent = await fetch(`${engine.url}/api/v1/import/prometheus`, { method: 'POST', body: createReadStream(text), duplex: 'half' })
    if (sent.status !== 204) throw new Error(`import: expected status 204, came ${sent.status}: ${await sent.text()}`)
    await fetch(`${engine.url}/internal/force_flush`)
    const rows = (): Promise<number> => ownFigure(engine, 'vm_rows', 'type="storage/')
    await poll(async () => (await rows()) === samples, { what: `${samples} rows`, deadlineMs: 60_000, everyMs: 200 })
    await fetch(`${engine.url}/internal/force_merge`)
    // As a month is kept in the end: merged into one part.
    await poll(async () => (await ownFigure(engine, 'vm_parts', 'type="storage/')) === 1, { what: 'one part of data', deadlineMs: 120_000, everyMs: 200 })
    return { data: await ownFigure(engine, 'vm_data_size_bytes', 'type="storage/'), index: await ownFigure(engine, 'vm_data_size_bytes', 'type="indexdb') }
  } finally {
    await engine.stop()
  }
}

export async function measureOnDisk(recording: Recording, intervalS: number): Promise<OnDisk> {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-on-disk-'))
  const begin = Math.floor(Date.now() / SPAN_MS - 2) * SPAN_MS
  const series = HOSTS * createTemplate(recording, 'text').series
  const samples = (SPAN_MS / 1_000 / intervalS) * series
  const kept = ({ data, index }: Sizes): Kept => ({ perSample: data / samples, perSeries: index / series })
  try {
    const [open, plain] = [join(folder, 'open.txt'), join(folder, 'plain.txt')]
    await pipeline(
      (function* () {
        yield* samplesAt(recording, intervalS, begin, 1_000)
        yield '# EOF\n'
      })(),
      createWriteStream(open),
    )
    await pipeline(samplesAt(recording, intervalS, begin, 1), createWriteStream(plain))
    return { intervalS, samples, prometheus: kept(await prometheusBlocks(open, join(folder, 'blocks'))), victoria: kept(await victoriaParts(plain, samples)) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
