// What a job prints of its progress becomes metrics: from a bar without a line end, in a flood, and only as long as its log is read.
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createContainerDirectory } from '../../../agent/attribution/directory.ts'
import { progress } from '../../../agent/http/api/schemas.ts'
import { createViews } from '../../../agent/http/views.ts'
import { gpuPowerLimitWatts, gpuPowerWatts } from '../../../agent/metrics/gpu-power.ts'
import type { MetricDef } from '../../../agent/model/metric.ts'
import type { Reading } from '../../../agent/model/reading.ts'
import { makeSeries } from '../../../agent/model/series.ts'
import { createJobProgressSource, readingsOf } from '../../../agent/sources/job-progress.ts'
import { createLogFilesSource } from '../../../agent/sources/log-files.ts'
import { createLineBuffer } from '../../../agent/sources/logs/line-buffer.ts'
import { createProgressBook, type ProgressBook } from '../../../agent/sources/logs/progress-book.ts'
import { efficiencyOf } from '../../../agent/sources/logs/job-efficiency.ts'
import { createCursorStore } from '../../../agent/store/cursors.ts'
import { createLatestStore } from '../../../agent/store/latest.ts'
import { poll } from '../../setup/poll.ts'
import { runSource } from '../../setup/run-source.ts'

const quiet = { info: () => {}, warn: () => {}, error: () => {} }
const values = (book: ProgressBook): Readonly<Record<string, number>> =>
  Object.fromEntries(
    book
      .jobs()
      .flatMap((each) => readingsOf(each))
      .map(({ series, value }) => [
        `${series.metric.name.replace('warpwatch_job_', '')}${series.labels['rank'] === undefined ? '' : ` ${series.labels['rank']}`}`,
        value,
      ]),
  )
function bookOf(text: string): ProgressBook {
  const book = createProgressBook()
  const tap = book.tap(() => ({ container: 'train' }))
  const lines = createLineBuffer({ onBatch: (batch) => tap.take(batch, () => 1_700_000_000_000), onCut: () => {} })
  lines.push(Buffer.from(text))
  return book
}

describe('job progress', () => {
  test('a loop: step, steps, rate, loss, time left, and nothing that it does not say', () => {
    expect(values(bookOf('step 5/20 loss 2.5 0.5 s/it\nstep 6/20 loss 2.4 0.5 s/it\n'))).toEqual({
      step: 6,
      steps: 20,
      progress_ratio: 0.3,
      step_rate: 2,
      loss: 2.4,
      eta_seconds: 7,
      eta_earliest_seconds: 7,
      eta_latest_seconds: 7,
      phase_info: 1,
      last_progress_timestamp_seconds: 1_700_000_000,
    })
    expect(values(bookOf('nothing here\n'))).toEqual({})
  })
  test('a loss that is no number is no reading', () => {
    expect(Object.keys(values(bookOf('step 5 loss nan\nstep 6 loss nan\n')))).toEqual(['step', 'last_progress_timestamp_seconds', 'phase_info'])
  })
  test('a container is called as its job', async () => {
    const source = runSource(
      createJobProgressSource(bookOf('step 5/20 loss 2.5\n'), {
        runOf: (container) => (container === 'train' ? { job: 'service-of-train', gpus: [] } : undefined),
      }),
    )
    await poll(() => source.events.length > 0, { what: 'the first scrape' })
    const [first] = source.events
    expect(first?.type === 'scrape' && first.readings[0]?.series.labels).toEqual({ job: 'service-of-train' })
    await source.stop()
  })
  test('learning rate and epoch; a time left that was said a while ago is less now', () => {
    const [said] = bookOf('epoch 2 step 6/20 loss 2.4 lr 1e-4 0.5 s/it\n').jobs()
    const later = said === undefined ? [] : readingsOf(said, said.progressedAt + 3_000)
    const found = Object.fromEntries(later.map(({ series, value }) => [series.metric.name.replace('warpwatch_job_', ''), value]))
    expect(found).toMatchObject({ epoch: 2, learning_rate: 1e-4, eta_seconds: 4 })
  })
  test('tokens per joule and per GPU hour beside the power limit, as long as nobody shares the GPU', () => {
    const at = (metric: MetricDef, value: number): Reading => ({ series: makeSeries(metric, { gpu: '0', uuid: 'GPU-a' }), value })
    const latest = { of: (name: string) => [at(gpuPowerWatts, 500), at(gpuPowerLimitWatts, 700)].filter(({ series }) => series.metric.name === name) }
    const run = (share: number) => ({ gpus: [{ uuid: 'GPU-a', gpu: '0', share, held_seconds: 60 }] })
    expect(efficiencyOf('train', 1_000, run(1), latest).map(({ series, value }) => [series.metric.name, series.labels, value])).toEqual([
      ['warpwatch_job_tokens_per_gpu_hour', { job: 'train', power_limit_watts: '700' }, 3_600_000],
      ['warpwatch_job_tokens_per_joule', { job: 'train', power_limit_watts: '700' }, 2],
    ])
    expect(efficiencyOf('train', 1_000, run(0.5), latest)).toEqual([])
  })
  test('its row keeps the schema of the API', () => {
    const latest = createLatestStore()
    const readings = bookOf('epoch 2 step 6/20 loss 2.4 lr 1e-4 0.5 s/it\n')
      .jobs()
      .flatMap((each) => readingsOf(each))
    latest.apply({ type: 'scrape', t: Date.now(), source: 'job-progress', group: '', ttlMs: 10_000, durationMs: 0, readings, gaps: [] })
    const rows = createViews({ latest, hostname: 'h' }).rows().progress
    expect(z.array(progress).parse(rows)).toEqual(rows)
    expect(rows).toMatchObject([{ job: 'train', step: 6, steps: 20, phase: 'training', learning_rate: 1e-4 }])
  })
  test('ranks each for themselves', () => {
    expect(values(bookOf('[rank0]: step: 5 loss: 2.5\n[rank1]: step: 4 loss: 2.6\n'))).toMatchObject({ 'step 0': 5, 'step 1': 4 })
  })
  test('in a flood the newest line with progress counts', () => {
    const noise = (at: number): string => `debug: item ${at} was put into the queue and nothing more is to be said of it\n`
    const line = (step: number): string => `step ${step}/9000 loss 2.5\n`
    const text = line(1) + line(2) + Array.from({ length: 3_000 }, (_, at) => noise(at) + (at % 100 === 0 ? line(at + 3) : '')).join('')
    expect(values(bookOf(text))['step']).toBeGreaterThan(1_000)
  })
  test('a bar in a file that never ends its line', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'warpwatch-progress-'))
    const path = join(folder, 'job.log')
    writeFileSync(path, '')
    const cursors = createCursorStore({ directory: join(folder, 'data'), log: quiet })
    const book = createProgressBook()
    const source = runSource(
      createLogFilesSource({ files: [path], containerFiles: [], directory: createContainerDirectory(), cursors, interesting: () => false, progress: book }),
    )
    appendFileSync(path, '\r 10%|█ | 10/100 [00:05<00:45, 2.0it/s, loss=1.5]')
    await poll(() => book.jobs().some(({ progress }) => progress.step === 10), { what: 'the bar to be read' })
    expect(book.jobs()[0]).toMatchObject({ job: path, progress: { total: 100, loss: 1.5 } })
    await source.stop()
    cursors.close()
    rmSync(folder, { recursive: true, force: true })
    expect(book.jobs()).toEqual([])
  })
})
