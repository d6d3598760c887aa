// What a job prints of its progress becomes metrics: from a bar without a line end, in a flood, and only as long as its log is read.
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createContainerDirectory } from '../../../agent/attribution/directory.ts'
import { createJobProgressSource, readingsOf } from '../../../agent/sources/job-progress.ts'
import { createLogFilesSource } from '../../../agent/sources/log-files.ts'
import { createLineBuffer } from '../../../agent/sources/logs/line-buffer.ts'
import { createProgressBook, type ProgressBook } from '../../../agent/sources/logs/progress-book.ts'
import { createCursorStore } from '../../../agent/store/cursors.ts'
import { poll } from '../../setup/poll.ts'
import { runSource } from '../../setup/run-source.ts'

const quiet = { info: () => {}, warn: () => {}, error: () => {} }
const values = (book: ProgressBook): Readonly<Record<string, number>> =>
  Object.fromEntries(
    book
      .jobs()
      .flatMap(readingsOf)
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
      last_progress_timestamp_seconds: 1_700_000_000,
    })
    expect(values(bookOf('nothing here\n'))).toEqual({})
  })
  test('a loss that is no number is no reading', () => {
    expect(Object.keys(values(bookOf('step 5 loss nan\nstep 6 loss nan\n')))).toEqual(['step', 'last_progress_timestamp_seconds'])
  })
  test('a container is called as its job', async () => {
    const source = runSource(createJobProgressSource(bookOf('step 5/20 loss 2.5\n'), (container) => (container === 'train' ? 'service-of-train' : undefined)))
    await poll(() => source.events.length > 0, { what: 'the first scrape' })
    const [first] = source.events
    expect(first?.type === 'scrape' && first.readings[0]?.series.labels).toEqual({ job: 'service-of-train' })
    await source.stop()
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
