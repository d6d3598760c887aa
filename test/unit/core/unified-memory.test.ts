// Memory of GPUs that share the host's, and what is left on disk of a boot that ended without a word.
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { lastMinutes } from '../../../agent/sources/previous-boot.ts'
import { readEvidence, writeEvidence } from '../../../agent/sources/previous-boot/evidence.ts'
import { createUnifiedMemory, hostMemory } from '../../../agent/sources/gpu/unified-memory.ts'
import type { Gap } from '../../../agent/model/reading.ts'
import type { Sample } from '../../../agent/sampler/child-handle.ts'
import type { ProcessRow } from '../../../agent/sampler/protocol.ts'

const GIB = 1024 ** 3
const meminfo = (lines: Readonly<Record<string, string>>): string =>
  Object.entries(lines)
    .map(([key, value]) => `${key}: ${value}`)
    .join('\n')

describe('what the driver can still get', () => {
  it.each([
    ['available and swap', { MemTotal: '1000 kB', MemAvailable: '400 kB', SwapFree: '100 kB', HugePages_Total: '0' }, 500],
    ['never more than there is', { MemTotal: '1000 kB', MemAvailable: '900 kB', SwapFree: '800 kB' }, 1000],
    [
      'only huge pages, where there are any',
      { MemTotal: '100000 kB', MemAvailable: '40000 kB', HugePages_Total: '20', HugePages_Free: '5', Hugepagesize: '2048 kB' },
      10_240,
    ],
  ])('%s', (_, lines, kibibytes) => {
    expect(hostMemory(meminfo(lines))?.freeBytes).toBe(kibibytes * 1024)
  })
  it('is unknown without the figures', () => {
    expect(hostMemory('MemTotal: 5 kB')).toBeUndefined()
  })
})

describe('a GPU without memory of its own', () => {
  const labels = { gpu: '0', uuid: 'GPU-1' }
  const gap = (metric: string, reason: Gap['reason'] = 'not_supported'): Gap => ({ metric: `warpwatch_gpu_memory_${metric}_bytes`, labels, reason, code: 3 })
  const sample = (gaps: readonly Gap[], processes: readonly ProcessRow[] | undefined): Sample => ({
    sample: {
      type: 'gpu',
      id: 1,
      index: 0,
      uuid: 'GPU-1',
      rate: 'fast',
      durationMs: 1,
      series: [],
      values: [],
      ...(processes === undefined ? {} : { processes }),
    },
    readings: [],
    gaps,
    t: 0,
  })
  const unified = createUnifiedMemory(() => ({ totalBytes: 120 * GIB, freeBytes: 50 * GIB }))
  const reported = (taken: Sample): Record<string, number> =>
    Object.fromEntries(unified(labels, taken).readings.map(({ series, value }) => [series.metric.name.replace('warpwatch_gpu_memory_', ''), value]))
  const none = [gap('total'), gap('used'), gap('free'), gap('reserved')]

  it('has the total and the free of the host, and uses what its processes hold', () => {
    const rows = [
      { pid: 1, type: 'C', bytes: 30 * GIB },
      { pid: 2, type: 'G', bytes: 0 },
    ]
    expect(reported(sample(none, rows))).toEqual({ total_bytes: 120 * GIB, free_bytes: 50 * GIB, used_bytes: 30 * GIB, used_ratio: 0.25 })
    expect(unified(labels, sample(none, rows)).gaps.map(({ metric }) => metric)).toEqual(['warpwatch_gpu_memory_reserved_bytes'])
  })
  it('keeps the gap of what it uses where a process is not told', () => {
    const taken = sample(none, [{ pid: 1, type: 'C', bytes: null }])
    expect(reported(taken)).toEqual({ total_bytes: 120 * GIB, free_bytes: 50 * GIB })
    expect(unified(labels, taken).gaps.map(({ metric }) => metric)).toContain('warpwatch_gpu_memory_used_bytes')
  })
  it('is none while its driver fails for another reason', () => {
    expect(reported(sample([gap('total', 'timeout')], []))).toEqual({})
  })
})

describe('the newest minutes on disk', () => {
  const path = (): string => join(mkdtempSync(join(tmpdir(), 'evidence-')), 'host-memory.log')
  const at = (second: number, free: number) => ({ t: 1_763_600_000_000 + second * 1_000, availableBytes: free * GIB, totalBytes: 120 * GIB })
  const values = (file: string, boot: string) => lastMinutes(readEvidence(file), boot)?.map(({ value }) => Math.round(value * 1_000) / 1_000)

  test('a boot that did not end well is told with its last second, a line cut off left out', () => {
    const file = path()
    const evidence = writeEvidence(file, 'boot-a')
    for (let second = 0; second < 60; second++) evidence.note(at(second, 60 - second))
    appendFileSync(file, 'boot-a 17636000')
    expect(values(file, 'boot-b')).toEqual([1_763_600_059, 0.008, 0.492])
  })
  test('an agent that was stopped, or that starts again in the same boot, tells nothing', () => {
    const file = path()
    const evidence = writeEvidence(file, 'boot-a')
    evidence.note(at(0, 1))
    expect(values(file, 'boot-a')).toBeUndefined()
    evidence.stop()
    expect(values(file, 'boot-b')).toBeUndefined()
    expect(readEvidence(join(file, 'nothing'))).toBeUndefined()
  })
  test('its files stay small, and the newest half hour is in them', () => {
    const file = path()
    const evidence = writeEvidence(file, 'b'.repeat(36))
    for (let second = 0; second < 4_000; second++) evidence.note(at(second, 50))
    expect(statSync(file).size + statSync(`${file}.1`).size).toBeLessThan(140 * 1024)
    expect(readEvidence(file)?.moments.length).toBeGreaterThan(900)
    expect(readEvidence(file)?.moments.at(-1)?.t).toBe(at(3_999, 0).t)
  })
})

const CAPTURE = join(import.meta.dirname, '../../../../shared/fixtures/other-gpus/nv__gb10-dgx-spark-proc-sys.tar.bz2')
test.skipIf(!existsSync(CAPTURE))('the capture of a DGX Spark (beside the repository)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'spark-'))
  execFileSync('tar', ['xjf', CAPTURE, '-C', folder, 'nvidia-dgx-gb10/proc/meminfo'])
  const text = readFileSync(join(folder, 'nvidia-dgx-gb10/proc/meminfo'), 'utf8')
  rmSync(folder, { recursive: true })
  const kib = (key: string): number => Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(text)?.[1])
  expect(hostMemory(text)).toEqual({ totalBytes: kib('MemTotal') * 1024, freeBytes: Math.min(kib('MemTotal'), kib('MemAvailable') + kib('SwapFree')) * 1024 })
})
