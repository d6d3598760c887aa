// Runs all parsers in children, side by side: one that hangs or dies is named with its input, and the rest goes on.
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Failure, Order, Report } from './report.ts'

export type ParserFailure = Failure & { readonly parser: string }
export type Ran = { readonly inputs: number; readonly slowest: { readonly parser: string; readonly ms: number }; readonly failures: readonly ParserFailure[] }

/** To load all parsers, on a machine that does much else. */
const START_MS = 120_000
const CHILD = join(import.meta.dirname, 'child.ts')

type Setting = { readonly folder: string; readonly silenceMs: number; readonly heapMib: number }
type Ended = {
  readonly finished: ReadonlySet<string>
  readonly last: { readonly parser: string; readonly at: number } | undefined
  readonly how: string | undefined
}

async function runChild(order: Order, { folder, silenceMs, heapMib }: Setting, hear: (report: Report) => void): Promise<Ended> {
  const child = spawn(process.execPath, [`--max-old-space-size=${heapMib}`, CHILD, JSON.stringify(order)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TMPDIR: folder, NODE_OPTIONS: '' },
  })
  const finished = new Set<string>()
  let last: Ended['last']
  let silent = false
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr = `${stderr}${text}`.slice(0, 4_000)))
  const closed = new Promise<{ readonly code: number | null; readonly signal: string | null }>((resolve) =>
    child.on('close', (code, signal) => resolve({ code, signal })),
  )
  const timer = setInterval(() => {
    if (performance.now() - heard < (last === undefined ? START_MS : silenceMs)) return
    silent = true
    child.kill('SIGKILL')
  }, 200)
  let heard = performance.now()
  for await (const line of createInterface(child.stdout)) {
    heard = performance.now()
    const report: Report = JSON.parse(line)
    if ('at' in report) last = report
    else if ('done' in report) finished.add(report.parser)
    hear(report)
  }
  const { code, signal } = await closed
  clearInterval(timer)
  const how = silent
    ? `gave no answer for ${silenceMs / 1_000} s`
    : code === 0
      ? undefined
      : `died (${signal ?? code}): ${/^.*(?:FATAL ERROR|Error:).*$/m.exec(stderr)?.[0] ?? stderr.slice(0, 300)}`
  return { finished, last, how }
}

export type RunOptions = {
  readonly seed: number
  /** Of each parser's inputs. */
  readonly share: number
  /** Children side by side; the names go to them in turn. */
  readonly lanes: number
  /** Another module of parsers, for a test of the runs themselves. */
  readonly module?: string
  /** So long without a word is a hang: an input has 100 ms, and a position is reported each second. */
  readonly silenceMs?: number
  /** Of old objects of V8; parsers and all their seeds need some 120. */
  readonly heapMib?: number
}

export async function runParsers(
  names: readonly string[],
  { seed, share, lanes, module = './index.ts', silenceMs = 30_000, heapMib = 512 }: RunOptions,
): Promise<Ran> {
  const setting: Setting = { folder: await mkdtemp(join(tmpdir(), 'warpwatch-parsers-')), silenceMs, heapMib }
  const failures: ParserFailure[] = []
  let inputs = 0
  let slowest = { parser: '', ms: 0 }
  const hear = (report: Report): void => {
    if ('failure' in report) failures.push({ parser: report.parser, ...report.failure })
    if (!('done' in report)) return
    inputs += report.done
    if (report.slowestMs > slowest.ms) slowest = { parser: report.parser, ms: report.slowestMs }
  }
  const lane = async (own: readonly string[]): Promise<void> => {
    for (let left = own; left.length > 0;) {
      const { finished, last, how } = await runChild({ module, names: left, seed, from: 0, share }, setting, hear)
      left = left.filter((name) => !finished.has(name))
      if (how === undefined) return
      if (last === undefined) throw new Error(`parsers: the child ${how}`)
      // Once more from the last position, each input announced: then it is known which one.
      const exact = await runChild({ module, names: [last.parser], seed, from: last.at, share, every: 1 }, setting, () => {})
      failures.push({ parser: last.parser, index: exact.last?.at ?? last.at, what: exact.how ?? `${how}, but not again` })
      left = left.filter((name) => name !== last.parser)
    }
  }
  try {
    await Promise.all(Array.from({ length: lanes }, async (_, nth) => lane(names.filter((_name, at) => at % lanes === nth))))
  } finally {
    rmSync(setting.folder, { recursive: true, force: true })
  }
  return { inputs, slowest, failures }
}
