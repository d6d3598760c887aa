// Feeds parsers in a process of its own, with bounded memory, so that whoever started it sees a hang or a death: `child.ts '{"names":[…],…}'`.
// A failure is made again by `node test/abuse/parsers/child.ts '{"module":"./index.ts","names":["NAME"],"seed":1,"from":INDEX,"share":1,"only":1}'`.
import { writeSync } from 'node:fs'
import { mutated } from './mutate.ts'
import type { Parser } from './parser.ts'
import type { Order, Report } from './report.ts'

/** In proportion to the bytes; below this floor the garbage collector decides, not the parser. */
const FLOOR_MS = 25
const allowedMs = ({ msPer64KiB }: Parser, bytes: number): number => Math.max(FLOOR_MS, (msPer64KiB * bytes) / 65_536)
/** A position is reported after so many inputs or ms, whichever comes first. */
const REPORT_INPUTS = 512
const REPORT_MS = 1_000
const MOST_FAILURES = 3

/** 20 million additions take so long on the machine for which the limits were set. */
const NOMINAL_MS = 18
/** How many times slower than that machine this one is just now, never below 1: limits hold for a parser, not for a processor that others share. */
function slownessOfMachine(): number {
  const before = process.cpuUsage()
  let sum = 0
  for (let i = 0; i < 20_000_000; i += 1) sum += i
  const { user, system } = process.cpuUsage(before)
  return sum < 0 ? 1 : Math.max(1, (user + system) / 1_000 / NOMINAL_MS)
}

const tell = (report: Report): void => void writeSync(1, `${JSON.stringify(report)}\n`)

/** The first ones run before V8 has compiled what they call: a reading of much code reaches its own speed after a dozen. */
const MOST_ROUNDS = 40
/** CPU time of one reading: others on the machine do not count. The least of several, so that a collection of garbage and V8's compiler do not either. */
async function cpuMs(parser: Parser, input: Buffer, index: number): Promise<number> {
  let least = Infinity
  for (let round = 0; round < MOST_ROUNDS && least > allowedMs(parser, input.length); round += 1) {
    tell({ parser: parser.name, at: index })
    const before = process.cpuUsage()
    await settled(parser, input)
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 1_000 / slownessOfMachine())
  }
  return least
}

/** What was thrown although the parser does not name it as its refusal. */
async function settled(parser: Parser, input: Buffer): Promise<string | undefined> {
  try {
    const reading = parser.read(input)
    if (reading !== undefined) await reading
    return undefined
  } catch (error) {
    if (error instanceof Error && parser.refuses(error)) return undefined
    return error instanceof Error ? (error.stack ?? error.message).split('\n').slice(0, 4).join(' | ') : `threw ${typeof error}`
  }
}

async function feed(parser: Parser, { seed, from, share, only, every }: Order): Promise<void> {
  const until = only === undefined ? Math.ceil(parser.inputs * share) : from + only
  let [failures, slowestMs, reported] = [0, 0, 0]
  for (let index = from; index < until && failures < MOST_FAILURES; index += 1) {
    if (index % (every ?? REPORT_INPUTS) === 0 || performance.now() - reported > REPORT_MS) {
      reported = performance.now()
      tell({ parser: parser.name, at: index })
    }
    const input = mutated(parser.seeds, seed, index, parser.mostBytes)
    const begun = performance.now()
    const thrown = await settled(parser, input)
    const tookMs = performance.now() - begun
    if (thrown !== undefined) {
      failures += 1
      tell({ parser: parser.name, failure: { index, what: thrown, bytes: input.length } })
    } else if (tookMs > allowedMs(parser, input.length)) {
      const ms = await cpuMs(parser, input, index)
      slowestMs = Math.max(slowestMs, ms)
      if (ms <= allowedMs(parser, input.length)) continue
      failures += 1
      tell({
        parser: parser.name,
        failure: { index, what: `took ${ms.toFixed(0)} ms of CPU, ${allowedMs(parser, input.length).toFixed(0)} allowed`, bytes: input.length },
      })
    } else slowestMs = Math.max(slowestMs, tookMs)
  }
  tell({ parser: parser.name, done: Math.max(0, until - from), slowestMs })
}

const order: Order = JSON.parse(process.argv[2] ?? '{}')
const registry: Readonly<Record<string, Parser>> = await import(order.module)
const parsers = new Map(Object.values(registry).map((parser) => [parser.name, parser]))
for (const [at, name] of order.names.entries()) {
  const parser = parsers.get(name)
  if (parser === undefined) throw new Error(`no parser ${name}; there are ${[...parsers.keys()].join(', ')}`)
  await feed(parser, at === 0 ? order : { ...order, from: 0 })
}
