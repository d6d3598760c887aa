// What reading the progress of jobs adds to the reading of logs: CPU with and without it, in pairs of one run.
import { createLineFilter } from '../agent/diagnosis/line-filter.ts'
import { createLogFlow } from '../agent/sources/logs/flow.ts'
import { createLineBuffer } from '../agent/sources/logs/line-buffer.ts'
import { createLogCounters } from '../agent/sources/logs/metrics.ts'
import { createProgressBook } from '../agent/sources/logs/progress-book.ts'
import { printTable } from './lib/table.ts'
import { trainingLog } from './lib/training-log.ts'

const PAIRS = 5
const SIZE = 200 * 2 ** 20
const READ_BYTES = 64 * 1024
/** A flood of so many lines a second, looked at five times a second, for so long. */
const FLOOD_LINES = 31_000
const LOOKS = 5
const FLOOD_S = 15
const ASK_MS = 2_000
/** On a machine that has other work a pair takes minutes: each figure begins no further one after so long. */
const LONGEST_MS = 100_000
const TARGETS = { flood: 0.1, scan: 0.05 }

const cpuSeconds = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}
const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

/** CPU seconds for all of it; `secondsPer`: simulated seconds between two reads, 0 where the clock is the machine's. */
function readAll(pieces: readonly Buffer[], progress: boolean, secondsPer: number): number {
  let ms = secondsPer === 0 ? Date.now() : 1_700_000_000_000
  const clock = secondsPer === 0 ? undefined : (): number => ms
  const book = clock === undefined ? createProgressBook() : createProgressBook(clock, clock)
  const counters = createLogCounters('file')
  const flow = createLogFlow({
    stream: 'file',
    origin: () => ({ path: '/job.log' }),
    interesting: createLineFilter(),
    emit: () => {},
    counters,
    ...(progress ? { progress: book.tap(() => ({ path: '/job.log' })) } : {}),
  })
  const lines = createLineBuffer({ onBatch: (batch) => flow.take(batch, { timeOf: () => ms }), onCut: () => {} })
  const start = cpuSeconds()
  let asked = ms
  for (const piece of pieces) {
    ms = clock === undefined ? Date.now() : ms + 1_000 * secondsPer
    lines.push(piece)
    // As the source of job-progress does.
    if (progress && ms - asked >= ASK_MS) {
      asked = ms
      book.jobs()
    }
  }
  const took = cpuSeconds() - start
  flow.end()
  if (progress && book.jobs().length > 1) throw new Error('expected one job')
  return took
}

/** How much more CPU it takes: the median of pairs, in one order and the other by turns. */
function more(pieces: readonly Buffer[], secondsPer: number): { readonly share: number; readonly pairs: number } {
  const until = Date.now() + LONGEST_MS
  for (const progress of [true, false]) readAll(pieces.slice(0, Math.ceil(pieces.length / 4)), progress, secondsPer)
  const ratios: number[] = []
  while (ratios.length === 0 || (ratios.length < PAIRS && Date.now() < until)) {
    const reads = ratios.length % 2 === 0
    const first = readAll(pieces, reads, secondsPer)
    const second = readAll(pieces, !reads, secondsPer)
    ratios.push(reads ? first / second : second / first)
  }
  return { share: median(ratios) - 1, pairs: ratios.length }
}

function cut(bytes: Buffer, size: number): readonly Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size))
}

export async function run(): Promise<void> {
  const { bytes, lines } = trainingLog(SIZE, 17)
  const perLook = Math.round(((bytes.length / lines) * FLOOD_LINES) / LOOKS)
  const flood = more(cut(bytes, perLook).slice(0, FLOOD_S * LOOKS), 1 / LOOKS)
  const scan = more(cut(bytes, READ_BYTES), 0)
  const percent = (share: number): string => `${(100 * share).toFixed(1)} %`
  const figure = ({ share, pairs }: ReturnType<typeof more>): string => `${percent(share)} (${pairs} pairs)`
  printTable([
    {
      what: `more CPU with progress read, ${FLOOD_LINES} lines a second with bars for ${FLOOD_S} s`,
      figure: figure(flood),
      limit: percent(TARGETS.flood),
      ok: flood.share <= TARGETS.flood,
    },
    {
      what: `… a log of ${Math.round(bytes.length / 1e6)} MB read at once`,
      figure: figure(scan),
      limit: percent(TARGETS.scan),
      ok: scan.share <= TARGETS.scan,
    },
  ])
}

if (import.meta.main) await run()
