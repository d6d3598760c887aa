// A metrics page that was read before: five seconds later the same lines are in the same order, and only their values have moved.
// So each line that is wanted is found by its own text, its value alone is read, and what is between is counted in lines and not looked at.

/** `value` moves from reading to reading: whoever keeps a sample copies it. */
export type Sample = { readonly labels: Readonly<Record<string, string>>; readonly value: number }
/** Samples by the name of their series. */
export type Exposition = ReadonlyMap<string, readonly Sample[]>

type Moving = { -readonly [Key in keyof Sample]: Sample[Key] }
type Line = {
  /** All of the line before its value. */
  readonly head: string
  /** Lines before it, since the one before that is wanted. */
  readonly between: number
  /** Their length when it was read last. */
  length: number
  /** undefined: its value was no number. */
  readonly sample: Moving | undefined
}
export type Plan = {
  readonly lines: readonly Line[]
  readonly page: Exposition
  readonly after: { readonly between: number; length: number }
  /** So many readings until all of the page is looked at again. */
  left: number
}

/** Of one page of one server, by who reads it. */
export type SeenPage = Map<object, Plan>
export const createSeenPage = (): SeenPage => new Map()

/** A page with more lines than this is read in full each time, so that a stranger's page takes no memory. */
const MAX_LINES = 4_000
/** A minute: an unwanted line that was replaced by a wanted one is not seen before. */
const READINGS = 12
const [BLANK, NEWLINE] = [0x20, 0x0a]

/** A piece of a page would keep all of it in memory. */
const apart = (text: string): string => Buffer.from(text).toString()

function linesBetween(page: string, from: number, to: number): number {
  let count = 0
  for (let at = page.indexOf('\n', from); at >= 0 && at < to; at = page.indexOf('\n', at + 1)) count++
  return count
}

/** The last line of a page may end without a newline. */
const linesAfter = (page: string, from: number): number =>
  linesBetween(page, from, page.length) + (from < page.length && page.charCodeAt(page.length - 1) !== NEWLINE ? 1 : 0)

export type PlanMaker = {
  /** A wanted line: its value begins at `value`. */
  readonly add: (start: number, value: number, next: number, name: string, labels: Sample['labels'], number: number) => void
  readonly made: () => Plan | undefined
}
/** `page` gets the samples of the plan, which the next reading moves. */
export function createPlanMaker(text: string): PlanMaker {
  const lines: Line[] = []
  const page = new Map<string, Moving[]>()
  const texts = new Map<string, string>()
  const own = (piece: string): string => {
    let kept = texts.get(piece)
    if (kept === undefined) {
      kept = apart(piece)
      texts.set(kept, kept)
    }
    return kept
  }
  const labelsOf = new Map<Sample['labels'], Sample['labels']>()
  const ownLabels = (labels: Sample['labels']): Sample['labels'] => {
    let kept = labelsOf.get(labels)
    if (kept === undefined) labelsOf.set(labels, (kept = Object.fromEntries(Object.entries(labels).map(([key, value]) => [own(key), own(value)]))))
    return kept
  }
  let last = 0
  return {
    add(start, value, next, name, labels, number) {
      if (lines.length > MAX_LINES) return
      const isNumber = Number.isFinite(number)
      const sample: Moving | undefined = isNumber ? { labels: ownLabels(labels), value: number } : undefined
      lines.push({ head: apart(text.slice(start, value)), between: linesBetween(text, last, start), length: start - last, sample })
      last = next
      if (sample === undefined) return
      const list = page.get(name)
      if (list === undefined) page.set(own(name), [sample])
      else list.push(sample)
    },
    made: () =>
      lines.length === 0 || lines.length > MAX_LINES
        ? undefined
        : { lines, page, left: READINGS, after: { between: linesAfter(text, last), length: text.length - last } },
  }
}

/** The value that begins at `at`, mostly an integer such as `1234.0`; behind it a timestamp or an exemplar may follow. */
function valueAt(page: string, at: number, end: number): number {
  let stop = at
  while (stop < end && page.charCodeAt(stop) > BLANK) stop++
  return stop === at ? Number.NaN : Number(page.slice(at, stop))
}

/** undefined: the lines differ from the last reading, so the page must be read in full. */
export function readAgain(plan: Plan, text: string): Exposition | undefined {
  const { lines, page, after } = plan
  if (plan.left-- <= 0) return undefined
  let at = 0
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index]
    if (line === undefined) return undefined
    const { head, between, sample } = line
    let start = at
    if (between > 0) {
      // As long as before, or somewhere behind as many lines.
      start = at + line.length
      if (!text.startsWith(head, start) || text.charCodeAt(start - 1) !== NEWLINE) {
        start = text.indexOf(`\n${head}`, Math.max(0, at - 1)) + 1
        if (start === 0 || linesBetween(text, at, start) !== between) return undefined
        line.length = start - at
      }
    } else if (!text.startsWith(head, at)) return undefined
    const newline = text.indexOf('\n', start + head.length)
    const end = newline < 0 ? text.length : newline
    // Another blank before the value: it is another line.
    if (start + head.length < end && text.charCodeAt(start + head.length) <= BLANK) return undefined
    const value = valueAt(text, start + head.length, end)
    if (Number.isFinite(value) !== (sample !== undefined)) return undefined
    if (sample !== undefined) sample.value = value
    at = end + 1
  }
  if (text.length - at === after.length) return page
  after.length = text.length - at
  return linesAfter(text, at) === after.between ? page : undefined
}
