// Probes that listen in their own /tmp are found there and nowhere else, however that /tmp is made up.
import { chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createContainerDirectory } from '../../../agent/attribution/directory.ts'
import { createProcessIdentifier } from '../../../agent/attribution/process.ts'
import { createDiscovery } from '../../../agent/sources/allocator/discovery.ts'
import { findSockets } from '../../../agent/sources/allocator/tmp-sockets.ts'
import { poll } from '../../setup/poll.ts'
import { createDriver, GIB, gpuSays, helloOf, processSays, sampleOf, startListening, statsOf, trueClaim } from './harness.ts'

let root = ''
const servers: Server[] = []
const children: ChildProcess[] = []
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'ww-root-'))
  mkdirSync(join(root, 'tmp'))
  symlinkSync(root, join(root, 'root'))
})
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
  for (const child of children.splice(0)) child.kill('SIGKILL')
  rmSync(root, { recursive: true, force: true })
})
function living(): number {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' })
  children.push(child)
  if (child.pid === undefined) throw new Error('sleep could not be started')
  return child.pid
}
async function serve(path: string, onConnection: (socket: Socket) => void = () => {}): Promise<void> {
  const server = createServer(onConnection)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(path, resolve))
}
const nameOf = (pid: number): string => {
  const claim = trueClaim(pid)
  return `.warpwatch-${claim.pid}-${claim.start_ticks}.sock`
}

describe('what is touched', () => {
  const any = () => true
  test('a socket of that name, and nothing else', async () => {
    await serve(join(root, 'tmp/.warpwatch-7-99.sock'))
    await serve(join(root, 'tmp/other.sock'))
    await serve(join(root, 'elsewhere.sock'))
    symlinkSync(join(root, 'elsewhere.sock'), join(root, 'tmp/.warpwatch-1-1.sock'))
    writeFileSync(join(root, 'tmp/.warpwatch-2-2.sock'), '')
    mkdirSync(join(root, 'tmp/.warpwatch-3-3.sock'))
    // Opening it would wait for ever.
    execFileSync('mkfifo', [join(root, 'tmp/.warpwatch-4-4.sock')])
    const { sockets, notSockets } = await findSockets(root, any)
    expect(sockets.map(({ name, pid, startTicks }) => ({ name, pid, startTicks }))).toEqual([{ name: '.warpwatch-7-99.sock', pid: 7, startTicks: 99 }])
    expect(notSockets).toBe(4)
    for (const { release } of sockets) release()
  })

  test('a /tmp that is a link leads nowhere', async () => {
    mkdirSync(join(root, 'host'))
    await serve(join(root, 'host/.warpwatch-7-99.sock'))
    rmSync(join(root, 'tmp'), { recursive: true })
    symlinkSync(join(root, 'host'), join(root, 'tmp'))
    await expect(findSockets(root, any)).rejects.toThrow(/ELOOP|ENOTDIR/)
  })

  test('a name that is exchanged after it was seen: the socket that was seen is the one that is connected to', async () => {
    const heard: string[] = []
    const path = join(root, 'tmp/.warpwatch-7-99.sock')
    await serve(path, () => heard.push('seen'))
    await serve(join(root, 'trap.sock'), () => heard.push('trap'))
    const { sockets } = await findSockets(root, any)
    rmSync(path)
    symlinkSync(join(root, 'trap.sock'), path)
    const socket = sockets[0]?.connect()
    await poll(() => heard.length > 0, { what: 'a connection' })
    expect(heard).toEqual(['seen'])
    socket?.destroy()
  })

  test('a /tmp without a probe is the same until it changes, and then it is read again', async () => {
    writeFileSync(join(root, 'tmp/of-another-program'), '')
    const emptyAs = async (known?: string): Promise<string | undefined> => (await findSockets(root, any, known)).emptyAs
    expect(await emptyAs(), 'changed just now: more may come unseen').toBeUndefined()
    await poll(async () => (await emptyAs()) !== undefined, { what: 'the directory to settle', deadlineMs: 20_000 })
    const known = await emptyAs()
    expect(await emptyAs(known)).toBe(known)
    await serve(join(root, 'tmp/.warpwatch-7-99.sock'))
    const { sockets, emptyAs: none } = await findSockets(root, any, known)
    expect([sockets.length, none]).toEqual([1, undefined])
    for (const { release } of sockets) release()
  })

  test('ten thousand names: some are looked at, and it ends', async () => {
    for (let n = 0; n < 10_000; n++) writeFileSync(join(root, `tmp/.warpwatch-${n + 1}-1.sock`), '')
    const { sockets, notSockets } = await findSockets(root, any)
    expect(sockets).toEqual([])
    expect(notSockets).toBeLessThan(1_000)
  })
})

/** A /proc in which the processes' root is the test's. */
function fakeProc(pids: readonly number[]): string {
  const proc = join(root, 'proc')
  mkdirSync(proc, { recursive: true })
  for (const pid of pids) {
    mkdirSync(join(proc, String(pid)))
    symlinkSync(root, join(proc, String(pid), 'root'))
  }
  return proc
}

describe('when it is looked for', () => {
  test('a place is looked at when a process is new there, then less and less; who does not answer is left in peace', async () => {
    const [first, second] = [living(), living()]
    const procRoot = fakeProc([first, second])
    const identify = createProcessIdentifier({ procRoot: '/proc', directory: createContainerDirectory() })
    const container = { id: 'c'.repeat(64), name: 'trainer' }
    let now = 1_000_000
    let looks = 0
    let sockets = 0
    let accepted = 0
    const discovery = createDiscovery({
      procRoot,
      identify(pid) {
        const who = identify(pid)
        return who === undefined ? undefined : { ...who, container }
      },
      hears: () => {
        looks++
        return false
      },
      onSocket: (socket) => {
        sockets++
        socket.on('error', () => {})
        socket.resume()
      },
      onNotSocket: () => {},
      onFailure(error) {
        throw error
      },
      clock: () => now,
    })
    const look = async (pids: readonly number[]): Promise<number> => {
      const before = looks
      discovery.look(pids)
      await discovery.settled()
      return looks - before
    }
    await serve(join(root, 'tmp/.warpwatch-7-99.sock'), (socket) => {
      accepted++
      socket.end()
    })
    expect(await look([first])).toBeGreaterThan(0)
    await poll(() => sockets === 1 && accepted === 1, { what: 'the socket' })
    expect(await look([first]), 'at once again').toBe(0)
    expect(await look([first, second]), 'a new process').toBeGreaterThan(0)
    const seen: number[] = []
    for (let s = 5; s <= 300; s += 5) {
      now += 5_000
      if ((await look([first, second])) > 0) seen.push(s)
    }
    expect(seen.length).toBeGreaterThan(4)
    expect(seen.length).toBeLessThan(12)
    // It had nothing to say; asked again after two minutes at the earliest.
    expect(accepted).toBeLessThanOrEqual(4)
    discovery.close()
  })
})

describe('the whole way', () => {
  test.skipIf(process.getuid?.() !== 0)(
    'a probe in the /tmp of its process is found and heard, and found again when the line was torn; root only',
    async () => {
      const pid = living()
      const procRoot = fakeProc([])
      rmSync(procRoot, { recursive: true })
      // The real /proc, but for the root of that process.
      mkdirSync(procRoot)
      symlinkSync(`/proc/${pid}/stat`, join(procRoot, 'stat-of'))
      mkdirSync(join(procRoot, String(pid)))
      for (const name of ['stat', 'status', 'comm', 'cgroup', 'mountinfo', 'ns']) symlinkSync(`/proc/${pid}/${name}`, join(procRoot, String(pid), name))
      symlinkSync(root, join(procRoot, String(pid), 'root'))
      const driver = createDriver()
      driver.say([...gpuSays(0, 30 * GIB, 50 * GIB), processSays(pid, 0, 3 * GIB)])
      const connected: Socket[] = []
      await serve(join(root, 'tmp', nameOf(pid)), (socket) => {
        connected.push(socket)
        socket.on('error', () => {})
        const say = (...messages: readonly object[]): void => void socket.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(''))
        say(helloOf(pid), sampleOf({ 0: statsOf(1, 2, 0) }))
      })
      await using run = startListening(driver, { procRoot, discover: true, listen: false })
      await poll(() => run.samples().length === 1, { what: 'the probe to be found', deadlineMs: 15_000 })
      expect(run.samples()[0]?.pid).toBe(pid)
      connected[0]?.destroy()
      await poll(() => connected.length === 2, { what: 'it to be found again', deadlineMs: 19_000 })
      expect(run.refusals()).toEqual({})
    },
  )

  test.skipIf(process.getuid?.() !== 0)("another user's socket in a shared /tmp does not speak for a process; root only", async () => {
    const pid = living()
    const procRoot = join(root, 'proc')
    mkdirSync(join(procRoot, String(pid)), { recursive: true })
    for (const name of ['stat', 'status', 'comm', 'cgroup', 'mountinfo', 'ns']) symlinkSync(`/proc/${pid}/${name}`, join(procRoot, String(pid), name))
    symlinkSync(root, join(procRoot, String(pid), 'root'))
    const driver = createDriver()
    driver.say([...gpuSays(0, 30 * GIB, 50 * GIB), processSays(pid, 0, 3 * GIB)])
    const path = join(root, 'tmp', nameOf(pid))
    await serve(path, (socket) => {
      socket.on('error', () => {})
      socket.write(`${JSON.stringify(helloOf(pid))}\n${JSON.stringify(sampleOf({ 0: statsOf(1, 2, 0) }))}\n`)
    })
    chownSync(path, 1234, 1234)
    await using run = startListening(driver, { procRoot, discover: true, listen: false })
    await poll(() => run.refusals()['wrong_owner'] === 1, { what: 'the refusal', deadlineMs: 15_000 })
    expect(run.samples()).toEqual([])
  })
})
