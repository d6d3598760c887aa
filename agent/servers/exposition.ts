// Reads a page in the Prometheus text format. The page is a stranger's: sizes are bounded and a line that is none is left out.
import { createPlanMaker, readAgain, type Exposition, type PlanMaker, type Sample, type SeenPage } from './seen-page.ts'

const MAX_SAMPLES = 20_000
const MAX_LABEL_CHARS = 300
const MAX_LABELS = 64
/** Names that were judged before, for each who asks; they are a stranger's. */
const MAX_KNOWN = 2_000

type Labels = Record<string, string>
type Found = { readonly labels: Labels; readonly end: number }
const [QUOTE, BACKSLASH, BLANK, COMMA, BRACE_OPEN, BRACE_CLOSE, EQUALS, TAB, RETURN] = [0x22, 0x5c, 0x20, 0x2c, 0x7b, 0x7d, 0x3d, 0x09, 0x0d]

/** `{a="b",c="d"}` from behind the brace; escapes are \\, \" and \n. Gives the place behind the closing brace. `last` is where the line ends. */
function readLabels(page: string, from: number, last: number): Found | undefined {
  const labels: Labels = {}
  let at = from
  for (let count = 0; count <= MAX_LABELS; count++) {
    while (page.charCodeAt(at) === BLANK || page.charCodeAt(at) === COMMA) at++
    if (page.charCodeAt(at) === BRACE_CLOSE) return { labels, end: at + 1 }
    let equals = at
    while (equals < last && page.charCodeAt(equals) !== EQUALS) equals++
    let end = equals
    while (end < last && page.charCodeAt(end) !== QUOTE) end++
    const quote = end
    let escaped = false
    for (end++; end < last && page.charCodeAt(end) !== QUOTE; end++)
      if (page.charCodeAt(end) === BACKSLASH) {
        escaped = true
        end++
      }
    if (end >= last) return undefined
    const text = page.slice(quote + 1, Math.min(end, quote + 1 + MAX_LABEL_CHARS))
    labels[page.slice(at, equals).trim()] = escaped ? text.replace(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char)) : text
    at = end + 1
  }
  return undefined
}

/** Most lines have the labels of the line before, or all of them but the bound of their bucket, which is last. */
function createLabelReader(page: string): (from: number, last: number) => Found | undefined {
  let [whole, start]: [string | undefined, string | undefined] = [undefined, undefined]
  let before: Labels = {}
  return (from, last) => {
    if (whole !== undefined && page.startsWith(whole, from)) return { labels: before, end: from + whole.length }
    if (start !== undefined && page.startsWith(start, from)) {
      const at = from + start.length
      const quote = page.indexOf('"', at)
      if (quote >= at && quote + 1 < last && quote - at < MAX_LABEL_CHARS && page.charCodeAt(quote + 1) === BRACE_CLOSE)
        return { labels: { ...before, le: page.slice(at, quote) }, end: quote + 2 }
    }
    const found = readLabels(page, from, last)
    if (found === undefined) return undefined
    before = found.labels
    whole = page.slice(from, found.end)
    const bound = whole.lastIndexOf('le="')
    const isBound = bound >= 0 && (bound === 0 || whole[bound - 1] === ',') && /^le="[^"\\]*"}$/.test(whole.slice(bound))
    start = isBound ? whole.slice(0, bound + 4) : undefined
    return found
  }
}

const isLetter = (code: number): boolean => (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || code === 0x5f || code === 0x3a
const isInName = (code: number): boolean => isLetter(code) || (code >= 0x30 && code <= 0x39)
const isSpace = (code: number): boolean => code === BLANK || code === TAB || code === RETURN

/** Where the name of a series ends that begins at `from`; `from` itself where there is none. */
function endOfName(page: string, from: number): number {
  let at = from
  if (isLetter(page.charCodeAt(at))) while (isInName(page.charCodeAt(at))) at++
  return at
}

function skipSpace(page: string, from: number, last: number): number {
  let at = from
  while (at < last && isSpace(page.charCodeAt(at))) at++
  return at
}
/** Behind the value a timestamp or an exemplar may follow. */
function readValue(page: string, start: number, last: number): number {
  let end = start
  while (end < last && !isSpace(page.charCodeAt(end))) end++
  return start === end ? Number.NaN : Number(page.slice(start, end))
}

export type Wanted = (name: string) => string | undefined
const judged = new WeakMap<Wanted, Map<string, string | undefined>>()
/** What `wanted` says of a name, asked once: it is the same in each reading. */
function createNames(wanted: Wanted): (name: string) => string | undefined {
  let known = judged.get(wanted)
  if (known === undefined || known.size > MAX_KNOWN) judged.set(wanted, (known = new Map()))
  const names = known
  return (name) => {
    const found = names.get(name)
    if (found !== undefined || names.has(name)) return found
    const said = wanted(name)
    // A piece of a page would keep all of it.
    const [own, of] = [said, name].map((text) => (text === undefined ? undefined : Buffer.from(text).toString()))
    if (of !== undefined) names.set(of, own)
    return own
  }
}

/** Where a histogram ends of which nobody reads the buckets, if it is in one piece before the next comment; else `from`. */
function behindHistogram(page: string, spelled: string, from: number): number {
  if (!spelled.endsWith('_bucket')) return from
  const comment = page.indexOf('\n#', from)
  if (comment < 0) return from
  const last = page.lastIndexOf('\n', comment - 1) + 1
  return page.startsWith(spelled.slice(0, -'bucket'.length), last) ? comment + 1 : from
}

/** With `seen`, what this server's page looked like before, only the values are read where the page has the same lines; the samples are then those of the last reading. */
export function readExposition(page: string, wanted: Wanted, seen?: SeenPage): Exposition {
  const plan = seen?.get(wanted)
  const again = plan === undefined ? undefined : readAgain(plan, page)
  if (again !== undefined) return again
  const maker = seen === undefined ? undefined : createPlanMaker(page)
  const found = readWhole(page, wanted, maker?.add)
  const made = maker?.made()
  if (made === undefined) {
    seen?.delete(wanted)
    return found
  }
  seen?.set(wanted, made)
  return made.page
}

/**
 * `wanted` gives the name under which a series is kept, or undefined for one that nobody asks for: a page of 600 lines holds 60 that matter, and of the others
 * nothing is made, not even a text. A histogram whose buckets are not wanted is left out as a whole. Values that are no finite number are left out.
 */
function readWhole(page: string, wanted: Wanted, note?: PlanMaker['add']): Exposition {
  const found = new Map<string, Sample[]>()
  const [nameOf, labelsAt] = [createNames(wanted), createLabelReader(page)]
  let samples = 0
  let [spelled, name, list]: [string, string | undefined, Sample[] | undefined] = ['', undefined, undefined]
  for (let start = 0, next = 0; start < page.length && samples < MAX_SAMPLES; start = next) {
    const newline = page.indexOf('\n', start)
    const end = newline < 0 ? page.length : newline
    next = end + 1
    // Most lines are of the series of the line before.
    if (spelled === '' || !page.startsWith(spelled, start) || isInName(page.charCodeAt(start + spelled.length))) {
      const nameEnd = endOfName(page, start)
      if (nameEnd === start) continue
      spelled = page.slice(start, nameEnd)
      name = nameOf(spelled)
      list = name === undefined ? undefined : found.get(name)
      if (name === undefined) next = behindHistogram(page, spelled, next)
    }
    if (name === undefined) continue
    const labelled = start + spelled.length
    const head = page.charCodeAt(labelled) === BRACE_OPEN ? labelsAt(labelled + 1, end) : { labels: {}, end: labelled }
    if (head === undefined) continue
    const at = skipSpace(page, head.end, end)
    const value = readValue(page, at, end)
    note?.(start, at, end + 1, name, head.labels, value)
    if (!Number.isFinite(value)) continue
    samples++
    if (list === undefined) found.set(name, (list = []))
    list.push({ labels: head.labels, value })
  }
  return found
}
