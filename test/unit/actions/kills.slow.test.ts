// An action is never done twice for one incident, however often the agent is killed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { rounds } from '../../setup/rounds.ts'

const KILLS = rounds({ full: 200, quick: 10 })

test(`killed ${KILLS} times, each action runs at most once`, { timeout: 60_000 + KILLS * 5_000 }, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'warpwatch-actions-'))
  const record = join(directory, 'done.txt')
  let first = 0
  for (let kill = 0; kill < KILLS; kill++) {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'kills-child.ts'), directory, record, String(first)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let said = ''
    const ended = once(child, 'close')
    const wanted = 1 + (kill % 4)
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString('latin1')
      // In the middle of an action, or of its result: each kill at another moment.
      if (said.split('\n').length > wanted) setTimeout(() => child.kill('SIGKILL'), (kill * 7) % 23)
    })
    await ended
    const seen = said.trim().split('\n').map(Number)
    expect(seen.length).toBeGreaterThan(0)
    first = Math.max(first, ...seen)
  }
  const done = existsSync(record) ? readFileSync(record, 'latin1').trim().split('\n') : []
  expect(done.length).toBeGreaterThan(KILLS / 2)
  expect(done.filter((id, at) => done.indexOf(id) !== at)).toEqual([])
})
