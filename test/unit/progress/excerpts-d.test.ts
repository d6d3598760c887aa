// What is beside a training's figures in trainers of others: bars of an evaluation, counters of samples, timers, a pace that changed.
import { describe, expect, test } from 'vitest'
import { createProgressReader, type Progress } from '../../../agent/progress/reader.ts'

const read = (...lines: readonly string[]): Progress | undefined => {
  const reader = createProgressReader()
  for (const line of lines) reader.push(line)
  return reader.progress()
}
const bar = (step: number, total: number, clocks: string, rate: string): string =>
  `${String(Math.floor((100 * step) / total)).padStart(3)}%|${'█'.repeat(4)}      | ${step}/${total} [${clocks}, ${rate}]`
const losses = (at: number): string => `{'loss': 1.${at}, 'grad_norm': 0.5, 'learning_rate': 2e-05, 'epoch': 0.${at}}`

const training = [
  ...[1, 2, 3, 4].map((at) => bar(10 * at, 900, `00:${10 * at}<14:00`, '1.00s/it')),
  losses(4),
  ...[5, 6, 7, 8].map((at) => bar(10 * at, 900, `01:${10 * at}<13:00`, '1.00s/it')),
  losses(8),
]
const evaluation = [1, 2, 3, 4].map((at) => bar(at, 40, `00:0${at}<00:36`, '4.00it/s'))

describe('an evaluation beside losses on lines of their own', () => {
  test('its bar is not the training, while it runs', () => {
    expect(read(...training, ...evaluation)).toMatchObject({ step: 80, total: 900, loss: 1.8, phase: 'evaluating' })
  })
  test('nor once the training goes on', () => {
    expect(read(...training, ...evaluation, bar(90, 900, '01:35<13:00', '1.00s/it'), losses(9))).toMatchObject({ step: 90, total: 900, loss: 1.9 })
  })
  test('a bar that losses go on beside is the training, whatever came before', () => {
    const next = [1, 2, 3].map((at) => bar(at, 500, `00:0${at}<08:00`, '1.00s/it'))
    expect(read(...training, ...next, losses(7), bar(4, 500, '00:04<08:00', '1.00s/it'))).toMatchObject({ step: 4, total: 500, loss: 1.7 })
  })
})

test.each<readonly [name: string, lines: readonly string[], wanted: object]>([
  [
    'a timer that names neither the epoch nor the step',
    [1, 2].map((at) => `[2023-05-02 11:20:3${at},412] [INFO] [timer.py:157:stop] 1/${70 + 10 * at}, SamplesPerSec=41.5, MemAllocated=12.1GB`),
    { epoch: 1, step: 90, rate: { of: 'sample', value: 41.5 } },
  ],
  [
    'a second counter, of samples',
    [18, 19].map((at) => `Train Epoch: 3 [${at}/840] [${at * 64}/53760]\tLoss: 2.${at}\tsec/batch: 0.25`),
    { epoch: 3, step: 19, total: 840, loss: 2.19 },
  ],
  [
    'what is left of the steps is no time',
    [3, 4, 5].map((at) => `progress ${10 * at}.0% | ${at}0 steps done, ${100 - 10 * at} to go | loss 0.${at} | elapsed ${at}.5 s | remaining ${20 - at}.5 s`),
    { loss: 0.5, etaSeconds: 15.5 },
  ],
  [
    "the name of a counter behind a level is no logger's",
    [3, 4].map(
      (at) => `2023-05-02 11:20:3${at},412:INFO:epoch: [2/12] step: [${at}0/70], lr: 0.001000, loss: 1.${at}, per step time: 250.000 ms, fps: 32.00 img/s`,
    ),
    { epoch: 2, step: 40, total: 70, loss: 1.4, rate: { value: 250, unit: 'ms/it' } },
  ],
  [
    'figures in brackets without a name',
    [7, 8, 9].map((at) => `[11:20:3${at}][#00120${at}][025${at}ms][1.${at}140][1.1023]`),
    { step: 1_209, loss: 1.914, rate: { value: 259, unit: 'ms/it' } },
  ],
  ['the same as a time', [3, 4, 5].map((at) => `step ${at}0/100 loss 0.${at}, ${20 - at} min to go`), { step: 50, total: 100, etaSeconds: 900 }],
  [
    'faster since a while: what is left goes at that pace',
    [
      ...[1, 2, 3, 4, 5, 6].map((at) => `iter ${at}0/200  loss 1.${at}  200 ms/iter`),
      ...[7, 8, 9, 10].map((at) => `iter ${at}0/200  loss 1.${at}  50 ms/iter`),
    ],
    { step: 100, total: 200, etaSeconds: 5 },
  ],
])('%s', (_, lines, wanted) => {
  const { etaSeconds, ...others } = read(...lines) ?? {}
  expect({ ...others, ...(etaSeconds === undefined ? {} : { etaSeconds: Math.round(10 * etaSeconds) / 10 }) }).toMatchObject(wanted)
})
