// The first sampler child starts before anybody asks for it: it is taken once, by whoever wants the same program, and goes when nobody does.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, expect, test } from 'vitest'
import { dropPrepared, prepareChild, takeChild, type ChildProgram } from '../../../agent/sampler/child-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'warpwatch-child-process-'))
const entry = join(folder, 'child.mjs')
writeFileSync(entry, `process.on('message', (message) => process.send({ pid: process.pid, message }))\nprocess.on('disconnect', () => process.exit(0))\n`)
const program: ChildProgram = { entry, execArgv: ['--no-warnings'], env: process.env }
afterAll(() => rmSync(folder, { recursive: true }))

async function answerOf(child: ChildProcess): Promise<unknown> {
  const answered = once(child, 'message')
  child.send('hello')
  const [answer]: unknown[] = await answered
  return answer
}
async function ended(child: ChildProcess): Promise<void> {
  const gone = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined
  if (child.connected) child.disconnect()
  await gone
}

test('a prepared child is taken once, and the next is a new one', async () => {
  const prepared = prepareChild(program)
  const first = takeChild(program)
  const second = takeChild(program)
  expect(first).toBe(prepared)
  expect(second.pid).not.toBe(first.pid)
  expect(await answerOf(first)).toEqual({ pid: first.pid, message: 'hello' })
  expect(await answerOf(second)).toEqual({ pid: second.pid, message: 'hello' })
  await Promise.all([ended(first), ended(second)])
})

test('another program gets a child of its own, and what nobody took ends', async () => {
  prepareChild(program)
  const other = takeChild({ ...program, execArgv: ['--no-warnings', '--no-turbofan'] })
  const kept = takeChild(program)
  expect(kept.spawnargs).not.toContain('--no-turbofan')
  expect(other.spawnargs).toContain('--no-turbofan')
  const left = prepareChild(program)
  const gone = once(left, 'exit')
  dropPrepared()
  await gone
  const fresh = takeChild(program)
  expect(fresh.pid).not.toBe(left.pid)
  await Promise.all([ended(other), ended(kept), ended(fresh)])
})

test('a prepared child that has died is not taken', async () => {
  const dead = prepareChild(program)
  const died = once(dead, 'exit')
  dead.kill('SIGKILL')
  await died
  const living = takeChild(program)
  expect(await answerOf(living)).toEqual({ pid: living.pid, message: 'hello' })
  expect(living.pid).not.toBe(dead.pid)
  await ended(living)
})
