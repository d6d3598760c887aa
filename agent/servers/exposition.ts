// Reads a page in the Prometheus text format. The page is a stranger's: sizes are bounded and a line that is none is left out.

export type Sample = { readonly labels: Readonly<Record<string, string>>; readonly value: number }
/** Samples by the name of their series. */
export type Exposition = ReadonlyMap<string, readonly Sample[]>

const MAX_SAMPLES = 20_000
const MAX_LABEL_CHARS = 300
const MAX_LABELS = 64

/** `{a="b",c="d"}` from behind the brace; escapes are \\, \" and \n. Gives the place behind the closing brace. */
function readLabels(line: string, from: number): { readonly labels: Record<string, string>; readonly end: number } | undefined {
  const labels: Record<string, string> = {}
  let at = from
  for (let count = 0; count <= MAX_LABELS; count++) {
    while (line[at] === ' ' || line[at] === ',') at++
    if (line[at] === '}') return { labels, end: at + 1 }
    const equals = line.indexOf('=', at)
    if (equals < 0) return undefined
    const quote = line.indexOf('"', equals)
    if (quote < 0) return undefined
    let end = quote + 1
    let escaped = false
    while (end < line.length && line[end] !== '"') {
      if (line[end] === '\\') {
        escaped = true
        end++
      }
      end++
    }
    if (end >= line.length) return undefined
    const text = line.slice(quote + 1, Math.min(end, quote + 1 + MAX_LABEL_CHARS))
    labels[line.slice(at, equals).trim()] = escaped ? text.replace(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char)) : text
    at = end + 1
  }
  return undefined
}

const isLetter = (code: number): boolean => (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || code === 0x5f || code === 0x3a
const isInName = (code: number): boolean => isLetter(code) || (code >= 0x30 && code <= 0x39)

/** Where the name of a series ends that begins at `from`; `from` itself where there is none. */
function endOfName(page: string, from: number): number {
  let at = from
  if (isLetter(page.charCodeAt(at))) while (isInName(page.charCodeAt(at))) at++
  return at
}

/**
 * `wanted` gives the name under which a series is kept, or undefined for one that nobody asks for: a page of 600 lines holds 60 that matter, and of the others
 * nothing is made, not even a text. Values that are no finite number are left out.
 */
export function readExposition(page: string, wanted: (name: string) => string | undefined): Exposition {
  const found = new Map<string, Sample[]>()
  const names = new Map<string, string | undefined>()
  let samples = 0
  let [spelled, name]: [string, string | undefined] = ['', undefined]
  for (let start = 0, next = 0; start < page.length && samples < MAX_SAMPLES; start = next) {
    const newline = page.indexOf('\n', start)
    const end = newline < 0 ? page.length : newline
    next = end + 1
    // Most lines are of the series of the line before.
    if (spelled === '' || !page.startsWith(spelled, start) || isInName(page.charCodeAt(start + spelled.length))) {
      const nameEnd = endOfName(page, start)
      if (nameEnd === start) continue
      spelled = page.slice(start, nameEnd)
      if (!names.has(spelled)) names.set(spelled, wanted(spelled))
      name = names.get(spelled)
    }
    if (name === undefined) continue
    const line = page.slice(start, end)
    const head = line[spelled.length] === '{' ? readLabels(line, spelled.length + 1) : { labels: {}, end: spelled.length }
    if (head === undefined) continue
    // Behind the value a timestamp or an exemplar may follow.
    const text = line.slice(head.end).trimStart().split(/\s/, 1)[0]
    const value = text === undefined || text === '' ? Number.NaN : Number(text)
    if (!Number.isFinite(value)) continue
    samples++
    const list = found.get(name)
    if (list === undefined) found.set(name, [{ labels: head.labels, value }])
    else list.push({ labels: head.labels, value })
  }
  return found
}
