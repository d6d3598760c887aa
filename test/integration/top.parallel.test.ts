// `warpwatch top` in a real terminal: what it shows at five sizes on three kinds of terminal, and that it leaves each as it was.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { programPath } from '../setup/engine-client.ts'
import { screenOf, type TerminalScreen } from '../setup/terminal-screen.ts'
import { startScene } from '../setup/top-scene.ts'

const TERMINAL = join(import.meta.dirname, 'exec-terminal.py')
const MAIN = join(import.meta.dirname, '../../dist/main.js')
const GOLDEN = join(import.meta.dirname, '../golden/top')
const scratch = mkdtempSync(join(tmpdir(), 'warpwatch-top-'))
const python = programPath('python3')

const SIZES = [
  [80, 24],
  [100, 30],
  [132, 43],
  [200, 60],
  [300, 80],
] as const
const TERMS = [
  { term: 'xterm-256color', env: { COLORTERM: 'truecolor' }, letters: 'unicode', colours: /38;2;/ },
  { term: 'screen-256color', env: {}, letters: 'unicode', colours: /38;5;/ },
  { term: 'linux', env: {}, letters: 'ascii', colours: /(?:^|;)(?:3|9)\d$/ },
] as const

const ranSchema = z.object({ out: z.string(), seen: z.array(z.string()), late: z.boolean().optional() })
type Options = { readonly term?: string; readonly env?: Readonly<Record<string, string>>; readonly size?: readonly [number, number] }

/** Runs it between two looks at the terminal's settings; its pid is in the file `pid`. */
async function inTerminal(steps: readonly string[], command: readonly string[], { term = 'xterm-256color', env = {}, size = [80, 24] }: Options = {}) {
  const pid = join(mkdtempSync(join(scratch, 'run-')), 'pid')
  const script = `stty rows ${size[1]} cols ${size[0]}; before=$(stty -g); sh -c 'echo $$ >"$0"; exec "$@"' ${pid} "$@"; code=$?; [ "$before" = "$(stty -g)" ] && echo settings kept; echo "code $code"`
  const { stdout } = await promisify(execFile)(
    python ?? 'python3',
    [TERMINAL, JSON.stringify(steps.map((step) => step.replace('PID', `$(cat ${pid})`))), 'sh', '-c', script, 'sh', ...command],
    { env: { PATH: process.env['PATH'], HOME: scratch, LANG: 'C.UTF-8', TERM: term, ...env }, maxBuffer: 2 ** 26, cwd: scratch },
  )
  const ran = ranSchema.parse(JSON.parse(stdout))
  expect(ran.late).toBeUndefined()
  const out = Buffer.from(ran.out, 'latin1').toString('utf8')
  return { out, screen: screenOf(out, ...size) }
}
const top = (listen: string): readonly string[] => [process.execPath, MAIN, 'top', '--listen', listen]

/** Settings as before, the exit code, the cursor shown, lines wrapped, and the first screen back. */
const GIVEN_BACK = { kept: true, modes: ['25', '7'], unknown: [] }
const givenBack = (out: string, { modes, unknown }: TerminalScreen) => ({
  kept: out.includes('settings kept'),
  code: Number(/code (\d+)/.exec(out)?.[1]),
  modes: [...modes].toSorted(),
  unknown,
})

describe.skipIf(python === undefined)(`top in a terminal${python === undefined ? ' (needs python3)' : ''}`, () => {
  describe.each(TERMS)('$term', ({ term, env, letters, colours }) => {
    test.each(SIZES)('%i x %i', async (columns, rows) => {
      await using scene = await startScene()
      const { out, screen } = await inTerminal(['await 3001', 'type q'], top(scene.listen), { term, env, size: [columns, rows] })
      expect(givenBack(out, screen)).toEqual({ ...GIVEN_BACK, code: 0 })
      expect(`${screen.rows.join('\n')}\n`).toBe(golden(`${columns}x${rows}-${letters}.txt`, screen))
      expect([...screen.styles].some((style) => colours.test(style))).toBe(true)
    })
  })

  test('NO_COLOR: no colours, and jobs are still told apart', async () => {
    await using scene = await startScene(4)
    const { screen } = await inTerminal(['await 3001', 'type q'], top(scene.listen), { env: { NO_COLOR: '1' }, size: [120, 30] })
    expect([...screen.styles].filter((style) => /(?:^|;)(?:3[0-8]|9\d)/.test(style))).toEqual([])
  })

  test.each([
    ['q', ['type q'], 0],
    ['Ctrl-C', ['type \u0003'], 0],
    ['SIGINT', ['run kill -INT PID'], 130],
    ['SIGTERM', ['run kill -TERM PID'], 143],
    ['SIGHUP', ['run kill -HUP PID'], 129],
    ['SIGSTOP and SIGCONT with another size between', ['run kill -STOP PID', 'resize 30 100', 'run kill -CONT PID', 'await \u001b[30;', 'type q'], 0],
  ])('%s leaves the terminal as it was', async (_name, steps, code) => {
    await using scene = await startScene(4)
    const { out, screen } = await inTerminal(['await 3001', ...steps], top(scene.listen))
    expect(givenBack(out, screen)).toEqual({ ...GIVEN_BACK, code })
  })

  test('a crash leaves the terminal as it was, and says why', async () => {
    const { out, screen } = await inTerminal(['await taken over', 'type x'], [process.execPath, join(import.meta.dirname, 'top-crash-child.ts')])
    expect(out).toContain('crashed on purpose')
    expect(out).toContain('settings kept')
    expect([...screen.modes].toSorted()).toEqual(['25', '7'])
  })

  test('the verdict is one key away; a log line does not drive the terminal', async () => {
    await using scene = await startScene(4)
    const { out, screen } = await inTerminal(['await 3001', 'type v', 'await scroll,', 'type \u0003'], top(scene.listen), { size: [100, 30] })
    expect(screen.rows.join('\n')).toContain('1. Halve the batch size.')
    expect(screen.unknown).toEqual([])
    expect(out).not.toContain('\u001b]0;')
  })

  test('a click chooses a row and the wheel moves; m gives the mouse back, and so does the end', async () => {
    await using scene = await startScene(4)
    // The line below the head of the first table.
    const { out, screen } = await inTerminal(
      ['await 3001', 'type \u001b[<0;5;3M', 'await [0;7m', 'type m', 'await Mouse off', 'type m', 'type q'],
      top(scene.listen),
    )
    expect(out.split('\u001b[?1000h\u001b[?1006h')).toHaveLength(3)
    expect(out.split('\u001b[?1006l\u001b[?1000l')).toHaveLength(3)
    expect(givenBack(out, screen)).toEqual({ ...GIVEN_BACK, code: 0 })
    const old = await inTerminal(['await 3001', 'type q'], top(scene.listen), { term: 'linux' })
    expect(old.out).not.toContain('?1000')
  })

  test('a process is sent a signal only after a confirmation', async () => {
    await using scene = await startScene(4)
    // No process of this machine has the pid of the scene with this age, so it is refused or its name is asked for; Esc sends none.
    const { out } = await inTerminal(['await 3001', 'type \u001b[B', 'type k', 'await rocess', 'type \u001b', 'type q'], top(scene.listen))
    expect(out).toMatch(/Signal to \d+|has ended already/)
    expect(out).not.toContain('Sent SIG')
  })

  test('a terminal that is too small, and one that says no size', async () => {
    await using scene = await startScene(4)
    const small = await inTerminal(['await small:', 'resize 24 80', 'await 3001', 'type q'], top(scene.listen), { size: [20, 5] })
    expect(small.out).toContain('settings kept')
    const unknown = await inTerminal(['await 3001', 'type q'], top(scene.listen), { size: [0, 0] })
    expect(unknown.out).toContain('settings kept')
  })

  test('tells why nothing comes', async () => {
    const { out } = await inTerminal(['await no agent runs there', 'type q'], top('127.0.0.1:1'))
    expect(out).toContain('code 0')
  })
})

/** UPDATE_GOLDEN=1 writes them. */
function golden(name: string, { rows }: TerminalScreen): string {
  const path = join(GOLDEN, name)
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(path, `${rows.join('\n')}\n`)
  return readFileSync(path, 'utf8')
}
