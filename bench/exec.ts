// `warpwatch exec` beside the plain command: `cat` of 1 GiB into each sort of output, and how long a command waits for its start. Needs the built dist/.
import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { percentile, printTable, type Row } from './lib/table.ts'

const GIB = 2 ** 30
const TURNS = 7
const LIMIT = 1.05
const START_LIMIT_MS = 50
const MAIN = join(import.meta.dirname, '../dist/main.js')
/** The shell means the user's own; exec starts the command without one. */
const OUTPUTS = [
  ['/dev/null', '"$@" >/dev/null'],
  ['a file', '"$@" >"$OUT"'],
  ['a pipe', '"$@" | cat >/dev/null'],
  ['one pipe for both streams', '"$@" 2>&1 | cat >/dev/null'],
] as const

const wrapped = (command: readonly string[]): readonly string[] => [process.execPath, MAIN, 'exec', '--quiet', '--listen', '127.0.0.1:1', '--', ...command]

function seconds(shell: string, command: readonly string[], out: string): number {
  const begun = performance.now()
  const { status } = spawnSync('sh', ['-c', shell, 'sh', ...command], { env: { ...process.env, OUT: out }, stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error(`${command.join(' ')} ended with exit code ${status}; expected 0`)
  return (performance.now() - begun) / 1_000
}

/** Pairs, as the machine's speed drifts. */
function ratioRow(name: string, shell: string, file: string, out: string): Row {
  seconds(shell, ['cat', file], out)
  const pairs = Array.from({ length: TURNS }, () => {
    const plain = seconds(shell, ['cat', file], out)
    return { plain, ours: seconds(shell, wrapped(['cat', file]), out) }
  })
  const ratio = percentile(
    pairs.map(({ plain, ours }) => ours / plain),
    0.5,
  )
  const plain = percentile(
    pairs.map((pair) => pair.plain),
    0.5,
  )
  const figure = `${ratio.toFixed(2)} times the plain command's ${plain.toFixed(2)} s`
  return { what: `1 GiB into ${name}, start included`, figure, limit: `${LIMIT}`, ok: ratio <= LIMIT }
}

function startRow(): Row {
  const clock = ['date', '+%s%N']
  const startOf = (command: readonly string[]): number => {
    const begun = performance.timeOrigin + performance.now()
    const [program = '', ...args] = command
    return Number(execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()) / 1e6 - begun
  }
  const added = percentile(
    Array.from({ length: 3 * TURNS }, () => -startOf(clock) + startOf(wrapped(clock))),
    0.5,
  )
  return { what: 'a command starts later by', figure: `${added.toFixed(0)} ms`, limit: `${START_LIMIT_MS} ms`, ok: added <= START_LIMIT_MS }
}

export function run(): void {
  if (!existsSync(MAIN)) throw new Error('needs dist/: npm run build')
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-exec-bench-'))
  try {
    const file = join(folder, 'gib')
    const [fd, piece] = [openSync(file, 'w'), Buffer.alloc(2 ** 20, 'a line of text\n')]
    for (let written = 0; written < GIB; written += piece.length) writeSync(fd, piece)
    closeSync(fd)
    printTable([...OUTPUTS.map(([name, shell]) => ratioRow(name, shell, file, join(folder, 'out'))), startRow()])
  } finally {
    rmSync(folder, { recursive: true })
  }
}

if (import.meta.main) run()
