// A real Python process that computes: whether it loops without end, from several looks at it. Time runs twenty times as fast as with the defaults.
import { spawn } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { judge } from '../../../agent/hang/judge/judge.ts'
import { lookAtProcesses } from '../../../agent/hang/live/look.ts'
import { createLoopWatch, type Loop } from '../../../agent/hang/notice/loop.ts'
import { replyOf } from '../../../agent/hang/reply.ts'
import { findPythons } from '../../setup/pythons.ts'

const AFTER = 50
const available = process.platform === 'linux' && process.getuid?.() === 0
const pythons = available ? findPythons() : []
const newest = pythons.at(-1)?.path ?? ''

const PROGRAM = `import sys
kept, found = [], open("/dev/null", "w")
def one(x):
    return (x * 48271) % 2147483647
def draw():
    x = 7
    while True:
        x = one(x)
        if x == 0:
            return x
def fills():
    x = 7
    while True:
        x = one(x)
        kept.append(x)
        if len(kept) > 40000000:
            kept.clear()
def tokenises():
    x = 7
    while True:
        x = one(x)
        found.write("%d " % x)
print("begun", flush=True)
globals()[sys.argv[1]]()
`

/** Looks until it is sure or has looked so often. */
async function looked(way: string, looks: number): Promise<Loop | undefined> {
  const file = join(mkdtempSync(join(tmpdir(), 'loop-')), 'job.py')
  writeFileSync(file, PROGRAM)
  const child = spawn(newest, [file, way], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve())
    child.once('close', () => reject(new Error(`${way} ended`)))
  })
  const watch = createLoopWatch(AFTER)
  const begun = performance.now()
  for (let i = 0; i < looks && watch.found() === undefined; i += 1) {
    const { evidence } = await lookAtProcesses([child.pid ?? 0], 0.3)
    const silent = performance.now() - begun
    evidence.silence = { seconds: silent / 1_000, since: 0, by: 'log' }
    watch.looked(performance.now(), silent, replyOf(evidence, judge(evidence)).loop)
  }
  return watch.found()
}

describe.skipIf(newest === '')('a Python process that computes (needs root)', () => {
  test('in a loop that does not end: it is found, with its function', async () => {
    const line = PROGRAM.split('\n').indexOf('def draw():') + 1
    const loop = await looked('draw', 150)
    expect(loop?.at.function).toMatch(/^(?:draw|one)$/)
    expect(loop?.at.line).toBeGreaterThan(loop?.at.function === 'draw' ? line : 0)
  })
  test.each(['fills', 'tokenises'])('%s: it is none', async (way) => {
    expect(await looked(way, 14)).toBeUndefined()
  })
})
