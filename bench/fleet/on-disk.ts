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
import type { Recording } from './recording.ts'
import { createTemplate } from './template.ts'

/** A block of Prometheus. */
const SPAN_MS = 2 * 3_600_000
const HOSTS = 2

export type OnDisk = {
  readonly intervalS: number
  readonly samples: number
  readonly prometheus: number
  readonly prometheusIndex: number
  readonly victoria: number
}

const sizeOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).reduce(
    (sum, file) => sum + (file.isFile() ? statSync(join(file.parentPath, file.name)).size : 0),
    0,
  )

/** Each sample with the labels that a scrape adds, and its time in `unit` (seconds for OpenMetrics, else milliseconds). */
function* samplesOf(recording: Recording, intervalS: number, begin: number, perSecond: number): Generator<string> {
  const template = createTemplate(recording, 'text')
  for (let now = begin; now < begin + SPAN_MS; now += intervalS * 1_000) {
    for (let host = 0; host < HOSTS; host += 1) {
      const target = `job="warpwatch",instance="${hostName(host)}:9839"`
      const lines = template
        .page(host, now)
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'))
      yield lines.map((line) => `${line.includes('{') ? line.replace('{', `{${target},`) : line.replace(' ', `{${target}} `)} ${now / perSecond}\n`).join('')
    }
  }
}

async function prometheusBlocks(text: string, folder: string): Promise<{ readonly bytes: number; readonly index: number }> {
  const child = spawn(PROMTOOL, ['tsdb', 'create-blocks-from', 'openmetrics', text, folder], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (more: string) => (said = (said + more).slice(-2_000)))
  const [code]: unknown[] = await once(child, 'close')
  if (code !== 0) throw new Error(`promtool: expected exit 0, came ${String(code)}: ${said}`)
  const index = readdirSync(folder).reduce((sum, block) => sum + statSync(join(folder, block, 'index')).size, 0)
  return { bytes: sizeOf(folder), index }
}

async function victoriaBytes(text: string): Promise<number> {
  const engine = await startVictoria()
  try {
    const sent = await fetch(`${engine.url}/api/v1/import/prometheus`, { method: 'POST', body: createReadStream(text), duplex: 'half' })
    if (sent.status !== 204) throw new Error(`import: expected status 204, came ${sent.status}: ${await sent.text()}`)
    await fetch(`${engine.url}/internal/force_flush`)
    await fetch(`${engine.url}/internal/force_merge`)
    await poll(async () => (await ownFigure(engine, 'vm_active_merges')) === 0, { what: 'merges to end', deadlineMs: 120_000, everyMs: 200 })
    const rows = await ownFigure(engine, 'vm_rows', 'type="storage/')
    const bytes = await ownFigure(engine, 'vm_data_size_bytes')
    return bytes / rows
  } finally {
    await engine.stop()
  }
}

export async function measureOnDisk(recording: Recording, intervalS: number): Promise<OnDisk> {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-on-disk-'))
  const begin = Math.floor(Date.now() / SPAN_MS - 2) * SPAN_MS
  const samples = (SPAN_MS / 1_000 / intervalS) * HOSTS * createTemplate(recording, 'text').series
  try {
    const [open, plain] = [join(folder, 'open.txt'), join(folder, 'plain.txt')]
    await pipeline(
      (function* () {
        yield* samplesOf(recording, intervalS, begin, 1_000)
        yield '# EOF\n'
      })(),
      createWriteStream(open),
    )
    await pipeline(samplesOf(recording, intervalS, begin, 1), createWriteStream(plain))
    const blocks = await prometheusBlocks(open, join(folder, 'blocks'))
    return { intervalS, samples, prometheus: blocks.bytes / samples, prometheusIndex: blocks.index / samples, victoria: await victoriaBytes(plain) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
