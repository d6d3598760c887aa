// The ledger of use and the figures of runs after 50 kills of the agent within some minutes, against the truth: with the files of the agent, without its waiting.
// test/integration/use-ledger-kills.parallel.test.ts kills a real one.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadConfig } from '../../agent/config/load.ts'
import { createJobs } from '../../agent/wiring/jobs.ts'
import { rounds } from '../setup/rounds.ts'
import { replay } from '../setup/use-replay.ts'

const KILLS = 50
const SEEDS = [1, 2, 3, 4].slice(0, rounds({ full: 4, quick: 2 }))
const LIMIT = 0.01
const QUIET = { info() {}, warn() {}, error() {} }

test.each([
  ['two seconds', 2_000],
  ['six seconds', 6_000],
])(`GPU seconds within 1 %% after ${KILLS} kills: away for up to %s`, async (_, downMs) => {
  const all = { unseen: 0 }
  for (const seed of SEEDS) {
    const folder = mkdtempSync(join(tmpdir(), 'warpwatch-kills-'))
    writeFileSync(join(folder, 'warpwatch.yaml'), `data_dir: ${folder}/data\n`)
    const { config } = await loadConfig({ cwd: folder, env: {} })
    const { truth, joules, jobs, unseen } = replay({
      seed,
      kills: KILLS,
      downMs,
      open() {
        const opened = createJobs(config, QUIET, () => {})
        opened.restore()
        return opened
      },
    })
    const rows = jobs.view.groups('job', {})
    const off = { held: 0, active: 0, runs: 0, joules: rows.reduce((sum, { energy_joules: own = 0 }) => sum + own, -joules) }
    let [held, active] = [0, 0]
    for (const [job, { heldMs, activeMs }] of truth) {
      const row = rows.find(({ key }) => key === job)
      held += heldMs / 1_000
      active += activeMs / 1_000
      off.held += (row?.held_seconds ?? 0) - heldMs / 1_000
      off.active += (row?.gpu_seconds.active ?? 0) - activeMs / 1_000
      const runs = jobs.view.runs(job, 1_000).flatMap(({ gpus }) => gpus.map(({ held_seconds: own }) => own))
      off.runs += runs.reduce((sum, own) => sum + own, -heldMs / 1_000)
    }
    jobs.close()
    const parts = { held: off.held / held, active: off.active / active, runs: off.runs / held, joules: off.joules / joules }
    const wrong = Object.entries(parts).filter(([, part]) => Math.abs(part) >= LIMIT)
    all.unseen += unseen
    expect(wrong, `seed ${seed}`).toEqual([])
  }
  expect(all.unseen).toBeGreaterThan(0)
})
