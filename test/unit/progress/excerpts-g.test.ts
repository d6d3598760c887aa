// Forms of trainers and simulations whose logs users paste: steps as a range, totals that grow with their counter, sections, aside bars, times since the start.
import { describe, expect, test } from 'vitest'
import { createProgressReader, type Progress } from '../../../agent/progress/reader.ts'

const read = (...lines: readonly string[]): Progress | undefined => {
  const reader = createProgressReader()
  for (const line of lines) reader.push(line)
  return reader.progress()
}

describe('steps as a range', () => {
  test('padded in brackets, with the rate of the samples beside the time of them all', () => {
    const line = (from: number, to: number): string =>
      ` Epoch[ 4 of 30]-Minibatch[${String(from).padStart(4)}-${String(to).padStart(4)}, 25.0%]: ce = 1.41${to} * 640; error = 41.3% * 640; time = 0.310s; samplesPerSecond = 2064.5`
    expect(read(line(11, 20), line(21, 30), line(31, 40))).toMatchObject({ step: 40, epoch: 4, rate: { value: 2064.5, unit: 'samples/s' } })
  })
  test('a difference in brackets is none', () => {
    const line = (step: number): string => `step ${step} loss 0.5${step} [  9-  3] grad_norm 1.2`
    expect(read(line(41), line(42))).toMatchObject({ step: 42, loss: 0.542 })
  })
})

test('the loss below the head of a validation', () => {
  const epoch = (at: number): readonly string[] => [`Epoch ${at}/40`, 'Train:', `    loss: 0.6${at}    acc: 0.81`, 'Valid:', `    loss: 0.8${at}    acc: 0.77`]
  expect(read(...epoch(11), ...epoch(12))).toMatchObject({ epoch: 12, loss: 0.612 })
})

test('losses of warnings about single samples are none', () => {
  const line = (loss: number): string => `2026-02-01 10:11:12 WARNING: loss (=${loss}.0) is not correct, the sample is left out`
  expect(read(line(14_484_257), line(21_310_442), line(18_220_310))).toBeUndefined()
})

describe('what a bar without a title is for', () => {
  const bar = (done: number): string => `${done}%|#####     | ${done}/100 [00:${done}<00:05, 4.10it/s]`
  test('said above another bar that loads', () => {
    const loading = 'Loading weights: 100%|##########| 213/213 [00:01<00:00, 180.1it/s]'
    expect(read('Starting feature extraction on cuda:1 using rmvpe...', loading, bar(40), bar(80))?.step).toBeUndefined()
  })
  test('it began without a total and was too fast for any training', () => {
    expect(read('0it [00:00, ?it/s]', '31it [00:00, 15210.40it/s]')).toBeUndefined()
  })
  test('it began without a total and is a training', () => {
    expect(read('0it [00:00, ?it/s]', '31it [00:10, 3.02it/s]')).toMatchObject({ step: 31 })
  })
})

test('what it seems to count to is the counter, after two lines', () => {
  const line = (batch: number): string => `2026-02-01 10:11:${String(batch / 100).padStart(2, '0')} Epoch 3 Batch 3/${batch} train_loss = 2.4${batch}`
  const progress = read(line(400), line(500))
  expect(progress).toMatchObject({ step: 500, epoch: 3, loss: 2.45 })
  expect(progress?.total).toBeUndefined()
})

test('a total that grows with its counter is none', () => {
  const line = (step: number, whole: number): string =>
    `At iteration ${step}/${whole}/${whole}, Mean rms=2.${step % 100}%, delta=3.1%, char train=8.2%, word train=19.4%, skip ratio=0%,  New worst char error = 8.2 wrote checkpoint.`
  const progress = read(line(2711, 3000), line(2804, 3100), line(2889, 3200), line(2976, 3300))
  expect(progress).toMatchObject({ step: 2976 })
  expect(progress?.total).toBeUndefined()
})

describe('tables', () => {
  test('one column of which is a list', () => {
    const head = 'Step      Train loss                        Test loss                         Test metric'
    const row = (step: number): string => `${step}      [4.1${step % 9}e-02, 3.20e-02, 8.1e-03]    [4.2e-02, 3.3e-02, 8.2e-03]    []`
    expect(read(head, row(1000), row(2000), row(3000))).toMatchObject({ step: 3000, loss: 0.0413 })
  })
})

test('the step of a heading, not that of the optimizer', () => {
  const block = (step: number): readonly string[] => [
    `──────────── Step ${step} ────────────`,
    `train_stats/opt_grad_steps ${step * 9} / train_stats/loss 1.3${step % 10} / fps/train 210.4`,
  ]
  expect(read(...block(104), ...block(208), ...block(312))).toMatchObject({ step: 312 })
})

describe('times', () => {
  test('what it will take is no time of a step', () => {
    const line = (step: number): string => `step ${step}, loss 0.4${step}, estimated time: ${900 - step}.5`
    const progress = read(line(11), line(12))
    expect(progress).toMatchObject({ step: 12, loss: 0.412 })
    expect(progress?.rate).toBeUndefined()
  })
  test('written as one word, behind the name of its group', () => {
    const line = (step: number): string => `runtime.step=${step}, runtime.steptime=0.46${step % 10}, loss.cls_loss=0.31, loss.loc_loss=0.62, misc.lr=0.0011`
    expect(read(line(10_301), line(10_352), line(10_403))).toMatchObject({ step: 10_403, rate: { value: 0.463, unit: 's/it' } })
  })
  test('of an epoch that began above, with the data of each beside', () => {
    const lines = (epoch: number): readonly string[] => [
      `[Epoch ${epoch}]\tLearning rate: 1.00e-4`,
      `[1600/16000]\t[L1: 5.${epoch}]\t11.3+0.6s`,
      `[3200/16000]\t[L1: 5.1${epoch}]\t10.2+0.5s`,
    ]
    expect(read(...lines(12), ...lines(13))).toMatchObject({ step: 3200, total: 16_000, epoch: 13 })
  })
  test('since the start, after two lines of a resumed run', () => {
    const line = (step: number, seconds: number): string => `[9-3 / step 0] Epoch 1, Itrs ${step}/29900, Loss=0.9${step}, Time=${seconds}.20 , LR=0.00098884`
    const progress = read(line(370, 4751), line(380, 4882))
    expect(progress).toMatchObject({ step: 380, total: 29_900, loss: 0.938 })
    expect(progress?.rate?.value ?? 0).toBeLessThan(20)
  })
  test('of long steps', () => {
    const line = (step: number, seconds: number): string => `iter ${step}/900, loss=0.9${step}, time=${seconds}.20`
    expect(read(line(37, 131), line(38, 128))).toMatchObject({ rate: { value: 128.2, unit: 's/it' } })
  })
})

test('the step of the whole run beside that of a problem', () => {
  const line = (step: number): string => `[2026-02-01 10:11:1${step}] [INFO] [Problem "inner"] [Global Step ${step}000] [Local Step ${step}0] loss: 0.29${step}`
  expect(read(line(7), line(8), line(9))).toMatchObject({ step: 9000, loss: 0.299 })
})

describe('columns of losses before a bar', () => {
  const bar = (step: number, losses: string): string =>
    `     3/299     11.5G    ${losses}       412       640:   6%|###       | ${step}/234 [00:23<04:56,  1.36s/it]`
  test('whose sum is a figure', () => {
    expect(read(bar(14, '0.1126     2.552    0.4747     3.139'), bar(15, '0.1026     2.452    0.4647     3.019'))).toMatchObject({ step: 15, loss: 3.019 })
  })
  test('one of which is none', () => {
    expect(read(bar(14, '0.1126     2.552    0.4747     3.139'), bar(15, 'nan     2.028       nan       nan'))).toMatchObject({ loss: Number.NaN })
  })
})

describe('settings are no figures', () => {
  test.each([
    "Namespace(act='relu', batch_size=16, epochs=90, loss='1*L1', lr=0.0002, start_epoch=1)",
    'OptimizerConfig(lr=0.003, steps=4000, loss=0.25, epochs=12)',
  ])('%s', (line) => {
    expect(read(line)).toBeUndefined()
  })
  test('a result is one', () => {
    expect(read('TrainOutput(global_step=410, training_loss=0.4182, metrics={})')).toMatchObject({ step: 410 })
  })
})
