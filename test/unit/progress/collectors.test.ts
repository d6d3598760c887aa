// What collectors of logs put before lines changes nothing of what the lines say.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createFeed } from '../../../agent/progress/feed.ts'
import { createProgressReader, type Progress } from '../../../agent/progress/reader.ts'

const example = z.object({ name: z.string(), text: z.string(), wanted: z.object({}).optional() })
const examples = ['sixth', 'seventh'].flatMap((set) =>
  readFileSync(join(import.meta.dirname, 'examples', `${set}.jsonl`), 'utf8')
    .trim()
    .split('\n')
    .map((line) => example.parse(JSON.parse(line))),
)

function read(text: string): Progress | undefined {
  const reader = createProgressReader()
  const feed = createFeed(reader)
  feed.push(text)
  feed.end()
  return reader.progress()
}
/** What the log itself says; a rate or time left out of the times of lines comes from the collector's clock. */
const said = (progress: Progress | undefined): unknown =>
  progress === undefined ? undefined : { step: progress.step, total: progress.total, epoch: progress.epoch, loss: progress.loss }
const each =
  (before: (at: number) => string) =>
  (text: string): string =>
    text
      .split('\n')
      .map((line, at) => before(at) + line)
      .join('\n')
const second = (at: number): string => String(10 + (at % 50))

const COLLECTORS: readonly (readonly [string, (text: string) => string])[] = [
  ['docker logs --timestamps', each((at) => `2025-03-04T10:00:${second(at)}.123456789Z `)],
  ['docker compose', each(() => 'trainer-1  | ')],
  ['the journal', each((at) => `Mar 04 10:00:${second(at)} gpu-07 python3[41277]: `)],
  ['kubectl --prefix', each(() => '[pod/train-0/pytorch] ')],
  ['a file of Kubernetes', each((at) => `2025-03-04T10:00:${second(at)}.123456789Z stdout F `)],
  ['stern', each(() => 'train-job-0-x7k2p pytorch ')],
  ['torchrun', each(() => '[rank0]: ')],
  ['srun --label', each(() => '0: ')],
  ['Ray', each(() => '\u001b[36m(TrainWorker pid=4127, ip=10.0.0.3)\u001b[0m ')],
  [
    'a file of Docker',
    (text) =>
      text
        .split('\n')
        .map((line, at) => JSON.stringify({ log: `${line}\n`, stream: 'stdout', time: `2025-03-04T10:00:${second(at)}.123Z` }))
        .join('\n'),
  ],
  ['Windows', (text) => text.replaceAll('\n', '\r\n')],
]

/** Times of the log's own that the collector's are before, figures that look like a rank's. */
const MAY_DIFFER = 0.03

describe.each(COLLECTORS)('behind %s', (_, through) => {
  test('the same is read', () => {
    const different = examples.filter(({ text }) => JSON.stringify(said(read(through(text)))) !== JSON.stringify(said(read(text))))
    expect(different.length / examples.length <= MAY_DIFFER ? [] : different.map(({ name }) => name)).toEqual([])
  })
})
