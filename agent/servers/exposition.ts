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

/**
 * `wanted` gives the name under which a series is kept, or undefined for one that nobody asks for: a page of 600 lines holds 60 that matter.
 * Values that are no finite number are left out.
 */
export function readExposition(page: string, wanted: (name: string) => string | undefined): Exposition {
  const found = new Map<string, Sample[]>()
  const names = new Map<string, string | undefined>()
  let samples = 0
  for (let start = 0; start < page.length && samples < MAX_SAMPLES;) {
    const newline = page.indexOf('\n', start)
    const line = page.slice(start, newline < 0 ? page.length : newline)
    start = newline < 0 ? page.length : newline + 1
    const spelled = /^[a-zA-Z_:][\w:]*/.exec(line)?.[0]
    if (spelled === undefined) continue
    if (!names.has(spelled)) names.set(spelled, wanted(spelled))
    const name = names.get(spelled)
    if (name === undefined) continue
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
