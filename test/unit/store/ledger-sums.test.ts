// Sums of the ledger over a span that begins and ends anywhere: the part of its first hour or day that is inside counts, whatever it is grouped by.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { HOUR_MS, NO_USE, type UseRow } from '../../../agent/model/ledger.ts'
import { createLedgerStore } from '../../../agent/store/ledger.ts'

/** The first hour of a day. */
const FIRST = 24 * 20_600
const row = (hour: number, user: string, gpu: string, heldMs: number): UseRow => ({
  hour,
  owner: { user, job: `job-${user}`, job_id: user },
  card: { uuid: `GPU-${gpu}`, gpu },
  use: { ...NO_USE, heldMs, joules: heldMs / 10 },
})
const scene = (rows: readonly UseRow[]) => {
  const store = createLedgerStore({ directory: mkdtempSync(join(tmpdir(), 'warpwatch-ledger-')), log: { info() {}, warn() {}, error() {} } })
  expect(store.write(rows, [])).toBe(true)
  const held = (by: 'user' | 'gpu', from: number, to: number) =>
    Object.fromEntries(
      store
        .sums(by, from * HOUR_MS, to * HOUR_MS)
        .map(({ key, use }) => [key ?? '', Math.round(use.heldMs)] as const)
        .toSorted(([a], [b]) => a.localeCompare(b)),
    )
  return { store, held }
}
const ROWS = [0, 1, 2].flatMap((hour) => [row(FIRST + hour, 'ada', '0', 1_000), row(FIRST + hour, 'ada', '1', 600), row(FIRST + hour, 'ben', '1', 400)])

test('of the first hour the part inside counts, whole hours in full, later ones not at all', () => {
  const { store, held } = scene(ROWS)
  expect(held('user', FIRST, FIRST + 3)).toEqual({ ada: 4_800, ben: 1_200 })
  expect(held('user', FIRST + 0.75, FIRST + 2)).toEqual({ ada: 1_600 * 1.25, ben: 400 * 1.25 })
  expect(held('gpu', FIRST + 0.75, FIRST + 2)).toEqual({ '0': 1_250, '1': 1_250 })
  expect(held('gpu', FIRST + 0.25, FIRST + 0.5)).toEqual({ '0': 750, '1': 750 })
  expect(held('user', FIRST + 3, FIRST + 9)).toEqual({})
  store.close()
})

test('of a day that was summed up, the part inside counts', () => {
  const { store, held } = scene([...ROWS, row(FIRST + 30 * 24, 'eve', '0', 100)])
  store.maintain((FIRST + 30 * 24) * HOUR_MS)
  expect(held('user', FIRST, FIRST + 31 * 24)).toEqual({ ada: 4_800, ben: 1_200, eve: 100 })
  expect(held('user', FIRST + 18, FIRST + 31 * 24)).toEqual({ ada: 1_200, ben: 300, eve: 100 })
  expect(held('gpu', FIRST + 18, FIRST + 24)).toEqual({ '0': 750, '1': 750 })
  store.close()
})
