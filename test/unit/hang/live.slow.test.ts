// Looks at real Python processes that wait in different ways, without stopping them.
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { findPythons } from '../../setup/pythons.ts'
import { lookAtProcesses } from '../../../agent/hang/live/look.ts'
import { pythonStacks } from '../../../agent/hang/live/python/stacks.ts'
import { doingOf, standingOf } from '../../../agent/hang/judge/places.ts'
import { judge } from '../../../agent/hang/judge/judge.ts'

const PROGRAM = `
import sys, threading, time, os, ctypes, socket, subprocess, fcntl, tempfile
def lock():
    held = threading.Lock(); held.acquire()
    held.acquire()  # lock
def terminal():
    input()  # terminal
def loop():
    x = 0
    while True: x += 1  # loop
def gil():
    ctypes.PyDLL(None).sleep(1000)  # gil
def wait():
    time.sleep(1000)  # wait
def network():
    server = socket.socket(); server.bind(('127.0.0.1', 0)); server.listen()
    client = socket.create_connection(server.getsockname())
    client.recv(1)  # network
def program():
    subprocess.run(['sleep', '1000'])  # program
def file_lock():
    name = os.path.join(tempfile.mkdtemp(), 'lock')
    one, two = open(name, 'w'), open(name, 'w')
    fcntl.flock(one, fcntl.LOCK_EX)
    fcntl.flock(two, fcntl.LOCK_EX)  # file_lock
def count():
    totals, passes = set(), 0
    done = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), done.set()), daemon=True).start()
    while not done.is_set():
        total = 0
        for i in range(100_000): total += i % 7
        totals.add(total)
        passes += 1
    print('total', sorted(totals), 'in', passes, 'passes', flush=True)
threading.Thread(target=lambda: time.sleep(1000), daemon=True).start()
print('ready', flush=True)
globals()[sys.argv[1]]()
`
const line = (name: string): number => PROGRAM.split('\n').findIndex((text) => text.includes(`# ${name}`)) + 1

const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
})

/** Runs one way of waiting, in a group of its own; resolves when the program is about to begin it. */
async function started(
  python: string,
  way: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly pid: number; readonly child: ChildProcess; readonly said: () => string }> {
  const program = join(mkdtempSync(join(tmpdir(), 'way-')), 'program.py')
  writeFileSync(program, PROGRAM)
  const child = spawn(python, [program, way], { stdio: ['pipe', 'pipe', 'inherit'], detached: true, env: { ...process.env, ...env } })
  children.push(child)
  let said = ''
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      if (said.includes('ready')) resolve()
    })
  })
  return { pid: child.pid ?? 0, child, said: () => said }
}

const available = process.platform === 'linux' && process.getuid?.() === 0
const pythons = available ? findPythons() : []
const newest = pythons.at(-1)

describe.skipIf(!available)('a Python process that waits (needs root)', () => {
  test.each(pythons)('Python $version: the line of the main thread', async ({ path }) => {
    const { pid } = await started(path, 'lock')
    await expect.poll(() => pythonStacks(pid)?.main?.frames[0]).toMatchObject({ line: line('lock'), function: 'lock' })
    expect(pythonStacks(pid)?.threads.length).toBe(2)
  })

  test.each(pythons)('Python $version: who keeps the GIL in C', async ({ path }) => {
    const { pid } = await started(path, 'gil')
    await expect.poll(() => pythonStacks(pid)?.main).toMatchObject({ holdsGil: true, frames: [{ line: line('gil'), function: 'gil' }, {}] })
  })

  test.each([
    ['lock', 'lock'],
    ['terminal', 'input'],
    ['loop', 'loop'],
    ['gil', 'gil'],
    ['wait', 'sleep'],
    ['network', 'network'],
    ['program', 'child'],
    ['file_lock', 'lock'],
  ])('%s: what it does and where', async (way, doing) => {
    const { pid } = await started(newest?.path ?? '', way)
    await expect.poll(() => pythonStacks(pid)?.main?.frames.some((frame) => frame.line === line(way))).toBe(true)
    // Its line is reached before it stands: a child is still being started below it.
    const look = async () => {
      const me = (await lookAtProcesses([pid], 0.3)).evidence.ranks.get(0)
      const standing = standingOf(me)
      return [standing?.at.line, doingOf(me, standing), me?.still]
    }
    await expect.poll(look, { timeout: 20_000 }).toEqual([line(way), doing, true])
  })

  test('one stopped by a signal', async () => {
    const { pid } = await started(newest?.path ?? '', 'wait')
    await expect.poll(() => pythonStacks(pid)?.main?.frames[0]?.function).toBe('wait')
    process.kill(pid, 'SIGSTOP')
    const me = (await lookAtProcesses([pid], 0.1)).evidence.ranks.get(0)
    expect(doingOf(me, standingOf(me))).toBe('stopped')
  })

  const MOST_PAUSES = 50
  /** How often a thread has left its processor without being made to: a stop, a sleep, a wait for anything, however short. */
  const pausesOf = (pid: number): number => Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/task/${pid}/status`, 'utf8'))?.[1])

  test('a busy program is not disturbed by 1,000 looks: never stopped, held up or traced, and its output and exit are its own', async () => {
    const { pid, child, said } = await started(newest?.path ?? '', 'count')
    await expect.poll(() => pythonStacks(pid)?.main?.frames.some(({ function: called }) => called === 'count')).toBe(true)
    const pauses = pausesOf(pid)
    const ended = new Promise<number | null>((resolve) => void child.once('close', resolve))
    let [found, stopped] = [0, 0]
    for (let looks = 0; looks < 1_000; looks += 1) {
      try {
        if (pythonStacks(pid)?.main?.frames.some(({ function: called }) => called === 'count') === true) found += 1
      } catch {
        // It moved under every try.
      }
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      if (/^State:\s+[Tt]/m.test(status) || !/^TracerPid:\s+0$/m.test(status)) stopped += 1
      if (looks % 50 === 0) await new Promise((resolve) => void setImmediate(resolve))
    }
    expect(stopped).toBe(0)
    expect(found).toBeGreaterThan(100)
    // One whom the looks stop leaves its processor at each of them. On a busy host the kernel makes anybody wait now and then, for a page that it moves.
    expect(pausesOf(pid) - pauses, 'it never did anything but compute or wait for a processor').toBeLessThan(MOST_PAUSES)
    // A stop of a moment counts.
    process.kill(pid, 'SIGSTOP')
    await expect.poll(() => readFileSync(`/proc/${pid}/stat`, 'utf8')).toMatch(/\) T /)
    process.kill(pid, 'SIGCONT')
    await expect.poll(() => pausesOf(pid)).toBeGreaterThan(pauses)
    child.stdin?.end()
    expect(await ended).toBe(0)
    expect(said()).toMatch(/^ready\ntotal \[299995\] in [1-9]\d* passes\n$/)
  })

  test('the ranks of a launcher: the one that is elsewhere while the others wait for it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ranks-'))
    const library = join(folder, 'site-packages/torch/distributed')
    const launcher = join(folder, 'launch.py')
    writeFileSync(
      launcher,
      `import os, subprocess, sys
ranks = [subprocess.Popen([sys.executable, '-c', sys.argv[1]], env={**os.environ, 'RANK': str(i), 'WORLD_SIZE': '3'}) for i in range(3)]
for rank in ranks: rank.wait()
`,
    )
    // What torch's own file is called is all that counts: the rank waits in a collective.
    const rank = `
import os, sys, threading, time
code = compile("def all_reduce(event):\\n    event.wait()\\n", ${JSON.stringify(join(library, 'distributed_c10d.py'))}, 'exec')
names = {}; exec(code, names)
def load():
    time.sleep(1000)
load() if os.environ['RANK'] == '1' else names['all_reduce'](threading.Event())
`
    const child = spawn(newest?.path ?? '', [launcher, rank], { stdio: 'ignore', detached: true })
    children.push(child)
    await expect
      .poll(async () => judge((await lookAtProcesses([child.pid ?? 0], 0.2)).evidence))
      .toMatchObject({ verdict: 'hang', cause: 'missing', culprits: [1], confidence: 'likely' })
  })
})
