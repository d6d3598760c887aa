// Progress of loops that were run for this, and of trainers that no test had named.
import { expect, test } from 'vitest'
import { createProgressReader, type Progress } from '../../../agent/progress/reader.ts'

const read = (...lines: readonly string[]): Progress | undefined => {
  const reader = createProgressReader()
  for (const line of lines) reader.push(line)
  return reader.progress()
}

test.each<readonly [name: string, lines: readonly string[], wanted: object]>([
  [
    'the epoch that is said to be done is not one that began',
    [
      ...[40, 50, 60].map((at) => `2031-02-03 04:05:${at / 2 + 10},000 | INFO | loop:run:9 - epoch 1/3 batch ${at}/60 loss=0.5${at} (2.00 batches/s)`),
      '2031-02-03 04:05:50,100 | INFO | loop:run:11 - epoch 1 finished: train_loss=0.560',
    ],
    { epoch: 1, step: 60, total: 60, etaSeconds: 60 },
  ],
  [
    'what the batch took and its mean, beside those of the data',
    [7, 8, 9].map(
      (at) =>
        `[2031-02-03 04:05:0${at},000 INFO misc.py line 9 77] Train: [1/2][${at}/400] Data 0.004 (0.003) Batch 1.5${at} (1.553) Remain 00:20:1${at} loss: 1.2${at} Lr: 0.002`,
    ),
    { epoch: 1, step: 9, total: 400, loss: 1.29, rate: { value: 1.59, unit: 's/it' }, etaSeconds: 1_219 },
  ],
  [
    'times without a bracket, and the time of a step with its unit in its name',
    ['[step 200] 1:40<7:30 train/loss/total=12 train/perf/step_time_s=0.505', '[step 300] 2:30<6:40 train/loss/total=11 train/perf/step_time_s=0.495'],
    { step: 300, loss: 11, rate: { value: 0.495, unit: 's/it' }, etaSeconds: 400 },
  ],
  [
    'how long many steps took, on a line behind that of the counter, is the rate of what is left',
    [3, 4].flatMap((at) => [`[proc 0][Train](${at}00/1000) average loss: 0.5${at}`, '[proc 0][Train] 100 steps take 5.5 seconds']),
    { step: 400, total: 1_000, loss: 0.54, rate: { value: 0.055, unit: 's/it' }, etaSeconds: 33 },
  ],
  [
    'the epoch and how many there are, on lines of their own',
    [7, 8, 9].flatMap((at) => [`{'epoch': ${at},`, " 'epochs': 30,", ` 'train': {'loss': 0.5${at}, 'lr': 0.05}}`]),
    { epoch: 9, loss: 0.59 },
  ],
  [
    'the duration of a step with its unit, beside tokens a second',
    [4, 5, 6].map(
      (at) => `time=2031-02-03T04:05:0${at}Z level=INFO msg=done step=10${at} of=4000 loss=2.${at} step_duration=1.2${at}s tokens_per_second=10${at}`,
    ),
    { step: 106, loss: 2.6, rate: { value: 1.26, unit: 's/it' } },
  ],
  [
    'time per iteration under its short name',
    [40, 41, 42].map((at) => `It : ${at}00 / 20000   |   T/It : 0.41 s   |   L1 : 0.8${at}`),
    { step: 4_200, total: 20_000, rate: { value: 0.41, unit: 's/it' } },
  ],
])('%s', (_, lines, wanted) => {
  expect(read(...lines)).toMatchObject(wanted)
})

test('blocks that are quantized before a training are none', () => {
  const lines = [' - quantizing 24 transformer blocks', '50%|#####     | 12/24 [00:04<00:04,  3.00it/s]', '100%|##########| 24/24 [00:08<00:00,  3.00it/s]']
  expect(read(...lines)?.step).toBeUndefined()
})
