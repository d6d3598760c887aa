// Reading recordings: other people's, broken ones, huge lines, unknown things.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Event } from '../../../agent/model/event.ts'
import { defineMetric } from '../../../agent/model/metric.ts'
import { readRecording, type ReadOptions } from '../../../agent/sources/recording.ts'

const used = defineMetric({
  name: 'warpwatch_gpu_memory_used_bytes',
  subject: 'gpu',
  field: 'memory_used_bytes',
  kind: 'gauge',
  unit: 'By',
  help: 'x',
  labels: ['gpu', 'uuid'],
})
const metricNamed: ReadOptions['metricNamed'] = (name) => (name === used.name ? used : undefined)
async function* chunksOf(...chunks: readonly string[]): AsyncIterable<string> {
  yield* chunks
}
async function read(text: string, options: Partial<ReadOptions> = {}) {
  const recording = readRecording(chunksOf(text), { metricNamed, ...options })
  const events: Event[] = []
  for await (const event of recording) events.push(event)
  return { events, counts: recording.counts(), host: recording.host() }
}
const json = (...lines: readonly unknown[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('')
const meta = { type: 'meta', format: 'warpwatch-recording', version: 1, host: 'gpu-01' }
const scrape = (readings: unknown, gaps: unknown = [], more: object = {}) => ({ type: 'scrape', t: 5, source: 'gpu', duration_ms: 3, readings, gaps, ...more })

describe('recording reader', () => {
  test('what others leave out has its default', async () => {
    const { events, host } = await read(json(meta, scrape([['warpwatch_gpu_memory_used_bytes', { gpu: '0', uuid: 'GPU-1' }, 7]])))
    expect(host).toBe('gpu-01')
    expect(events).toEqual([
      {
        type: 'scrape',
        t: 5,
        source: 'gpu',
        group: '',
        ttlMs: 3_000,
        durationMs: 3,
        readings: [{ series: { metric: used, labels: { gpu: '0', uuid: 'GPU-1' }, key: 'warpwatch_gpu_memory_used_bytes{gpu="0",uuid="GPU-1"}' }, value: 7 }],
        gaps: [],
      },
    ])
  })

  test('an unknown metric, and an unknown label of a known one, are kept', async () => {
    const { events } = await read(
      json(
        scrape([
          ['warpwatch_new_total', { a: '1' }, 1],
          ['warpwatch_gpu_memory_used_bytes', { gpu: '0', uuid: 'GPU-1', gi: '3' }, 2],
        ]),
      ),
    )
    const readings = events[0]?.type === 'scrape' ? events[0].readings : []
    expect(readings.map(({ series }) => series.key)).toEqual(['warpwatch_new_total{a="1"}', 'warpwatch_gpu_memory_used_bytes{gpu="0",uuid="GPU-1",gi="3"}'])
    expect(readings.map(({ series }) => series.metric.kind)).toEqual(['counter', 'gauge'])
  })

  test('equal series are one object', async () => {
    const line = scrape([['warpwatch_gpu_memory_used_bytes', { gpu: '0', uuid: 'GPU-1' }, 7]])
    const { events } = await read(json(line, line))
    const [a, b] = events.map((event) => (event.type === 'scrape' ? event.readings[0]?.series : undefined))
    expect(a).toBeDefined()
    expect(a).toBe(b)
  })

  test('unknown types are counted by type, malformed lines are counted', async () => {
    const text = json(
      meta,
      { type: 'forecast' },
      { type: 'forecast' },
      { type: 'constructor' },
      { type: 'log', t: 1, stream: 'elsewhere', text: 'x' },
      { type: 'log', stream: 'kernel', text: 'x' },
    )
    const { events, counts } = await read(`${text}\n{"type":\n[1]\n"x"\nnull\n`)
    expect(events).toEqual([])
    expect(Object.fromEntries(counts.unknown)).toEqual({ forecast: 2, constructor: 1 })
    expect(counts).toMatchObject({ lines: 10, malformed: 6, tooLong: 0 })
  })

  test.each([
    ['a text for a number', ['warpwatch_a', {}, '1']],
    ['null', ['warpwatch_a', {}, null]],
    ['no labels', ['warpwatch_a', 1]],
    ['a label that is a number', ['warpwatch_a', { gpu: 0 }, 1]],
    ['an object', {}],
  ])('a malformed reading (%s) is left out and counted, the scrape stays', async (_, reading) => {
    const { events, counts } = await read(json(scrape([reading, ['warpwatch_a', {}, 1]])))
    expect(events[0]).toMatchObject({ readings: [{ value: 1 }] })
    expect(counts.malformedEntries).toBe(1)
  })

  test('a gap of an unknown reason is left out and counted', async () => {
    const gap = (reason: string) => ({ metric: 'warpwatch_a', labels: {}, reason, code: 3 })
    const { events, counts } = await read(json(scrape([], [gap('bored'), gap('timeout')])))
    expect(events[0]).toMatchObject({ gaps: [gap('timeout')] })
    expect(counts.malformedEntries).toBe(1)
  })

  test('a line beyond the bound is passed over, its neighbours are read', async () => {
    const log = (text: string) => ({ type: 'log', t: 1, stream: 'kernel', origin: {}, text })
    const { events, counts } = await read(json(log('a'), log('b'.repeat(5_000)), log('c')), { maxLineChars: 1_000 })
    expect(events.map((event) => (event.type === 'log' ? event.text : ''))).toEqual(['a', 'c'])
    expect(counts).toMatchObject({ lines: 3, tooLong: 1, malformed: 0 })
  })

  test('a later version is refused with its number', async () => {
    await expect(read(json({ ...meta, version: 2 }))).rejects.toThrow('the recording is of version 2, and this Warpwatch reads version 1')
  })

  test('an allocator event keeps what was unknown unknown', async () => {
    const sample = { type: 'allocator', t: 1, pid: 2, uuid: 'GPU-1', limit_bytes: null, stats: { allocated_bytes: 1 } }
    const oom = { type: 'allocator_oom', t: 1, pid: 2, uuid: 'GPU-1', request_bytes: 4, stats: {} }
    expect((await read(json(sample, oom))).events).toEqual([sample, oom])
  })
})

describe('a scrape like the one before, but not quite', () => {
  const good = JSON.stringify(
    scrape([
      ['warpwatch_a', { gpu: '0' }, 1],
      ['warpwatch_a', { gpu: '1' }, 2],
    ]),
  )
  test.each([
    ['a comma too many', (line: string) => line.replace('2]]', '2],]')],
    ['readings twice, the later one counts', (line: string) => line.replace('"gaps":[]', '"readings":[],"gaps":[]')],
    ['a time twice, the later one counts', (line: string) => line.replace('"gaps":[]', '"t":9,"gaps":[]')],
    ['another type behind', (line: string) => line.replace('"gaps":[]', '"gaps":[],"type":"log","stream":"kernel","text":"x"')],
    ['an empty value', (line: string) => line.replace('1]', ']')],
    ['a value beyond all bounds', (line: string) => line.replace('1]', '1e999]')],
    ['hexadecimal', (line: string) => line.replace('1]', '0x1]')],
    ['one reading fewer', (line: string) => line.replace(',["warpwatch_a",{"gpu":"1"},2]', '')],
    ['one reading more', (line: string) => line.replace('2]]', '2],["warpwatch_b",{},3]]')],
    ['another order', (line: string) => line.replace('"gpu":"0"', '"gpu":"x"').replace('"gpu":"1"', '"gpu":"0"')],
    ['cut off', (line: string) => line.slice(0, -3)],
    ['text behind', (line: string) => `${line}x`],
  ])('%s: read as JSON says', async (_, change) => {
    const changed = change(good)
    expect(changed).not.toBe(good)
    // A blank in front keeps a line from the quick way and is no matter to JSON.
    const quick = await read([good, changed, good].join('\n'))
    expect(quick).toEqual(await read([good, ` ${changed}`, good].join('\n')))
    expect(quick.events.length + quick.counts.malformed).toBe(3)
  })
})

const simulator = join(import.meta.dirname, '../../../../shared')
describe.skipIf(!existsSync(join(simulator, 'fixtures/docker')))('recordings that others wrote (needs ../shared)', () => {
  test('files that are no recordings give no event and do not throw', async () => {
    const folder = join(simulator, 'fixtures/docker')
    const found: string[] = []
    for (const name of readdirSync(folder)) {
      const recording = readRecording(join(folder, name), { metricNamed })
      for await (const event of recording) found.push(`${name}: ${event.type}`)
      expect(recording.counts().lines).toBeGreaterThan(0)
    }
    expect(found).toEqual([])
  })
})
