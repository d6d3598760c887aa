// Loops of people and trainers that no test had named: heads over figures, bars and lines that a copy tore or glued, names that look like counters.
import { describe, expect, test } from 'vitest'
import { createProgressReader, type Progress } from '../../../agent/progress/reader.ts'

const read = (...lines: readonly string[]): Progress | undefined => {
  const reader = createProgressReader()
  for (const line of lines) reader.push(line)
  return reader.progress()
}

test.each<readonly [name: string, lines: readonly string[], wanted: object]>([
  [
    'epochs in a heading, over figures that are no losses',
    [
      '[ Epoch 41 ]',
      '  - (Training)   ppl:  12.5, accuracy: 61.2 %, elapse: 3.1 min',
      '[ Epoch 42 ]',
      '  - (Training)   ppl:  12.1, accuracy: 61.9 %, elapse: 3.2 min',
    ],
    { epoch: 42 },
  ],
  [
    'the time of a step under the name of a clock: it went down',
    ['epoch:1   train step:40  loss: 3.5 lr: 0.1 elapse: 0.212 reader : 0.002s', 'epoch:1   train step:50  loss: 3.25 lr: 0.1 elapse: 0.205 reader : 0.002s'],
    { step: 50, loss: 3.25, rate: { value: 0.205, unit: 's/it' } },
  ],
  [
    'tot, for total',
    ['epoch: 2 |tot_loss 0.75 | box_loss 1.5 | id_loss 0.25', 'epoch: 3 |tot_loss 0.625 | box_loss 1.25 | id_loss 0.125'],
    { epoch: 3, loss: 0.625 },
  ],
  [
    'glued without a line end',
    ['Progress:   1.0% words/sec/thread:      40 lr:  0.1 loss: 5.5 ETA: 17Progress:   1.1% words/sec/thread:      42 lr:  0.1 loss: 5.25 ETA: 16'],
    { loss: 5.25, etaSeconds: 16 },
  ],
  [
    'a counter of what batches hold, beside a loss',
    ['[TRAIN] [EPOCH:3/9 ] [SEQ: 4/120] Total Loss: 2.75\tdepth loss: 1.75', '[TRAIN] [EPOCH:3/9 ] [SEQ: 5/120] Total Loss: 2.5\tdepth loss: 1.5'],
    { epoch: 3, step: 5, total: 120, loss: 2.5 },
  ],
  [
    'a bar below its title, with figures of the epoch on further lines',
    [
      'Epoch 7: 100% ################',
      '50/50 [1:06:20<00:00, 31.30s/it, v_num=4, train_loss_step=0.25, train_acc_step=0.871,',
      'val_acc_epoch=0.807, train_auroc_epoch=0.842]',
    ],
    { epoch: 7, step: 50, total: 50, loss: 0.25 },
  ],
  [
    'a training step beside the reward of the last test',
    [1, 2, 3].map((at) => `Last test reward: ${10 + at}.00. Training step: ${at}00/9000. Played games: ${80 + at}. Loss: 2.${at}`),
    { step: 300, total: 9_000, loss: 2.3 },
  ],
  [
    'a fraction of what may be an epoch',
    ['loss: 2.5, learning_rate: 1e-05, global_step: 130, interval_steps_per_second: 0.25, progress_or_epoch: 0.013'],
    { step: 130, epoch: 0.013 },
  ],
  [
    'a counter without a name, and in so many words the time of a step',
    [2, 3, 4, 5].map((at) => ` 1${at} % =     1${at}00 | time elapsed:       1min ${10 + 6 * at}sec 121msec | avg time per step:  58msec`),
    { step: 1_500, rate: { value: 58, unit: 'ms/it' } },
  ],
  [
    'the step of a simulation, and how long one took',
    ['on time step 1500 (time=37.5), 0.0213 s/step', 'on time step 1600 (time=40), 0.0214 s/step'],
    { step: 1_600, rate: { value: 0.0214 } },
  ],
  [
    'what a simulation goes on in a step is no time that it took',
    [3, 4].flatMap((at) => [`STEP 12${at} ends. TIME = 1.2${at}e-13 DT = 1e-15`, `Evolve time = 12.${at} s; This step = 0.104 s; Avg. per step = 0.101 s`]),
    { step: 124, rate: { value: 0.104, unit: 's/it' } },
  ],
])('%s', (_, lines, wanted) => {
  expect(read(...lines)).toMatchObject(wanted)
})

describe('none', () => {
  test.each([
    [
      'a bar below a logged line that says what it is for',
      [
        `INFO     caching latents...${' '.repeat(90)}util.py:88`,
        ' 50%|█████     | 10/20 [00:07<00:07,  1.30it/s]',
        '100%|██████████| 20/20 [00:14<00:00,  1.40it/s]',
      ],
    ],
    ['what a test came to', ['Epoch: [3][TESTING SUMMARY] Total Time(s): 12.31 \taverage loss (per batch): 1.25 \t accuracy (%):\t top-1 67.5']],
  ])('%s', (_, lines) => {
    expect(read(...lines)).toBeUndefined()
  })
})
