// The socket of the probes: who may connect, and what happens to what is in its place.
import { spawn } from 'node:child_process'
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { createListener } from '../../../agent/sources/allocator/listener.ts'
import { poll } from '../../setup/poll.ts'
import { createClient, createDriver, startListening } from './harness.ts'

test('is open to all in a directory that is not, and is gone afterwards', async () => {
  const run = startListening(createDriver())
  await poll(() => run.connections() !== undefined, { what: 'the source' })
  expect(lstatSync(run.path).mode & 0o777).toBe(0o666)
  expect(lstatSync(dirname(run.path)).mode & 0o777).toBe(0o755)
  await run.stop()
  expect(() => lstatSync(run.path)).toThrow('ENOENT')
  await run[Symbol.asyncDispose]()
})

test('one that nobody answers is replaced, one that somebody answers is not', async () => {
  const first = startListening(createDriver())
  await poll(() => first.connections() !== undefined, { what: 'the first' })
  await using second = startListening(createDriver(), { path: first.path })
  await poll(() => second.gaps().length > 0, { what: 'the gap' })
  expect(second.gaps()[0]).toMatchObject({ metric: 'allocator', detail: expect.stringContaining('another agent listens there') })
  const client = await createClient(first.path)
  await poll(() => first.connections() === 1, { what: 'the first to go on' })
  client.socket.destroy()

  // What a killed agent leaves behind.
  const held = spawn(process.execPath, ['-e', `require('net').createServer().listen('${first.folder}/left.sock', () => console.log('up'))`], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  await new Promise((resolve) => held.stdout.once('data', resolve))
  held.kill('SIGKILL')
  await new Promise((resolve) => held.once('exit', resolve))
  await using third = startListening(createDriver(), { path: `${first.folder}/left.sock` })
  await poll(() => third.connections() !== undefined, { what: 'the third' })
  expect(third.gaps()).toEqual([])
  const late = await createClient(`${first.folder}/left.sock`)
  await poll(() => third.connections() === 1, { what: 'the connection' })
  late.socket.destroy()
  await first[Symbol.asyncDispose]()
})

test('what is no socket is left alone, and the agent says so', async () => {
  const driver = createDriver()
  const probe = startListening(driver)
  const path = `${probe.folder}/file`
  writeFileSync(path, 'precious')
  await using run = startListening(driver, { path })
  await poll(() => run.gaps().length > 0, { what: 'the gap' })
  expect(run.gaps()[0]?.detail).toContain('is there already and is no socket')
  expect(run.lines.join('\n')).toContain('probes cannot connect')
  expect(lstatSync(path).isFile()).toBe(true)
  await probe[Symbol.asyncDispose]()
})

test('looked after twice at once it listens once, and closed meanwhile it ends with all that it opened', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ww-listener-'))
  const path = join(folder, 'probe.sock')
  const listening = (): number => readFileSync('/proc/net/unix', 'utf8').split(path).length - 1
  const listener = createListener({ path, onSocket: (socket) => socket.destroy(), onFlood: () => {} })
  await Promise.all([listener.tend(), listener.tend()])
  expect(listener.trouble()).toBeUndefined()
  expect(listening()).toBe(1)

  // Made again, as its path is gone, while the agent ends.
  unlinkSync(path)
  const again = listener.tend()
  await listener.close()
  await again
  expect(listening()).toBe(0)
  expect(readdirSync(folder)).toEqual([])
  rmSync(folder, { recursive: true })
})
