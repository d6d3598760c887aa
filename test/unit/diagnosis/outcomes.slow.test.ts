// Scores `explain` on the labelled ends of jobs, where they are beside the repository; nothing of them is in the repository.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '../../..')
const shared = join(root, '../shared')
const tool = join(shared, 'corpus/outcomes/score-outcomes.mjs')
const FIGURES =
  /found {1,4}([\d.]+) % {2}right class as root {1,4}([\d.]+) %[^]*exception {1,4}([\d.]+) % of \d+ {2}user's frame {1,4}([\d.]+) %[^]*facts {1,4}([\d.]+) %[^]*false alarms (\d+) of/

describe.skipIf(!existsSync(tool))('the ends of real jobs (needs ../shared)', () => {
  test.each([
    ['corpus/outcomes/dev.jsonl', 93],
    ['corpus/outcomes/gpualert-474.jsonl', 99],
    ['real-jobs/dev/ends.jsonl', 93],
  ])('%s', (corpus, least) => {
    const done = spawnSync(process.execPath, [tool, join(shared, corpus), '--', process.execPath, join(root, 'agent/main.ts'), 'explain', '--jsonl'], {
      encoding: 'utf8',
    })
    expect(done.stderr).toBe('')
    const [found = 0, kind = 0, exception = 0, frame = 0, facts = 0, alarms = Infinity] = FIGURES.exec(done.stdout)?.slice(1).map(Number) ?? []
    // With the tool's whole table, so that a failure tells the kind.
    const kept = found >= 97 && kind >= least && exception >= 97 && frame >= 93 && facts >= 92 && alarms === 0
    expect(kept ? 'kept' : done.stdout).toBe('kept')
  })
})
