// The lock that keeps npm commands in one clone apart: processes of their own, as npm's are.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { poll } from '../../setup/poll.ts'

const LOCK = join(import.meta.dirname, '../../../scripts/lock.mjs')
/** Takes the lock, holds it until a line comes in, says what it does, and lives on. */
const PROGRAM = `
  const { withLock } = await import(${JSON.stringify(LOCK)})
  const line = () => new Promise((resolve) => process.stdin.once('data', resolve))
  await withLock(process.argv[1], () => console.log('waiting'), async () => {
    console.log('holding')
    await line()
  })
  console.log('released')
  process.stdin.resume()
  setInterval(() => {}, 1_000)
`
const running: ChildProcess[] = []

function locker(name: string) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM, name], { stdio: ['pipe', 'pipe', 'inherit'] })
  running.push(child)
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
  return {
    says: async (word: string) => poll(() => said.includes(word), { what: () => `a holder to say ${word}; it said ${JSON.stringify(said)}` }),
    said: () => said.trim().split('\n'),
    release: () => child.stdin.write('\n'),
    kill: async () => {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL')
})

const name = (): string => `test ${process.pid} ${performance.now()}`

test('the second waits until the first lets go, though the first lives on', async () => {
  const lock = name()
  const first = locker(lock)
  await first.says('holding')
  const second = locker(lock)
  await second.says('waiting')
  expect(second.said()).toEqual(['waiting'])
  first.release()
  await second.says('holding')
  expect(first.said()).toContain('released')
})

test('a holder that is killed leaves nothing behind, and one waiter after the other gets its turn', async () => {
  const lock = name()
  const first = locker(lock)
  await first.says('holding')
  const waiters = [locker(lock), locker(lock)]
  for (const waiter of waiters) await waiter.says('waiting')
  await first.kill()
  const next = await poll(() => waiters.find((waiter) => waiter.said().includes('holding')), { what: 'a waiter to get the lock' })
  const last = waiters.find((waiter) => waiter !== next)
  expect(last?.said()).toEqual(['waiting'])
  next.release()
  await last?.says('holding')
})

test('locks of other names do not meet', async () => {
  const first = locker(name())
  await first.says('holding')
  const second = locker(name())
  await second.says('holding')
  expect(second.said()).toEqual(['holding'])
})
