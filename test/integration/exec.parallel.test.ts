// `warpwatch exec` beside the plain command: the same bytes, terminal, signals and end, and a verdict behind them.
import { execFile, spawn, spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as z from 'zod'
import { describe, expect, test } from 'vitest'
import { startAgent } from '../setup/agent.ts'
import { programPath } from '../setup/engine-client.ts'

const MAIN = join(import.meta.dirname, '../../dist/main.js')
const TERMINAL = join(import.meta.dirname, 'exec-terminal.py')
const python = programPath('python3')
/** Nobody listens there. */
const ALONE = ['--listen', '127.0.0.1:1']
const wrapped = (command: readonly string[], flags: readonly string[] = ALONE): readonly string[] => [
  process.execPath,
  MAIN,
  'exec',
  ...flags,
  '--',
  ...command,
]
const scratch = mkdtempSync(join(tmpdir(), 'warpwatch-exec-'))
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('WARPWATCH_')))

type Result = { readonly code: number | null; readonly signal: string | null; readonly out: string; readonly err: string }
async function run([program = '', ...args]: readonly string[]): Promise<Result> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env, cwd: scratch })
  let [out, err] = ['', '']
  child.stdout.setEncoding('latin1').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('latin1').on('data', (text: string) => (err += text))
  const { promise, resolve } = Promise.withResolvers<Result>()
  child.once('close', (code, signal) => resolve({ code, signal, out, err }))
  return promise
}
/** What we add is behind all that the command wrote. */
const withoutVerdict = (text: string): string => text.replace(/(?:\u00e2\u0094\u008c.*|warpwatch: [^\n]*completed: [^\n]*\r?\n)$/s, '')

describe.concurrent('exec with pipes and files', () => {
  test.each([
    ['exit 0', ['true']],
    ['exit 3', ['sh', '-c', 'exit 3']],
    ['ended by a signal', ['sh', '-c', 'kill -TERM $$']],
    ['crashed', ['sh', '-c', 'ulimit -c 0; kill -SEGV $$']],
    ['both streams', ['sh', '-c', 'echo one; echo two >&2; printf "\\377\\000\\r"; printf "\\200" >&2; exit 1']],
    ['a mebibyte on stderr', ['sh', '-c', 'head -c 1048576 /dev/zero >&2']],
  ] as const)('%s', async (_name, command) => {
    const [plain, ours] = await Promise.all([run(command), run(wrapped(command))])
    expect({ ...ours, err: withoutVerdict(ours.err) }).toEqual(plain)
    expect(ours.err.length).toBeGreaterThan(plain.err.length)
  })

  test('one file for both streams is written by the command itself, and read for the verdict', async () => {
    const path = join(scratch, 'both.log')
    const file = openSync(path, 'w')
    const [program = '', ...args] = wrapped([
      'sh',
      '-c',
      'echo out; echo "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.65 GiB of which 1.19 GiB is free." >&2; exit 1',
    ])
    const { status } = spawnSync(program, args, { stdio: ['ignore', file, file], env })
    closeSync(file)
    const text = readFileSync(path, 'utf8')
    expect(status).toBe(1)
    expect(text).toMatch(/^out\ntorch\.OutOfMemoryError: [^\n]*\n┌─ warpwatch/)
    expect(text).toContain('out of memory after')
    expect(text.slice(text.indexOf('┌')).trimEnd().split('\n').length).toBeLessThanOrEqual(12)
  })

  test('a program may open its stderr anew where that is a pipe', async () => {
    const again = ['sh', '-c', 'echo again > /dev/stderr']
    const { out } = await run(['sh', '-c', '"$@" 2>&1 >/dev/null | cat', 'sh', ...wrapped(again)])
    expect(withoutVerdict(out)).toBe('again\n')
  })

  test('much through one pipe for both streams, to a reader that begins late', async () => {
    const much = ['sh', '-c', 'seq 1 400000; seq 400001 400100 >&2; seq 400101 500000']
    const piped = (command: readonly string[]) => run(['sh', '-c', '"$@" 2>&1 | { read -r first; echo "$first"; cat; }', 'sh', ...command])
    const [plain, ours] = await Promise.all([piped(much), piped(wrapped(much))])
    expect(plain.out.length).toBeGreaterThan(3_000_000)
    expect(withoutVerdict(ours.out)).toBe(plain.out)
  })

  test('large and small pieces through one pipe: the same bytes, and what the last of them say is told', async () => {
    const path = join(scratch, 'pieces.json')
    const pieces = 'for n in 1 2 3; do head -c 3000000 /dev/zero; echo part $n; head -c 40000 /dev/zero; head -c 700000 /dev/zero; echo part $n done; done'
    const last = `printf 'Traceback (most recent call last):\\n  File "/srv/own/fit.py", line 27, in <module>\\n    go()\\nKeyError: 1\\n'; exit 1`
    const command = ['sh', '-c', `${pieces}; ${last}`]
    const piped = (of: readonly string[]) => run(['sh', '-c', '"$@" 2>&1 | cat', 'sh', ...of])
    const [plain, ours] = await Promise.all([piped(command), piped(wrapped(command, [...ALONE, '--json', path]))])
    expect(plain.out.length).toBeGreaterThan(11_000_000)
    // Not shown by toBe: a difference would print all of it.
    expect(withoutVerdict(ours.out) === plain.out).toBe(true)
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ faults: [{ kind: 'python_exception', facts: { frame: 'fit.py:27' } }] })
  })

  test('SIGTERM for us is for the command', async () => {
    const [program = '', ...args] = wrapped(['sh', '-c', 'trap "echo told; exit 9" TERM; echo ready; while true; do sleep 0.05; done'])
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'], env })
    let out = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (out === '') child.kill('SIGTERM')
      out += text
    })
    const code = await new Promise((resolve) => child.once('close', resolve))
    expect([code, out]).toEqual([9, 'ready\ntold\n'])
  })

  test('a report, and what cannot be started', async () => {
    const path = join(scratch, 'report.json')
    expect(await run(wrapped(['no-such-program'], [...ALONE, '--name', 'mine', '--json', path]))).toMatchObject({ code: 127, out: '' })
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({
      name: 'mine',
      exit_code: 127,
      outcome: 'failed',
      reason: 'no-such-program: command not found',
    })
    expect(await run([process.execPath, MAIN, 'exec', '--name', 'x'])).toMatchObject({ code: 2 })
    expect((await run(wrapped(['sh', '-c', 'echo "$1"', 'sh', '--help']))).out).toBe('--help\n')
  })

  test('the agent knows it as a job, by its name', async () => {
    await using agent = await startAgent()
    const listen = ['--listen', new URL(agent.url).host, '--name', 'night run']
    await run(wrapped(['sh', '-c', 'exit 3'], listen))
    await run(wrapped(['true'], listen))
    const lost = 'Traceback (most recent call last):\n  File "/srv/job/train.py", line 4, in <module>\n    main()\nKeyError: 7'
    await run(wrapped(['sh', '-c', 'echo "$1" >&2; exit 1', 'sh', lost], [...listen.slice(0, 2), '--name', 'lost key']))
    // This host may run containers, which are jobs too.
    const jobs = z.array(z.looseObject({ job: z.string() })).parse(await agent.json('/api/v1/jobs'))
    expect(jobs.filter(({ job }) => job === 'night run')).toMatchObject([
      { kind: 'exec', runs: 2, running: 0, outcomes: { completed: 1, failed: 1 }, last: { run: 2, outcome: 'completed', exit_code: 0, command: 'true' } },
    ])
    // Why it ended is read by exec, which tells the agent.
    expect(jobs.filter(({ job }) => job === 'lost key')).toMatchObject([
      { last: { outcome: 'failed', reason: expect.stringMatching(/train\.py:4 \(exit code 1\)$/) } },
    ])
  })
})

const seenSchema = z.object({ out: z.string(), seen: z.array(z.string()) })
async function inTerminal(steps: readonly string[], command: readonly string[]): Promise<z.infer<typeof seenSchema>> {
  const { stdout } = await promisify(execFile)(python ?? 'python3', [TERMINAL, JSON.stringify(steps), ...command], {
    env: { ...env, TERM: 'xterm' },
    maxBuffer: 2 ** 24,
  })
  return seenSchema.parse(JSON.parse(stdout))
}
const SHOW = `
import os, signal, sys, time
# One write a line: print() lets a signal's handler write in the middle of it.
say = lambda *words: os.write(1, (" ".join(map(str, words)) + "\\n").encode())
size = lambda: say("size", *os.get_terminal_size(1), *os.get_terminal_size(2))
signal.signal(signal.SIGWINCH, lambda *_: size())
try:
  say("tty", [os.isatty(fd) for fd in (0, 1, 2)])
  end = time.monotonic() + 60
  while time.monotonic() < end: time.sleep(0.05)
# No traceback: which line it names is chance. Python too ends by the signal.
except KeyboardInterrupt:
  say("interrupted")
  signal.signal(signal.SIGINT, signal.SIG_DFL)
  os.kill(os.getpid(), signal.SIGINT)
`

describe.skipIf(python === undefined)(`exec in a terminal${python === undefined ? ' (needs python3)' : ''}`, () => {
  test.concurrent.each([
    ['bytes and their order', [], ['sh', '-c', 'for i in 1 2 3 4 5 6 7 8 9; do echo out $i; echo err $i >&2; done; printf "\\033[31m\\r\\t\\0\\377"']],
    ['Ctrl-C', ['await True]', 'type \u0003'], ['python3', '-c', SHOW]],
    ['Ctrl-C that is handled', ['await ready', 'type \u0003'], ['sh', '-c', 'trap "echo told; exit 7" INT; echo ready; while true; do sleep 0.05; done']],
    ['Ctrl-\\', ['await ready', 'type \u001c'], ['sh', '-c', 'ulimit -c 0; echo ready; while true; do sleep 0.05; done']],
    ['Ctrl-Z and on', ['await ready', 'type \u001a', 'stopped', 'continue', 'type go\n'], ['sh', '-c', 'echo ready; read word; echo "$word on"; exit 4']],
    ['SIGTERM', ['await True]', 'signal 15'], ['python3', '-c', SHOW]],
    ['input', ['await name', 'type ada\n'], ['sh', '-c', 'printf "name? "; read name; echo "hello $name"']],
    ['the exit code', [], ['sh', '-c', 'exit 42']],
  ] as const)('%s', async (_name, steps, command) => {
    const [plain, ours] = await Promise.all([inTerminal(steps, command), inTerminal(steps, wrapped(command))])
    expect(ours.seen).toEqual(plain.seen)
    expect(withoutVerdict(ours.out)).toBe(plain.out)
  })

  test.concurrent('under nohup a hang-up is ignored', async () => {
    const show = ['sh', '-c', 'grep SigIgn /proc/self/status']
    const under = (command: readonly string[], file: string) => [
      'sh',
      '-c',
      'f=$1; shift; nohup "$@" </dev/null >"$f" 2>&1; cat "$f"',
      'sh',
      join(scratch, file),
      ...command,
    ]
    const [plain, ours] = await Promise.all([inTerminal([], under(show, 'plain')), inTerminal([], under(wrapped(show), 'ours'))])
    expect(plain.out).toContain('0001')
    expect(withoutVerdict(ours.out)).toBe(plain.out)
  })

  test.concurrent('the size of the window, and its changes', async () => {
    const ours = await inTerminal(['resize 33 99', 'await tty', 'resize 40 120', 'await 120 40 120 40', 'signal 15'], wrapped(['python3', '-c', SHOW]))
    expect(ours.out).toContain('tty [True, True, True]')
    expect(ours.out).toContain('size 120 40 120 40')
  })
})
