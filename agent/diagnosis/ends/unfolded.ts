// A line that holds other lines: a container engine's own file, and a logger's JSON object with a whole traceback in one of its strings.

const ENGINE = /^\{"log":"/
/** Only such strings are worth their parsing. */
const FOLDED = /\\n {1,8}File \\"|\\nTraceback \(most recent|Traceback \(most recent call last\)/
const LONGEST = 65_536
const MOST_LINES = 512

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** The longest string with several lines, wherever the logger puts it. */
function longest(value: unknown, depth: number): string {
  if (typeof value === 'string') return value.includes('\n') ? value : ''
  if (!isObject(value) || depth > 3) return ''
  return Object.values(value)
    .map((inner: unknown) => longest(inner, depth + 1))
    .reduce((best, each) => (each.length > best.length ? each : best), '')
}

/** What a reader of ends takes instead of the line; mostly the line itself. */
export function unfolded(raw: string): readonly string[] {
  if (!raw.startsWith('{') || raw.length > LONGEST || !(ENGINE.test(raw) || FOLDED.test(raw))) return [raw]
  try {
    const value: unknown = JSON.parse(raw)
    if (!isObject(value)) return [raw]
    if ('log' in value && typeof value.log === 'string' && ENGINE.test(raw)) return [value.log.replace(/\r?\n$/, '')]
    const text = longest(value, 0)
    return text === '' ? [raw] : text.split('\n').slice(0, MOST_LINES)
  } catch {
    return [raw]
  }
}
