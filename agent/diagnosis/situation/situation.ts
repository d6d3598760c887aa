// The picture behind all advice: who speaks in a text, on what, with which settings. Read from the text around a fault, and from what the agent knows.
import { knownText, type Knowledge } from './knowledge.ts'
import { vendorOfLine } from './platform.ts'
import * as readers from './readers.ts'

type Readers = typeof readers
/** Each part is read when it is first asked for. */
export type Situation = { readonly [Concern in keyof Readers]: ReturnType<Readers[Concern]> } & {
  /** The lines that it was read from. */
  readonly text: string
}

function once<Value>(read: () => Value): () => Value {
  let held: { readonly value: Value } | undefined
  return () => (held ??= { value: read() }).value
}

type Reading = { readonly [Concern in keyof Readers]: () => ReturnType<Readers[Concern]> }

/** What stays the same as long as one program goes on: found once, it holds for what follows. */
type Place = Omit<Reading, 'settings' | 'subject' | 'versions'>
function placeOf(text: string): Place {
  const programs = once(() => readers.programs(text))
  return {
    programs,
    vendor: once(() => readers.vendor(text)),
    system: once(() => readers.system(text)),
    gaming: once(() => readers.gaming(text)),
    jetson: once(() => readers.jetson(text)),
    notebook: once(() => readers.notebook(text)),
    hosted: once(() => readers.hosted(text)),
    training: once(() => readers.training(text, programs())),
    distributed: once(() => readers.distributed(text)),
  }
}

const readingOf = (text: string, knowledge: Knowledge, place: Place): Reading => ({
  ...place,
  settings: once(() => readers.settings(text)),
  subject: once(() => readers.subject(text, knowledge)),
  versions: once(() => readers.versions(text)),
})

const situationOf = (text: string, read: Reading, vendor: Reading['vendor']): Situation => ({
  text,
  get programs() {
    return read.programs()
  },
  get vendor() {
    return vendor()
  },
  get system() {
    return read.system()
  },
  get gaming() {
    return read.gaming()
  },
  get jetson() {
    return read.jetson()
  },
  get notebook() {
    return read.notebook()
  },
  get hosted() {
    return read.hosted()
  },
  get settings() {
    return read.settings()
  },
  get subject() {
    return read.subject()
  },
  get versions() {
    return read.versions()
  },
  get distributed() {
    return read.distributed()
  },
  get training() {
    return read.training()
  },
})

/** The situation for any line of a text: the fault's own line names the vendor more surely than what is around it on a host with several. */
function readAround(text: string, knowledge: Knowledge, place: Place): (own: string) => Situation {
  const read = readingOf(text, knowledge, place)
  const byVendor = new Map<Situation['vendor'], Situation>()
  let last: { readonly own: string; readonly situation: Situation } | undefined
  return (own) => {
    if (last?.own === own) return last.situation
    const vendor = own === '' ? undefined : vendorOfLine(own)
    let situation = byVendor.get(vendor)
    if (situation === undefined) byVendor.set(vendor, (situation = situationOf(text, read, vendor === undefined ? read.vendor : () => vendor)))
    last = { own, situation }
    return situation
  }
}
/** What the agent knows comes last, so that what the program says of itself is found first. */
const withKnown = (said: string, known: string): string => (known === '' ? said : `${said}\n${known}`)
export function readSituation(said: string, knowledge: Knowledge = {}): Situation {
  const text = withKnown(said, knownText(knowledge))
  return readAround(text, knowledge, placeOf(text))('')
}

/** Characters read at the head of a text (a program names itself and its settings there), and around a fault. */
const HEAD = 2_048
const AROUND = 8_192
/** After so many reads of one text the picture is renewed only once in so many lines: an endless log of faults costs no more. */
const READS = 64
const RENEWED_AFTER_LINES = 10_000

/** In the stream of one container: a message that differs in its figures only comes from the same program, for so many lines. */
const SAME_FOR_LINES = 2_000
const SHAPES = 16
type Shape = { readonly line: number; readonly known: string; readonly place: Place }

export type Situations = { readonly at: (lines: readonly string[], line: number, firstLine: number) => Situation }

/** The situations of one text or one stream of lines. `firstLine`: the number of `lines[0]` in it, from 1. `oneProgram`: all lines are of one container. */
export function createSituations(know: () => Knowledge = () => ({}), oneProgram = false): Situations {
  let last: { readonly line: number; readonly around: string; readonly of: (own: string) => Situation } | undefined
  let head: string | undefined
  let reads = 0
  const shapes = new Map<string, Shape>()
  const placeAt = (own: string, at: number, text: string, known: string): Place => {
    if (!oneProgram) return placeOf(text)
    const shape = own.replaceAll(/\d+/g, '0')
    const before = shapes.get(shape)
    if (before !== undefined && before.known === known && at < before.line + SAME_FOR_LINES) return before.place
    if (shapes.size >= SHAPES) shapes.clear()
    const place = placeOf(text)
    shapes.set(shape, { line: at, known, place })
    return place
  }
  return {
    at(lines, line, firstLine) {
      const own = (lines[line] ?? '').slice(0, HEAD)
      if (last !== undefined && reads >= READS && firstLine + line < last.line + RENEWED_AFTER_LINES) return last.of(own)
      const around = nearby(lines, line)
      if (last?.around === around) return last.of(own)
      head ??= firstLine <= 1 ? lines.slice(0, 60).join('\n').slice(0, HEAD) : ''
      reads += 1
      const knowledge = know()
      const known = knownText(knowledge)
      const text = withKnown(around.startsWith(head) ? around : `${head}\n${around}`, known)
      const of = readAround(text, knowledge, placeAt(own, firstLine + line, text, known))
      last = { line: firstLine + line, around, of }
      return of(own)
    },
  }
}

function nearby(lines: readonly string[], line: number): string {
  let [from, to] = [line, line]
  let size = lines[line]?.length ?? 0
  for (let step = 0; step < 200 && size < AROUND; step += 1) {
    if (from > 0) size += lines[--from]?.length ?? 0
    if (to + 1 < lines.length) size += lines[++to]?.length ?? 0
  }
  const near = lines.slice(from, to + 1)
  return (size > AROUND ? near.map((one) => one.slice(0, HEAD)) : near).join('\n')
}
