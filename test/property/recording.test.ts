// A recording gives back every event that was written, however the stream is cut.
import * as fc from '../setup/fast-check.ts'
import { expect, test } from 'vitest'
import type { Event } from '../../agent/model/event.ts'
import type { MetricDef } from '../../agent/model/metric.ts'
import { GAP_REASONS } from '../../agent/model/reading.ts'
import { makeSeries } from '../../agent/model/series.ts'
import { eventLine, metaLine } from '../../agent/sinks/recording/line.ts'
import { readRecording } from '../../agent/sources/recording.ts'

const LABELS = ['gpu', 'uuid', 'reason']
const metrics: readonly MetricDef[] = ['a', 'b_total', 'c_info'].map((name) => ({
  name: `warpwatch_${name}`,
  subject: 'agent',
  kind: 'gauge',
  unit: '1',
  help: '',
  labels: LABELS,
}))
const metricNamed = (name: string): MetricDef | undefined => metrics.find((metric) => metric.name === name)

const t = fc.integer({ min: 0, max: 4_102_444_800_000 })
const text = fc.string({ unit: 'binary', maxLength: 30 })
// -0 is written as 0: no instrument tells the two apart.
const value = fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (number === 0 ? 0 : number))
const labels = fc.dictionary(fc.constantFrom(...LABELS), text, { noNullPrototype: true })
const size = fc.integer({ min: 0, max: 2 ** 53 - 1 })
const maybe = <T>(key: string, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> =>
  fc.option(arbitrary).map((found): Record<string, T> => (found === null ? {} : { [key]: found }))
const stats = fc.record({ allocated_bytes: size, reserved_bytes: size, num_ooms: size }, { requiredKeys: [], noNullPrototype: true })

const scrape = fc.record(
  {
    type: fc.constant('scrape' as const),
    t,
    source: text,
    group: text,
    ttlMs: fc.nat(),
    durationMs: value,
    readings: fc.array(
      fc.tuple(fc.constantFrom(...metrics), labels, value).map(([metric, labels, value]) => ({ series: makeSeries(metric, labels), value })),
      { maxLength: 8 },
    ),
    gaps: fc.array(
      fc.record(
        { metric: text, labels, reason: fc.constantFrom(...GAP_REASONS), code: fc.integer(), detail: text },
        { requiredKeys: ['metric', 'labels', 'reason'], noNullPrototype: true },
      ),
      { maxLength: 3 },
    ),
  },
  { noNullPrototype: true },
)
const log = fc
  .tuple(t, fc.constantFrom('container', 'kernel', 'file'), maybe('container', text), maybe('path', text), text, maybe('cursor', text))
  .map(([t, stream, container, path, line, cursor]) => ({ type: 'log' as const, t, stream, origin: { ...container, ...path }, text: line, ...cursor }))
const container = fc
  .tuple(t, text, text, text, maybe('image', text), maybe('exit_code', fc.integer()))
  .map(([t, action, name, id, image, code]) => ({ type: 'container' as const, t, action, container: name, container_id: id, ...image, ...code }))
const allocator = fc
  .tuple(
    t,
    fc.nat(),
    text,
    maybe('container', text),
    maybe('backend', fc.constantFrom('native', 'cudaMallocAsync', 'other')),
    maybe('expandable', fc.boolean()),
    maybe('limit_bytes', fc.oneof(size, fc.constant(null))),
    stats,
    maybe('mig_uuid', text),
  )
  .map(([t, pid, uuid, box, backend, expandable, limit, stats, mig]) => ({
    type: 'allocator' as const,
    t,
    pid,
    uuid,
    ...mig,
    ...box,
    ...backend,
    ...expandable,
    ...limit,
    stats,
  }))
const pool = fc
  .tuple(size, size, fc.constantFrom('small', 'large'), fc.boolean(), fc.array(size, { minLength: 10, maxLength: 10 }))
  .map(
    ([
      first,
      second,
      kind,
      expandable,
      [stream = 0, segments = 0, total = 0, active = 0, pending = 0, free = 0, blocks = 0, largest = 0, whole = 0, fitting = 0],
    ]) => ({
      pool: [first, second] as const,
      kind,
      expandable,
      stream,
      segments,
      total_bytes: total,
      active_bytes: active,
      pending_bytes: pending,
      free_bytes: free,
      free_blocks: blocks,
      largest_free_bytes: largest,
      free_segments: whole,
      fitting_bytes: fitting,
    }),
  )
const operator = fc
  .tuple(t, text, maybe('by', text), maybe('note', text))
  .map(([t, incident, by, note]) => ({ type: 'operator' as const, t, action: 'set_healthy' as const, incident, ...by, ...note }))
const oom = fc
  .tuple(
    t,
    fc.nat(),
    text,
    maybe('container', text),
    size,
    maybe('limit_bytes', size),
    maybe('free_bytes', size),
    stats,
    maybe('mig_uuid', text),
    maybe('pools', fc.array(pool, { maxLength: 3 })),
  )
  .map(([t, pid, uuid, box, request, limit, free, stats, mig, pools]) => ({
    type: 'allocator_oom' as const,
    t,
    pid,
    uuid,
    ...mig,
    ...pools,
    ...box,
    request_bytes: request,
    ...limit,
    ...free,
    stats,
  }))
const events = fc.array(fc.oneof(scrape, log, container, allocator, oom, operator), { maxLength: 12 })

/** The text in pieces whose lengths are given, over and over. */
async function* cut(whole: string, lengths: readonly number[]): AsyncIterable<string> {
  for (let at = 0, n = 0; at < whole.length; n++) {
    const length = Math.max(1, lengths[n % lengths.length] ?? 1)
    yield whole.slice(at, at + length)
    at += length
  }
}
const lengths = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 5 })

test('every event comes back as it was', async () => {
  await fc.assert(
    fc.asyncProperty(events, lengths, fc.string(), async (written, pieces, host) => {
      const text = metaLine(host) + written.map((event) => eventLine(event as Event)).join('')
      const recording = readRecording(cut(text, pieces), { metricNamed })
      const found: Event[] = []
      for await (const event of recording) found.push(event)
      expect(found).toEqual(written)
      expect(recording.host()).toBe(host)
      expect(recording.counts()).toMatchObject({ lines: written.length + 1, malformed: 0, tooLong: 0, malformedEntries: 0 })
    }),
    { numRuns: 300 },
  )
})

test('any text at all is read without an error, and every line of it is accounted for', async () => {
  const fragment = fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.json(),
    fc.constantFrom('\n', '\r\n', '{"type":"scrape","t":1,"source":"g","readings":[[', '{"type":"log"}'),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fragment), lengths, async (fragments, pieces) => {
      const text = fragments.join('')
      const recording = readRecording(cut(text, pieces), { metricNamed, maxLineChars: 200 })
      let events = 0
      for await (const event of recording) events += event.t >= 0 ? 1 : 1
      const { lines, malformed, tooLong, unknown } = recording.counts()
      const other = [...unknown.values()].reduce((sum, count) => sum + count, 0)
      expect(lines).toBe(events + malformed + tooLong + other)
      expect(lines).toBe(text.split('\n').filter((line) => line !== '' && line !== '\r').length)
    }),
    { numRuns: 300 },
  )
})

test('the quick way and the ordinary way read the same, whatever was damaged', async () => {
  const known = makeSeries({ name: 'warpwatch_a', subject: 'agent', kind: 'gauge', unit: '1', help: '', labels: LABELS }, { gpu: '0', uuid: 'GPU-1' })
  const other = makeSeries({ name: 'warpwatch_b_total', subject: 'agent', kind: 'gauge', unit: '1', help: '', labels: LABELS }, { gpu: '1' })
  const line = (values: readonly number[]): string =>
    eventLine({
      type: 'scrape',
      t: 1,
      source: 'gpu',
      group: 'g',
      ttlMs: 1,
      durationMs: 1,
      readings: values.map((value, index) => ({ series: index % 2 === 0 ? known : other, value })),
      gaps: [],
    })
  const damage = fc.record({
    at: fc.nat(400),
    drop: fc.nat(3),
    put: fc.constantFrom('', ']', '[', ',', '"', '}', '{', 'null', '1e999', '-', '0x1', ' ', '"readings":[', '"type":"log",', '"t":"x",'),
  })
  const read = async (lines: readonly string[]) => {
    const recording = readRecording(cut(lines.map((text) => `${text}\n`).join(''), [1_000]), { metricNamed })
    const found: Event[] = []
    for await (const event of recording) found.push(event)
    return { found, counts: recording.counts() }
  }
  await fc.assert(
    fc.asyncProperty(fc.array(value, { maxLength: 5 }), fc.array(damage, { maxLength: 2 }), async (values, damages) => {
      let broken = line(values).trimEnd()
      for (const { at, drop, put } of damages) broken = broken.slice(0, at) + put + broken.slice(at + drop)
      const first = line(values).trimEnd()
      // A leading blank is no matter to JSON, and keeps a line from the quick way.
      expect(await read([first, broken, first])).toEqual(await read([` ${first}`, ` ${broken}`, ` ${first}`]))
    }),
    { numRuns: 3_000 },
  )
})
