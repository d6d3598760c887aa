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
])('%s', (_, lines, wanted) => {
  expect(read(...lines)).toMatchObject(wanted)
})

describe('none', () => {
  test.each([
    [
      'a bar below a logged line that says what it is for',
      [
        'INFO     caching latents...                                          util.py:88',
        ' 50%|█████     | 10/20 [00:07<00:07,  1.30it/s]',
        '100%|██████████| 20/20 [00:14<00:00,  1.40it/s]',
      ],
    ],
    ['what a test came to', ['Epoch: [3][TESTING SUMMARY] Total Time(s): 12.31 \taverage loss (per batch): 1.25 \t accuracy (%):\t top-1 67.5']],
  ])('%s', (_, lines) => {
    expect(read(...lines)).toBeUndefined()
  })
})
