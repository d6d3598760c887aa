// The run fails where a test left a program running: here is that it finds one, by the file that started it, and nobody else's.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { FILE_VARIABLE, leftRunning } from '../setup/left-running.ts'

test.skipIf(!existsSync('/proc/self/environ'))('a program that outlives its test file is found with that file, until it ends (needs /proc)', async () => {
  const of = (folder: string, file: string) =>
    spawn('sleep', ['1000'], { stdio: 'ignore', env: { PATH: process.env['PATH'] ?? '', TEST_RUN_FOLDER: folder, [FILE_VARIABLE]: file } })
  const [ours, other] = [of('/run-of-this-test', 'a.test.ts'), of('/another-run', 'b.test.ts')]
  await Promise.all([once(ours, 'spawn'), once(other, 'spawn')])
  try {
    expect(await leftRunning('/run-of-this-test', 0)).toEqual([{ pid: ours.pid, command: expect.stringMatching(/: sleep 1000$/), file: 'a.test.ts' }])
  } finally {
    const ended = Promise.all([once(ours, 'exit'), once(other, 'exit')])
    ours.kill()
    other.kill()
    await ended
  }
  expect(await leftRunning('/run-of-this-test', 60_000)).toEqual([])
})
