// Forms of trainers and simulations whose logs users paste: rates beside a global one, tables that count in their first column, epochs with their step behind a dash.
import { describe, expect, test } from 'vitest'
import { createProgressReader, type Progress } from '../../../agent/progress/reader.ts'

const read = (...lines: readonly string[]): Progress | undefined => {
  const reader = createProgressReader()
  for (const line of lines) reader.push(line)
  return reader.progress()
}

test('a rate beside the global one is that of the samples', () => {
  const line = (step: number): string => `| Training Device=xla:0/1 Epoch=2 Step=${step} Loss=0.4${step} Rate=812.4 GlobalRate=798.1 Time=04:05:${step}`
  expect(read(line(20), line(30))).toMatchObject({ step: 30, epoch: 2, loss: 0.43, rate: { value: 812.4, unit: 'samples/s' } })
})

test('steps of an installer, which say how long they will take', () => {
  expect(
    read('Step 3: Install the drivers (ETA: 10 minutes)', 'Step 4: Build the tools (ETA: 25 minutes)', 'Step 5: Copy the cells (about 2 minutes)'),
  ).toBeUndefined()
})

describe('a table of a simulation', () => {
  test('whose head names a unit with a figure', () => {
    const head = '#"Progress (%)"\t"Step"\t"Potential Energy (kJ/mole)"\t"Box Volume (nm^3)"\t"Speed (ns/day)"\t"Time Remaining"'
    const row = (step: number): string => `1.${step}%\t${step}000\t-71234.${step}\t64.1\t8.13\t5:06:${step}`
    expect(read(head, row(11), row(12), row(13))).toMatchObject({ step: 13_000, etaSeconds: 18_373 })
  })
})

test('losses of a pair of networks beside an epoch alone', () => {
  const line = (epoch: number): string => `[Epoch ${epoch}] [D loss: 0.6${epoch}] [G loss: 1.1${epoch}]`
  expect(read(line(3), line(4))).toMatchObject({ epoch: 4 })
})

test('a list that ends with the step and the learning rate', () => {
  const head = (share: number): string => `INFO:voice:Train Epoch: 3 [${share}%]`
  const lists = ['INFO:voice:[2.41, 3.07, 7.5, 18.2, 4200, 9.97e-05]', 'INFO:voice:[2.44, 3.02, 7.4, 18.1, 4400, 9.97e-05]']
  expect(read(head(20), lists[0] ?? '', head(50), lists[1] ?? '')).toMatchObject({ step: 4400, epoch: 3 })
})

test('the rate that an Estimator prints by itself', () => {
  expect(read('INFO:tensorflow:global_step/sec: 4.25', 'INFO:tensorflow:global_step/sec: 4.5')).toMatchObject({ rate: { value: 4.5 } })
})

test('a validation below a line that says which model was loaded', () => {
  const lines = (epoch: number): readonly string[] => [
    `Epoch: [${epoch}] Avg accuracy 0.71; Average Loss 0.4${epoch}`,
    ' * Average accuracy 0.61; Average Loss 0.812',
  ]
  const loaded = ["=> loaded best model './cells/best.pth' (epoch 2)", ' * Average accuracy 0.63; Average Loss 0.793']
  expect(read(...lines(11), ...lines(12), ...loaded)).toMatchObject({ loss: 0.412 })
})

describe('an untitled bar below a line that says what starts', () => {
  const bar = (done: number): string => `${done}%|#####     | ${done}/100 [00:${done}<00:05, 4.10it/s]`
  test.each(['Starting preprocess with 12 processes...', 'Starting pitch extraction on cuda:0 using crepe...', 'Running tokenization'])('%s', (line) => {
    expect(read(line, bar(40), bar(80))?.step).toBeUndefined()
  })
  test('a training', () => {
    expect(read('Starting training with 12 processes...', bar(40), bar(80))).toMatchObject({ step: 80 })
  })
})

test('a counter that goes on over the epochs, before that of the epoch', () => {
  const line = (epoch: number, all: number, own: number): string =>
    `Train|Epoch${epoch}/40|Iter${all}(${own}/6)| mem:3.1G| lr:2.00e-06| loss_cls:0.41| loss_box:1.27|`
  expect(read(line(2, 9, 4), line(2, 10, 5))).toMatchObject({ step: 5, total: 6, epoch: 2, epochs: 40 })
})

test('the date at which it will be done is no time that is left', () => {
  const line = (step: number): string =>
    `step: ${step}/ 4105 loss:0.41${step % 10} 0.2731 imps:21.${step % 10} lr: 0.0143 etc:Fri Jan 31 04:05:${String(50 - (step % 50))} 2031`
  expect(read(line(1201), line(1212), line(1224))?.etaSeconds).toBeUndefined()
})

test('layers of Darknet are no progress', () => {
  const line = (layer: number): string =>
    `v3 (mse loss, Normalizer: (iou: 0.75, cls: 1.00) Region ${layer} Avg (IOU: 0.41, GIOU: 0.37), Class: 0.81, Obj: 0.12, No Obj: 0.001, count: 3, class_loss = 0.71, iou_loss = 0.11, total_loss = 0.82`
  expect(read(line(82), line(94), line(106))).toBeUndefined()
})
