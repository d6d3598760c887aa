// `warpwatch progress` as a script sees it.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runCli } from './run-cli.ts'

const file = (text: string): string => {
  const path = join(mkdtempSync(join(tmpdir(), 'warpwatch-progress-')), 'log')
  writeFileSync(path, text)
  return path
}
const BAR = 'train:  25%|██▌       | 50/200 [00:25<01:15,  2.00it/s, loss=0.50]\r'

describe('progress', () => {
  test('for people', async () => {
    const { code, stdout } = await runCli(['progress', file(BAR)])
    expect(code).toBe(0)
    expect(stdout).toBe(`step   50 of 200  ${'█'.repeat(8)}${'░'.repeat(22)} 25 %\nrate   2 it/s\nloss   0.5\nleft   1 min 15 s\nphase  training\n`)
  })
  test('numbers before a colon that count are no tasks', async () => {
    const rounds = [0, 100, 200].map(
      (at) => `${at}:\tlearn: 0.${900 - at}5\ttest: 0.${910 - at}\tbest: 0.${910 - at} (${at})\ttotal: ${at + 1}s\tremaining: ${800 - at}s\n`,
    )
    const { stdout } = await runCli(['progress', '--json', file(rounds.join(''))])
    expect(JSON.parse(stdout)).toMatchObject({ step: 200, loss: 0.7005, eta_seconds: 600 })
  })
  test('nothing to read', async () => {
    expect(await runCli(['progress', file('hello\n')])).toEqual({ code: 0, signal: null, stdout: 'No progress found in this log.\n', stderr: '' })
  })
  test('--jsonl: one object a line; a lost run ends with 1 only alone', async () => {
    const { code, stdout } = await runCli(['progress', '--jsonl', file(`${JSON.stringify({ id: 'a', text: BAR })}\n${JSON.stringify({ id: 2, text: 'x' })}\n`)])
    expect(code).toBe(0)
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line): unknown => JSON.parse(line)),
    ).toEqual([
      { id: 'a', unit: 'it/s', step: 50, total: 200, rate: 2, loss: 0.5, epoch: null, eta_seconds: 75, nan: false, slowdown: false, phase: 'training' },
      { id: 2, unit: null, step: null, total: null, rate: null, loss: null, epoch: null, eta_seconds: null, nan: false, slowdown: false, phase: null },
    ])
    expect((await runCli(['progress', '--json', file('step 1 loss 2.5\nstep 2 loss nan\nstep 3 loss nan\n')])).code).toBe(1)
  })
  test('unreadable input ends with 2', async () => {
    const { code, stderr } = await runCli(['progress', '/does/not/exist'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('progress: the log cannot be read: ENOENT')])
  })
})
