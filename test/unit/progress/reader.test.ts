// What the reader makes of the lines that trainers print: figures, phases, and what is no progress of the job.
import { describe, expect, test } from 'vitest'
import { isBounded } from '../../setup/bounded.ts'
import { createFeed } from '../../../agent/progress/feed.ts'
import { createProgressReader, type Progress } from '../../../agent/progress/reader.ts'

const readerOf = (text: string): ReturnType<typeof createProgressReader> => {
  const reader = createProgressReader()
  const feed = createFeed(reader)
  feed.push(text)
  feed.end()
  return reader
}
const read = (text: string): Progress | undefined => readerOf(text).progress()
const rate = (progress: Progress | undefined): string => (progress?.rate === undefined ? '' : `${progress.rate.value} ${progress.rate.unit}`)
const lines = (count: number, line: (at: number) => string, from = 1): string => Array.from({ length: count }, (_, at) => line(at + from)).join('\n')

describe('formats', () => {
  test.each([
    ['tqdm', 'train:  20%|██        | 40/200 [00:10<00:41,  3.90it/s, loss=0.51]', { step: 40, total: 200, loss: 0.51, etaSeconds: 41 }, '3.9 it/s'],
    ['tqdm without a total', 'stream: 1712it [02:00, 14.20it/s]', { step: 1712 }, '14.2 it/s'],
    ['a Lightning bar', 'Epoch 4:  14%|█▍ | 100/704 [00:44<04:29,  2.24it/s, train_loss=4.60]', { step: 100, total: 704, epoch: 4, loss: 4.6 }, '2.24 it/s'],
    [
      'a dict behind a bar',
      "  3%|▎ | 12/400 [00:20<10:47,  1.67s/it]{'loss': 1.25, 'learning_rate': 1e-5, 'epoch': 0.06}",
      { step: 12, loss: 1.25, epoch: 0.06 },
      '1.67 s/it',
    ],
    [
      'a row of fields',
      ' iteration     8/  500 | elapsed time per iteration (ms): 812.5 | lm loss: 2.5E+00 | number of nan iterations:   0 |',
      { step: 8, total: 500, loss: 2.5 },
      '812.5 ms/it',
    ],
    ['colours within', '\u001b[31mstep:  7  \u001b[32mloss: 8.5  \u001b[34mtps: 1,024', { step: 7, loss: 8.5 }, '1024 tokens/s'],
    ['colours of a copy', '[31mstep:  7  [32mloss: 8.5  [34mtps: 1,024[39m', { step: 7, loss: 8.5 }, '1024 tokens/s'],
    ['Keras', 'Epoch 3/9\n 38/80 ━━━━━━━━ 2s 54ms/step - loss: 0.43', { step: 38, total: 80, loss: 0.43, epoch: 3, etaSeconds: 2 }, '54 ms/step'],
    [
      'a value and its mean',
      'Epoch: [2][ 20/129]\tTime  0.760 ( 1.177)\tLoss 5.9000e+00 (6.4e+00)',
      { step: 20, total: 129, epoch: 2, loss: 5.9 },
      '0.76 s/it',
    ],
    [
      'days left',
      'epoch: 1/300, iter: 10/1800, iter_time: 0.7s, total_loss: 17.2, iou_loss: 4.6, ETA: 4 days, 13:00:00',
      { step: 10, loss: 17.2, etaSeconds: 392_400 },
      '0.7 s/it',
    ],
    ['JSON', '{"step": 12, "train_loss": NaN, "tokens_per_second": 512.5}', { step: 12, loss: Number.NaN }, '512.5 tokens/s'],
    ['boosting', '[10]\ttrain-logloss:0.31\n[20]\ttrain-logloss:0.29', { step: 20 }, ''],
    ['a server', 'Avg prompt throughput: 18.2 tokens/s, Avg generation throughput: 70.5 tokens/s, Running: 2 reqs', {}, '70.5 tokens/s'],
    [
      'a table with a head',
      'epoch  train_loss  valid_loss  time\n0      0.53        0.42        00:32\n1      0.41        0.38        00:31',
      { epoch: 1, loss: 0.41 },
      '',
    ],
    [
      'figures before their names',
      ' 12: 2.1, 2.3 avg loss, 0.001 rate, 3.4 seconds, 1.5 hours left\n 13: 2.0, 2.2 avg loss, 0.001 rate, 3.4 seconds, 1.5 hours left',
      { step: 13, loss: 2, etaSeconds: 5_400 },
      '3.4 s/it',
    ],
  ])('%s', (_, text, wanted, wantedRate) => {
    const progress = read(text)
    expect(progress).toMatchObject(wanted)
    expect(rate(progress)).toBe(wantedRate)
  })
  test('of ranks that print the same, one; each keeps its own figures', () => {
    const reader = readerOf('[rank0]: step: 5/20 loss: 2.5 lr: 0.1\n[rank1]: step: 4/20 loss: 2.7 lr: 0.1\n')
    expect(reader.progress()).toMatchObject({ step: 5, loss: 2.5 })
    expect([...reader.ranks()].map(([rank, { step }]) => [rank, step])).toEqual([
      [0, 5],
      [1, 4],
    ])
  })
})

describe('the learner', () => {
  test('finds the step of lines without names', () => {
    expect(read('400 3.41 0.0001\n500 3.10 0.0001\n600 2.91 0.0001\n700 2.95 0.0001')).toMatchObject({ step: 700 })
  })
  test('finds a counter and a loss by how they move, whatever they are called', () => {
    expect(read(lines(5, (at) => `Etappe ${at * 10}, Guete 2.${(at * 37) % 100}1`))).toMatchObject({ step: 50, loss: 2.851 })
  })
  test('a time that only grows is the time since the start', () => {
    const progress = read(lines(5, (at) => `step ${at * 10} loss 2.${at}1 time ${at * 20}.5`))
    expect(progress?.rate?.secondsEach).toBeCloseTo(2, 5)
  })
  test('the time of ten steps is not the time of one', () => {
    const progress = read(lines(4, (at) => `2026-01-01 10:00:${10 + at * 10} step ${at * 10} loss 2.${at} (10.0 sec)`))
    expect(progress?.rate).toMatchObject({ value: 1, unit: 's/it' })
  })
})

describe('what is no progress', () => {
  test.each([
    ['a download', 'model.safetensors:  40%|████      | 1.99G/4.98G [00:20<00:30, 98.5MB/s]', 'downloading'],
    ['an installer', '   ━━━━━━━━━━━━━━━━ 68.5/906.5 MB 2.1 MB/s eta 0:00:12', 'downloading'],
    ['tokenising', 'Tokenizing:   5%|██▋ | 91/2000 [00:00<00:02, 896.27 examples/s]', 'preparing'],
    ['shards', 'Loading checkpoint shards: 100%|██████████| 4/4 [00:12<00:00,  3.10s/it]', 'loading'],
    ['graphs', 'Capturing CUDA graph shapes:  43%|████▎     | 15/35 [00:08<00:10,  1.81it/s]', 'loading'],
    ['a plan', '==> Checkpoint 4, steps 5760\n==> Checkpoint 5, steps 7680\n==> Checkpoint 6, steps 9600', undefined],
    ['a configuration', "Namespace(batch=16, epochs=100, steps=1000, loss='ce')\nTotal optimization steps = 1,125", undefined],
    ['channels of NCCL', lines(8, (at) => `node1:42:${100 + at} [${at}] NCCL INFO Channel ${at}/08 : 0 1 2 3`), undefined],
    ['a fast bar without a name', '100%|██████████| 400000/400000 [00:40<00:00, 9893.97it/s]', 'preparing'],
  ])('%s', (_, text, phase) => {
    const reader = readerOf(text)
    expect([reader.progress(), reader.phase()]).toEqual([undefined, phase])
  })
  test('a validation inside a training leaves its step alone; alone it is the job', () => {
    const validation = 'Validation DataLoader 0:  50%|█████ | 5/10 [00:01<00:01, 5.0it/s]'
    expect(read(`Epoch 1: 10%|█ | 8/80 [00:04<00:36, 2.0it/s, loss=1.5]\r${validation}`)).toMatchObject({ step: 8, total: 80, phase: 'evaluating' })
    expect(read('Evaluating:  50%|█████ | 5/10 [00:01<00:01, 5.0it/s]')).toMatchObject({ step: 5, total: 10 })
  })
  test('an unnamed bar between those of the training is its evaluation', () => {
    const bar = (step: number, total: number): string => `${Math.round((100 * step) / total)}%|██ | ${step}/${total} [00:10<00:10, 2.0it/s]`
    expect(read([bar(50, 100), bar(3, 10), bar(10, 10), bar(51, 100), bar(60, 100)].join('\r'))).toMatchObject({ step: 60, total: 100 })
  })
})

describe('bounds', () => {
  test('a line of a million bars, and lines without an end, cost little memory and are read to the last', () => {
    const reader = createProgressReader()
    const feed = createFeed(reader)
    for (let at = 1; at <= 2_000; at++) feed.push(`train: ${at}/2000 [00:10<00:10, 2.0it/s]\r`)
    for (let at = 0; at < 200; at++) feed.push('x'.repeat(10_000))
    feed.end()
    expect(reader.progress()).toMatchObject({ step: 2_000 })
  })
  test('text made to be slow says nothing, and is over soon', () => {
    const hard = ['['.repeat(4_000), '1,'.repeat(2_000), '('.repeat(4_000), '1:'.repeat(2_000), '━'.repeat(4_000), '9'.repeat(4_000), '1d '.repeat(1_300)]
    for (const text of hard) {
      let found: unknown
      const bounded = isBounded(() => void (found = read(`${text}\n`.repeat(20))), 2)
      expect([bounded, found]).toEqual([true, undefined])
    }
  })
})
