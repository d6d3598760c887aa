// The ledger of use over a month: how right it is with 50 crashes, how long `jobs --by user` takes, and what it takes on disk. 8 GPUs, 400 jobs.
// Run alone: node scripts/run.mjs bench/usage-ledger.ts
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { UseRow } from '../agent/model/ledger.ts'
import { createLedgerStore } from '../agent/store/ledger.ts'
import { simulateMonth } from '../test/setup/usage-month.ts'

const QUIET = { info() {}, warn() {}, error() {} }
const HOUR = 3_600_000
const DAYS = 30
const START = Date.UTC(2026, 9, 1)
const say = (name: string, value: string): void => void process.stdout.write(`${name.padEnd(56)} ${value}\n`)
const percentOff = (found: number, truth: number): string => `${((Math.abs(found - truth) / truth) * 100).toFixed(3)} % off`

function truth(): void {
  const directory = mkdtempSync(join(tmpdir(), 'warpwatch-ledger-'))
  const {
    truth: known,
    joules,
    worstShare,
    short,
    store,
  } = simulateMonth({
    start: START,
    seconds: DAYS * 86_400,
    kills: 50,
    seed: 23,
    open: () => createLedgerStore({ directory, log: QUIET }),
  })
  const sums = store.sums('job', START, START + 2 * DAYS * 24 * HOUR)
  let [held, active, heldTruth, activeTruth] = [0, 0, 0, 0]
  let worst = 0
  for (const [job, of] of known) {
    const use = sums.find(({ key }) => key === job)?.use
    held += use?.heldMs ?? 0
    active += use?.activeMs ?? 0
    heldTruth += of.heldMs
    activeTruth += of.activeMs
    worst = Math.max(worst, Math.abs((use?.heldMs ?? 0) - of.heldMs) / of.heldMs)
  }
  say('processes of less than a second', String(short))
  say('GPU seconds held, a month and 50 kills (limit 1 %)', percentOff(held, heldTruth))
  say('  worst job', `${(worst * 100).toFixed(3)} % off`)
  say('GPU seconds active (limit 1 %)', percentOff(active, activeTruth))
  say(
    'energy: sum of the parts against the counters (limit 1 %)',
    percentOff(
      sums.reduce((sum, { use }) => sum + use.joules, 0),
      joules,
    ),
  )
  say('shares against the utilization of the GPU (limit 5 points)', `${(worstShare * 100).toFixed(2)} points at worst`)
  store.close()
  rmSync(directory, { recursive: true })
}

function size(): void {
  const directory = mkdtempSync(join(tmpdir(), 'warpwatch-ledger-'))
  const store = createLedgerStore({ directory, log: QUIET })
  // 400 jobs of 20 users; at each hour each GPU is held by two of them.
  for (let hour = 0; hour < DAYS * 24; hour++) {
    const rows: UseRow[] = []
    for (let gpu = 0; gpu < 8; gpu++)
      for (let slot = 0; slot < 2; slot++) {
        const job = (gpu * 50 + Math.floor((hour * 50) / (DAYS * 24)) + slot * 7) % 400
        rows.push({
          hour: START / HOUR + hour,
          owner: { job_id: job.toString(16).padStart(16, '0'), job: `train-${job}`, user: `user-${job % 20}`, account: `lab-${job % 5}` },
          card: { uuid: `GPU-00000000-0000-4000-8000-00000000000${gpu}`, gpu: String(gpu) },
          use: { heldMs: HOUR, activeMs: 0.4 * HOUR, idleMs: 0.1 * HOUR, mibSeconds: 3_600 * 40_000, joules: 600_000, tokens: 0 },
        })
      }
    store.write(rows, [])
    if (hour % 24 === 0) store.maintain(START + hour * HOUR)
  }
  const now = START + DAYS * 24 * HOUR
  const before = process.cpuUsage()
  const times = Array.from({ length: 20 }, () => {
    const begun = performance.now()
    store.sums('user', now - DAYS * 24 * HOUR, now)
    return performance.now() - begun
  }).toSorted((a, b) => a - b)
  const { user, system } = process.cpuUsage(before)
  say('jobs --by user --since 30d, 8 GPUs and 400 jobs (limit 50 ms)', `${times[10]?.toFixed(1)} ms, worst ${times.at(-1)?.toFixed(1)} ms`)
  say('the same, CPU time', `${((user + system) / times.length / 1_000).toFixed(1)} ms`)
  store.close()
  say('on disk after a month (limit 2 MiB)', `${(statSync(join(directory, 'ledger.db')).size / 2 ** 20).toFixed(2)} MiB`)
  rmSync(directory, { recursive: true })
}

size()
truth()
