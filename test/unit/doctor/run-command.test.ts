// Programs that the doctor runs: real ones, that end well or badly, hang, print without end, or are not there.
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { commandProblem, createRunCommand } from '../../../agent/doctor/parts/run-command.ts'

const folder = mkdtempSync(join(tmpdir(), 'warpwatch-run-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
function program(name: string, script: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`)
  chmodSync(join(folder, name), 0o755)
}
const run = createRunCommand({ PATH: '/nowhere' }, [folder])

test('it ends', async () => {
  program('well', 'echo "$1|$2|$LC_ALL"')
  expect(await run('well', ['a b', '$HOME;rm'])).toEqual({ kind: 'ended', exitCode: 0, stdout: 'a b|$HOME;rm|C\n', stderr: '' })
  program('badly', 'echo "no such thing" >&2; exit 3')
  const result = await run('badly', [])
  expect(commandProblem('badly', result)).toBe('badly ended with 3: no such thing')
})
test('it is not there', async () => {
  const result = await run('none', [])
  expect(result).toEqual({ kind: 'missing' })
  expect(commandProblem('none', result)).toBe('none is not installed')
  expect(await run('/nowhere/none', [])).toEqual({ kind: 'missing' })
})
test('it hangs', async () => {
  program('hangs', 'exec sleep 1000')
  expect(await run('hangs', [], { timeoutMs: 50 })).toEqual({ kind: 'timed out', deadlineMs: 50 })
})
test('it prints without end', async () => {
  program('endless', 'exec yes')
  expect(await run('endless', [], { maxBytes: 10_000 })).toEqual({ kind: 'too long', maxBytes: 10_000 })
})
test('the same is asked once, however many want to know', async () => {
  const log = join(folder, 'log')
  program('counted', `echo x >> ${log}`)
  await Promise.all([run('counted', []), run('counted', []), run('counted', ['other'])])
  await run('counted', [])
  expect(readFileSync(log, 'utf8')).toBe('x\nx\n')
})
test('programs of root are found without its PATH', async () => {
  expect((await createRunCommand({})('sh', ['-c', 'exit 0'])).kind).toBe('ended')
})
