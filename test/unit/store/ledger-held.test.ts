// What users held and did not use, out of the ledger's file: hours in which a GPU ran nothing count for all who held it, and are known for a whole week.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { HOUR_MS, NO_USE, type UseRow } from '../../../agent/model/ledger.ts'
import { createLedgerStore } from '../../../agent/store/ledger.ts'

const FIRST = 494_000
const card = { uuid: 'GPU-0', gpu: '0' }
const row = (hour: number, user: string, idle: number, active = 0, uuid = 'GPU-0'): UseRow => ({
  hour,
  owner: { user, job: `job-${user}` },
  card: { ...card, uuid },
  use: { ...NO_USE, heldMs: HOUR_MS, idleMs: idle * HOUR_MS, activeMs: active * HOUR_MS },
})
const scene = (rows: readonly UseRow[]) => {
  const store = createLedgerStore({ directory: mkdtempSync(join(tmpdir(), 'warpwatch-ledger-')), log: { info() {}, warn() {}, error() {} } })
  expect(store.write(rows, [])).toBe(true)
  return store
}
const whole = (store: ReturnType<typeof scene>, from: number, to: number) =>
  store
    .held(from * HOUR_MS, to * HOUR_MS)
    .toSorted((a, b) => (a.key ?? '').localeCompare(b.key ?? ''))
    .map(({ key, wholeMs }) => [key, wholeMs / HOUR_MS])

test('an idle GPU that two share is free for both halves; a GPU that ran is free for nobody', () => {
  const store = scene([
    row(FIRST, 'ada', 0.5),
    row(FIRST, 'ben', 0.5),
    row(FIRST + 1, 'ada', 0.3, 0.4),
    row(FIRST + 1, 'ben', 0.3),
    row(FIRST, 'eve', 0.6, 0, 'GPU-1'),
  ])
  expect(whole(store, FIRST, FIRST + 2)).toEqual([
    ['ada', 0.5],
    ['ben', 0.5],
    ['eve', 0],
  ])
  store.close()
})

test('hours are still there when the summary of the week is made on its Monday', () => {
  const week = Array.from({ length: 168 }, (_, hour) => row(FIRST + hour, 'ada', 1))
  const store = scene(week)
  store.maintain((FIRST + 168 + 20) * HOUR_MS)
  expect(whole(store, FIRST, FIRST + 168)).toEqual([['ada', 168]])
  store.close()
})
