// Forms of programs whose logs users paste: an epoch alone with its time, the status of hashcat; and rows of figures that are no training.
import { describe, expect, test } from 'vitest'
import { createProgressReader, type Progress } from '../../../agent/progress/reader.ts'

const read = (...lines: readonly string[]): Progress | undefined => {
  const reader = createProgressReader()
  for (const line of lines) reader.push(line)
  return reader.progress()
}
const bar = (step: number, total: number, clocks: string, rest: string): string =>
  `steps: ${String(Math.floor((100 * step) / total)).padStart(3)}%|${'█'.repeat(4)}      | ${step}/${total} [${clocks}, ${rest}]`

describe('an epoch alone with its time', () => {
  test.each(['INFO:32k:====> Epoch: #, cost 71.#4 s', 'Epoch # took 14.#2 s', 'epoch #: time 3.#s'])('%s', (line) => {
    expect(read(...[7, 8].map((epoch) => line.replaceAll('#', String(epoch))))).toMatchObject({ epoch: 8 })
  })
  test('is none where it comes once', () => {
    expect(read('Epoch 7 took 14.2 s')).toBeUndefined()
  })
})

describe('the status of hashcat', () => {
  const status = (state: string, estimated: string): readonly string[] => [
    `Status...........: ${state}`,
    'Hash.Name........: SHA1',
    'Time.Started.....: Mon Feb  3 04:05:06 2031 (40 secs)',
    `Time.Estimated...: ${estimated}`,
    'Speed.#1.........:  5120.4 MH/s (11.20ms) @ Accel:8 Loops:256 Thr:1024 Vec:1',
    'Recovered........: 0/4 (0.00%) Digests',
    'Progress.........: 204800000/91625968981 (0.22%)',
    'Rejected.........: 0/204800000 (0.00%)',
  ]
  test('counts, and says what is left', () => {
    expect(read(...status('Running', 'Wed Feb  5 07:05:06 2031 (2 days, 3 hours)'))).toMatchObject({
      step: 204_800_000,
      total: 91_625_968_981,
      etaSeconds: 183_600,
    })
  })
  test('that has no end says none', () => {
    expect(read(...status('Running', 'Next Big Bang (> 10 years)'))).not.toHaveProperty('etaSeconds')
  })
  test('that does not run', () => {
    expect(read(...status('Exhausted', 'Wed Feb  5 07:05:06 2031 (0 secs)'))).toBeUndefined()
  })
})

describe('rows that are no training', () => {
  test('of a test, whose last column comes back from no number', () => {
    const row = (at: number, difference: string, last: string): string => `   ${at}   ${difference}   0.0000000000   ${difference}   ${last}`
    expect(read(...[41, 42, 43, 44, 45].map((at) => (at === 42 ? row(at, '-3.25E-003', '-Infinity') : row(at, '0.0000000000', 'NaN'))))).toBeUndefined()
  })
  test('of a database that is copied', () => {
    const copied = (rows: number): string =>
      `[====>        ]  ${rows}/41200000 rows (${Math.round(rows / 412_000)}.0%) on total estimated data (912 sec., avg: 9120 recs/sec)`
    expect(read(copied(1_200_000), copied(2_400_000), copied(3_600_000))).toBeUndefined()
  })
  test('of what each frame came to', () => {
    const rows = ['0 24.7310418', '1 23.9182736', '2 24.0571120', '3 26.1100734', '4 25.8801122', '5 26.0091730']
    expect(read('##[Mapper]frame id, psnr_rendered', ...rows)).toBeUndefined()
    expect(read('id, iteration, loss', ...rows.map((row, at) => `${row} ${9 - at}.5`))).toBeDefined()
  })
})

test('a line that begins with the seconds since 1970', () => {
  const lines = [30, 31].flatMap((step) => [
    `19277${step}445  INFO: src/own/solver.cpp : line 218 : Iteration ${step} (0.0212 iter/s, 47.1s/1 iters), loss = 2.${step}`,
    `19277${step}445  INFO: src/own/solver.cpp : line 237 :     Train net output #0: loss = 2.${step} (* 1 = 2.${step} loss)`,
  ])
  expect(read(...lines)).toMatchObject({ step: 31, loss: 2.31, rate: { value: 0.0212, unit: 'it/s' } })
})

test('the epoch that begins, behind a bar and below it', () => {
  const next = 'INFO:owntuner.dataset.image_dataset:epoch is incremented. current_epoch: 6, epoch: 7'
  const bars = [61, 62, 63].map(
    (at) => `[04:05:${at - 50}] [STDERR] ${bar(at, 90, '21:0' + String(at - 60) + '<09:41', '20.75s/it, avr_loss=0.09' + String(at))}`,
  )
  expect(read(...bars, `[04:05:14] [STDERR] ${next}`)).toMatchObject({ step: 63, total: 90, epoch: 7 })
})

describe('a simulation that counts without saying to what', () => {
  const lines = [41_000, 42_000].flatMap((step, at) => [
    ` TIME STEP =   ${step}   ${at + 1}.46% COMPLETE     ITERATIONS =   9     TIME =  0.${41 + at}000000E+06`,
    `  HMAX =  1.${at}054E-001 AT NODE     1241  ON MYPROC =    0`,
    `  WALL CLOCK TIME ELAPSED:  2m3${at}s,   WALL CLOCK TIME REMAINING:  1h30m1${5 - at}s`,
  ])
  test('goes on where the time that is left is below its step', () => {
    expect(read(...lines)).toMatchObject({ step: 42_000, etaSeconds: 5_414 })
  })
  test('but not by its step alone', () => {
    expect(read(...lines.slice(0, 2))).toBeUndefined()
  })
})

test("the status of an agent's training, whose reward is short", () => {
  const status = (iter: number): readonly string[] => [
    'RUNNING trials:',
    ` - TD3_Hopper-v2_0:\tRUNNING [pid=86], ${iter}53 s, ${iter} iter, ${iter}000 ts, 1${iter} rew`,
  ]
  expect(read(...status(30), ...status(31))).toMatchObject({ step: 31 })
})
