// The recording sink on real files: what it writes, appends, drops and survives.
import { appendFileSync, existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Event } from '../../../agent/model/event.ts'
import { defineMetric } from '../../../agent/model/metric.ts'
import { makeSeries } from '../../../agent/model/series.ts'
import type { Log } from '../../../agent/model/source.ts'
import { createRecordingSink } from '../../../agent/sinks/recording.ts'
import { poll } from '../../setup/poll.ts'

const path = (): string => join(mkdtempSync(join(tmpdir(), 'warpwatch-recording-')), 'r.jsonl')
const heard: string[] = []
const log: Log = { info: (text) => heard.push(text), warn: (text) => heard.push(text), error: (text) => heard.push(text) }
const parsed = (file: string): readonly unknown[] =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line))
const used = defineMetric({
  name: 'warpwatch_gpu_memory_used_bytes',
  subject: 'gpu',
  field: 'memory_used_bytes',
  kind: 'gauge',
  unit: 'By',
  help: 'x',
  labels: ['gpu', 'uuid'],
})
const series = makeSeries(used, { gpu: '0', uuid: 'GPU-1' })
const line = (text: string): Event => ({ type: 'log', t: 1, stream: 'kernel', origin: {}, text })

describe('recording sink', () => {
  test('what programs and people said loses its secrets', async () => {
    const file = path()
    const sink = createRecordingSink({ path: file, host: 'gpu-01', log })
    sink.ingest(line('GET https://data.example/x?token=abcdefgh12345678 of epoch 3'))
    sink.ingest({ type: 'operator', t: 2, action: 'set_healthy', incident: 'a', note: 'restarted with HF_TOKEN=hf_abcdefghijklmnopqrst' })
    await sink.close()
    expect(parsed(file).slice(1)).toMatchObject([
      { text: 'GET https://data.example/x?token=[redacted] of epoch 3' },
      { note: 'restarted with HF_TOKEN=[redacted]' },
    ])
  })
  test('writes the lines of the contract, the meta line first, for the owner only', async () => {
    const file = path()
    const sink = createRecordingSink({ path: file, host: 'gpu-01', log })
    const gaps = [{ metric: 'warpwatch_gpu_fan_speed_ratio', labels: { gpu: '0', uuid: 'GPU-1' }, reason: 'not_supported', code: 3 }] as const
    sink.ingest({
      type: 'scrape',
      t: 1_763_600_000_000,
      source: 'gpu',
      group: 'g',
      ttlMs: 3_000,
      durationMs: 3.1,
      readings: [{ series, value: 123_456 }],
      gaps,
    })
    sink.ingest({ type: 'container', t: 2, action: 'die', container: 'trainer', container_id: '0123456789ab', image: 'i', exit_code: 137 })
    await sink.close()
    expect(parsed(file)).toEqual([
      { type: 'meta', format: 'warpwatch-recording', version: 1, host: 'gpu-01' },
      {
        type: 'scrape',
        t: 1_763_600_000_000,
        source: 'gpu',
        group: 'g',
        ttl_ms: 3_000,
        duration_ms: 3.1,
        readings: [['warpwatch_gpu_memory_used_bytes', { gpu: '0', uuid: 'GPU-1' }, 123_456]],
        gaps,
      },
      { type: 'container', t: 2, action: 'die', container: 'trainer', container_id: '0123456789ab', image: 'i', exit_code: 137 },
    ])
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect([sink.written(), sink.dropped()]).toEqual([2, 0])
  })

  test('appends to what is there, also behind a line that was cut off', async () => {
    const file = path()
    writeFileSync(file, '{"type":"meta","format":"warpwatch-recording","version":1,"host":"a"}\n{"type":"lo')
    const sink = createRecordingSink({ path: file, host: 'b', log })
    sink.ingest(line('x'))
    await sink.close()
    const lines = readFileSync(file, 'utf8').split('\n')
    expect(lines[1]).toBe('{"type":"lo')
    expect(lines.slice(2).map((text): unknown => (text === '' ? undefined : JSON.parse(text)))).toMatchObject([
      { type: 'meta', host: 'b' },
      { type: 'log', text: 'x' },
      undefined,
    ])
  })

  test('a tick brings what waits to the disk', async () => {
    const file = path()
    const sink = createRecordingSink({ path: file, host: 'a', log })
    sink.ingest(line('x'))
    sink.tick?.(1)
    await poll(() => sink.written() === 1, { what: 'the event on disk' })
    expect(parsed(file)).toHaveLength(2)
    await sink.close()
  })

  test('what does not fit the queue is dropped whole and counted', async () => {
    const file = path()
    const sink = createRecordingSink({ path: file, host: 'a', log, maxPendingBytes: 2_000 })
    for (let n = 0; n < 100; n++) sink.ingest(line('y'.repeat(50)))
    await sink.close()
    expect(sink.written() + sink.dropped()).toBe(100)
    expect(sink.dropped()).toBeGreaterThan(0)
    expect(parsed(file)).toHaveLength(1 + sink.written())
  })

  test('nothing is written after close, and closing twice is harmless', async () => {
    const file = path()
    const sink = createRecordingSink({ path: file, host: 'a', log })
    await sink.close()
    sink.ingest(line('late'))
    await sink.close()
    expect(parsed(file)).toHaveLength(1)
  })

  test('two batches in flight keep their order', async () => {
    const file = path()
    const sink = createRecordingSink({ path: file, host: 'a', log })
    for (let n = 0; n < 5_000; n++) sink.ingest(line(`${n} ${'z'.repeat(60)}`))
    await sink.close()
    const numbers = [...readFileSync(file, 'utf8').matchAll(/"text":"(\d+) /g)].map((match) => Number(match[1]))
    expect(numbers).toEqual(Array.from({ length: 5_000 }, (_, n) => n))
  })

  test.skipIf(!existsSync('/dev/full'))('a full disk is told once, its events are counted, closing ends (needs /dev/full)', async () => {
    heard.length = 0
    const sink = createRecordingSink({ path: '/dev/full', host: 'a', log })
    for (let n = 1; n <= 3; n++) {
      sink.ingest(line('x'))
      sink.tick?.(n)
      await poll(() => sink.dropped() === n, { what: 'the event counted as dropped' })
    }
    await sink.close()
    expect(heard).toHaveLength(1)
    expect(heard[0]).toContain('/dev/full')
  })

  test('a path that cannot be opened is an error at once', () => {
    expect(() => createRecordingSink({ path: '/nowhere/r.jsonl', host: 'a', log })).toThrow('/nowhere/r.jsonl')
  })

  test('two writers of one file do not overwrite each other', async () => {
    const file = path()
    const sink = createRecordingSink({ path: file, host: 'a', log })
    appendFileSync(file, '{"type":"x"}\n')
    await sink.close()
    expect(parsed(file)).toHaveLength(2)
  })
})
