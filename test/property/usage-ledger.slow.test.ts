// The ledger of use against a host whose truth is known: GPU seconds, active time and energy, also when the agent is killed again and again.
// bench/usage-ledger.ts does the same for a month.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createLedgerStore } from '../../agent/store/ledger.ts'
import { rounds } from '../setup/rounds.ts'
import { simulateMonth } from '../setup/usage-month.ts'

const START = Date.UTC(2026, 9, 1)
const QUIET = { info() {}, warn() {}, error() {} }
const off = (found: number, truth: number): number => Math.abs(found - truth) / truth

test.each([
  ['without a crash', 0],
  ['killed twice an hour', rounds({ full: 50, quick: 13 })],
])('hours of 16 processes, MIG and a lost GPU, %s', (_, kills) => {
  const directory = mkdtempSync(join(tmpdir(), 'warpwatch-ledger-'))
  // Under the same bounds: fewer hours ask more of it, not less.
  const seconds = rounds({ full: 24, quick: 6 }) * 3_600
  const { truth, joules, worstShare, short, store } = simulateMonth({
    start: START,
    seconds,
    kills,
    seed: 23 + kills,
    open: () => createLedgerStore({ directory, log: QUIET }),
  })
  const sums = store.sums('job', START, START + 2 * seconds * 1_000)
  store.close()
  const found = new Map(sums.map(({ key, unheld, use }) => [unheld ? 'nobody' : (key ?? ''), use]))
  expect(short).toBeGreaterThan(1_000)
  expect(worstShare).toBeLessThan(0.05)
  // The parts of the energy are the counters.
  expect(
    off(
      sums.reduce((sum, { use }) => sum + use.joules, 0),
      joules,
    ),
  ).toBeLessThan(0.01)
  const wrong: string[] = []
  let [held, active, heldTruth, activeTruth] = [0, 0, 0, 0]
  for (const [job, of] of truth) {
    const use = found.get(job)
    held += use?.heldMs ?? 0
    active += use?.activeMs ?? 0
    heldTruth += of.heldMs
    activeTruth += of.activeMs
    // Whoever lasts less than a second is seen now and then: right on average, and less sure than others.
    if (job !== 'job-0' && off(use?.heldMs ?? 0, of.heldMs) >= 0.01) wrong.push(job)
  }
  expect(wrong).toEqual([])
  expect(off(held, heldTruth)).toBeLessThan(0.01)
  expect(off(active, activeTruth)).toBeLessThan(0.01)
  expect(off(found.get('job-0')?.heldMs ?? 0, truth.get('job-0')?.heldMs ?? 0)).toBeLessThan(0.05)
})
