// The tail of the ledger's file: what an agent that was killed had counted since its last write is added to the sums once, whenever the next one is killed.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { NO_USE, type CardCheckpoint, type UseRow } from '../../../agent/model/ledger.ts'
import { createLedgerStore } from '../../../agent/store/ledger.ts'

const HOUR = 494_000
const row = (seconds: number): UseRow => ({
  hour: HOUR,
  owner: { job_id: '1', job: 'train', user: 'ada' },
  card: { uuid: 'GPU-0', gpu: '0' },
  use: { ...NO_USE, heldMs: seconds * 1_000, joules: seconds * 100 },
})
const checkpoint = (t: number): CardCheckpoint => ({ uuid: 'GPU-0', t, counter: t / 10, holders: [], instances: { '1': 0.5 } })
const scene = () => {
  const directory = mkdtempSync(join(tmpdir(), 'warpwatch-tail-'))
  // Nothing is closed in between: as after kill -9.
  const open = () => createLedgerStore({ directory, log: { info() {}, warn() {}, error() {} } })
  const sum = (store: ReturnType<typeof open>) => store.sums('job', 0, Number.MAX_SAFE_INTEGER).map(({ key, use: { heldMs, joules } }) => [key, heldMs, joules])
  return { open, sum }
}

test('each tail replaces the one before; the next agent adds the last to the sums, once', () => {
  const { open, sum } = scene()
  const killed = open()
  killed.write([row(10)], [checkpoint(10_000)])
  for (const second of [1, 2, 3]) expect(killed.keepTail({ rows: [row(second)], checkpoints: [checkpoint(10_000 + second * 1_000)], runs: [] })).toBe(true)
  expect(sum(killed)).toEqual([['train', 10_000, 1_000]])
  for (const again of [open(), open(), open()]) {
    again.recover()
    expect(sum(again)).toEqual([['train', 13_000, 1_300]])
    expect(again.checkpoints()).toEqual([checkpoint(13_000)])
  }
})

test('what was written to the sums is in the tail no more', () => {
  const { open, sum } = scene()
  const killed = open()
  killed.keepTail({ rows: [row(3)], checkpoints: [checkpoint(3_000)], runs: [] })
  killed.write([row(4)], [checkpoint(4_000)])
  const next = open()
  expect(next.tail()).toBeUndefined()
  next.recover()
  expect(sum(next)).toEqual([['train', 4_000, 400]])
})

test('the runs of the tail stay until the next tail is written: an agent may be killed before it has looked', () => {
  const { open } = scene()
  const run = {
    key: 'p:1:1',
    roots: [],
    countedTo: 3_000,
    pids: [7],
    row: {
      job_id: '1',
      job: 'train',
      kind: 'session' as const,
      run: 1,
      started_at: 1,
      seen_at: 3_000,
      gpus: [],
      gpu_seconds: { active: 1, idle: 0, lost: 0 },
      incidents: [],
    },
  }
  open().keepTail({ rows: [row(3)], checkpoints: [checkpoint(3_000)], runs: [run] })
  for (const again of [open(), open()]) {
    again.recover()
    expect(again.tail()).toEqual({ rows: [], checkpoints: [], runs: [run] })
  }
})
