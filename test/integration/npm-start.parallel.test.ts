// `npm start` as a user and a supervisor meet it: from another folder, with a flag that npm keeps, ended by a signal to npm alone.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { SHORT_PAST } from '../setup/agent.ts'
import { poll } from '../setup/poll.ts'

const root = join(import.meta.dirname, '../..')
const hasNpm = spawnSync('npm', ['--version']).status === 0
/** Without what the npm around this test has put there. */
const env = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? tmpdir(), ...SHORT_PAST }

describe.skipIf(!hasNpm)('npm start (needs npm)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-npm-start-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test.each(['SIGTERM', 'SIGINT'] as const)('from another folder; %s to npm ends the agent, and npm with it', async (signal) => {
    const npm = spawn('npm', ['--prefix', root, 'start', '--', '--simulate', '--listen', '127.0.0.1:0', '--data-dir', `./${signal}`], {
      cwd: folder,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let said = ''
    npm.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
    const ended = once(npm, 'exit')
    const reported = { what: () => `the agent to say where it listens; it said ${said}`, deadlineMs: 40_000 } // it may have to build first
    const url = await poll(() => /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0], reported)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    expect(existsSync(join(folder, signal)), 'a relative path means the caller’s folder').toBe(true)
    npm.kill(signal)
    expect(await ended).toEqual([0, null])
    // npm has ended after the agent, not before it.
    await expect(fetch(`${url}/healthz`)).rejects.toThrow('fetch failed')
  })

  test('a flag without -- in front is refused, not lost', () => {
    const npm = spawnSync('npm', ['--prefix', root, 'start', '--simulate=xid'], { cwd: folder, env, encoding: 'utf8', timeout: 240_000 })
    expect(npm.status).toBe(2)
    expect(npm.stderr).toContain('npm start -- --simulate=xid')
  })
})
