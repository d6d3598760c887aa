// Scores `progress` on the labelled corpora of real logs, where they are beside the repository; nothing of them is in the repository.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '../../..')
const shared = join(root, '../shared')
const tool = join(shared, 'corpus/progress/score-progress.mjs')

describe.skipIf(!existsSync(tool))('the corpora of progress (need ../shared)', () => {
  test.each([
    ['excerpts', 'corpus/progress/dev.jsonl', 98],
    ['cuts of real runs', 'real-jobs/dev/progress-cuts.jsonl', 98],
  ])('%s keep their limits', (_, corpus, fields) => {
    const command = [tool, join(shared, corpus), '--jsonl', '--misses', '--', process.execPath, join(root, 'agent/main.ts'), 'progress', '--jsonl']
    const { stdout } = spawnSync(process.execPath, command, { encoding: 'utf8' })
    const [something = 0, all = 0] = /something read of ([\d.]+) %.*fields right ([\d.]+) %/.exec(stdout)?.slice(1).map(Number) ?? []
    const judged = /NaN told +100\.0 %.*false 0\nslow-down told +100\.0 %.*false 0\nprogress read where none is 0\.0 %/.test(stdout)
    // With the whole table, so that a failure tells what was missed.
    expect(something >= 98 && all >= fields && judged ? 'kept' : stdout).toBe('kept')
  })
})
