// `warpwatch hang`: exit codes, folders of several hosts, the JSON of the contract.
import { describe, expect, test } from 'vitest'
import { dumpOf, folderOf, timedOut, WAITS } from '../hang/job-folder.ts'
import { runCli } from './run-cli.ts'

const GROUPS = { '0': { desc: 'default_pg', ranks: [0, 1, 2] } }
const waits = dumpOf(GROUPS, [{}, { at: 1, state: 'scheduled' }])

describe('warpwatch hang', () => {
  test('joins the folders of two hosts, names the rank that is missing, and ends with 1', async () => {
    const one = folderOf({ nccl_trace_rank_0: waits, 'stacks/rank_0.txt': timedOut(WAITS), nccl_trace_rank_1: waits, 'stacks/rank_1.txt': timedOut(WAITS) })
    const other = folderOf({ nccl_trace_rank_2: dumpOf(GROUPS, [{}]) })
    const { code, stdout } = await runCli(['hang', one, other, '--json'])
    expect(JSON.parse(stdout)).toMatchObject({
      verdict: 'hang',
      culprit_ranks: [2],
      root: { group: '0', desc: 'default_pg', seq: 2, op: 'all_reduce' },
      waiting: [{ rank: 0, seq: 2 }, { rank: 1 }],
      stands: {},
      confidence: 'computed',
      remedies: [expect.any(String)],
    })
    expect(code).toBe(1)
  })

  test('for people: who, where, what to change', async () => {
    const folder = folderOf({ 'rank_0.log': '[Rank 0]: Ranks 1 failed to pass monitoredBarrier in 5000 ms\n' })
    const { code, stdout } = await runCli(['hang', folder])
    expect(stdout).toMatch(/^Hang: Rank 1 did not join\./)
    expect(stdout).toContain('What to change:')
    expect(code).toBe(1)
  })

  test.each([
    [['hang', '/nowhere/at/all'], /\/nowhere\/at\/all cannot be read/],
    [['hang', '.'], /nothing of a job was found/],
    [['hang', '4194303'], /no process 4194303/],
    [['hang', '1', '--seconds', 'soon'], /--seconds: must be from 0\.1 to 600/],
  ])('%j says what is wrong and ends with 2', async (args, message) => {
    const { code, stderr } = await runCli(args, { cwd: folderOf({ 'notes.md': 'x' }) })
    expect(stderr).toMatch(message)
    expect(code).toBe(2)
  })
})
