// A reader of the Prometheus text format and OpenMetrics for tests, written from their descriptions alone, a character at a time.
export type ParsedSample = { readonly name: string; readonly labels: Readonly<Record<string, string>>; readonly value: number }
export type ParsedFamily = {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly unit?: string
  readonly samples: readonly ParsedSample[]
}

const SUFFIXES: Readonly<Record<string, readonly string[]>> = { counter: ['_total', '_created'], info: ['_info'] }
/** In both formats. */
const HISTOGRAM = ['_bucket', '_count', '_sum']

function unescape(text: string, quotes: boolean): string {
  let out = ''
  for (let i = 0; i < text.length; i += 1) {
    const char = text[i] ?? ''
    if (char !== '\\') {
      out += char
      continue
    }
    i += 1
    const next = text[i]
    if (next === 'n') out += '\n'
    else if (next === '\\' || (quotes && next === '"')) out += next
    else throw new Error(`escape \\${next ?? ''}: unknown`)
  }
  return out
}

function parseSample(line: string): ParsedSample {
  const name = /^[a-zA-Z_:][a-zA-Z0-9_:]*/.exec(line)?.[0]
  if (name === undefined) throw new Error(`no name: ${line}`)
  let i = name.length
  const labels: Record<string, string> = {}
  if (line[i] === '{') {
    i += 1
    while (line[i] !== '}') {
      const label = /^[a-zA-Z_][a-zA-Z0-9_]*/.exec(line.slice(i))?.[0]
      if (label === undefined || line.slice(i + label.length, i + label.length + 2) !== '="') throw new Error(`label at ${i}: ${line}`)
      if (label in labels) throw new Error(`label ${label} twice: ${line}`)
      i += label.length + 2
      const start = i
      while (line[i] !== '"') {
        if (i >= line.length) throw new Error(`open quote: ${line}`)
        i += line[i] === '\\' ? 2 : 1
      }
      labels[label] = unescape(line.slice(start, i), true)
      i += 1
      if (line[i] === ',') i += 1
      else if (line[i] !== '}') throw new Error(`after label ${label}: ${line}`)
    }
    i += 1
  }
  if (line[i] !== ' ') throw new Error(`no blank before the value: ${line}`)
  const text = line.slice(i + 1)
  const value = Number(text)
  if (text === '' || Number.isNaN(value)) throw new Error(`value ${text}: ${line}`)
  return { name, labels, value }
}

/** Throws on anything that the formats forbid: a family in two places, a sample outside its family, a series twice, no final line feed. */
export function parseExposition(page: string, format: 'text' | 'openmetrics'): ReadonlyMap<string, ParsedFamily> {
  // An agent that has just started may have nothing to show yet.
  if (page === '' && format === 'text') return new Map()
  if (!page.endsWith('\n')) throw new Error('no line feed at the end')
  const lines = page.slice(0, -1).split('\n')
  if (format === 'openmetrics' && lines.pop() !== '# EOF') throw new Error('no # EOF at the end')
  const families = new Map<string, { name: string; type: string; help: string; unit?: string; samples: ParsedSample[] }>()
  const seen = new Set<string>()
  let current: { name: string; type: string; help: string; unit?: string; samples: ParsedSample[] } | undefined
  for (const line of lines) {
    const meta = /^# (HELP|TYPE|UNIT) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/.exec(line)
    if (meta !== null) {
      const [, keyword, name = '', rest = ''] = meta
      if (current?.name !== name) {
        if (families.has(name)) throw new Error(`family ${name} in two places`)
        current = { name, type: '', help: '', samples: [] }
        families.set(name, current)
      }
      if (current.samples.length > 0) throw new Error(`${line}: after its samples`)
      if (keyword === 'HELP') current.help = unescape(rest, format === 'openmetrics')
      else if (keyword === 'TYPE') current.type = rest
      else current.unit = rest
      continue
    }
    const sample = parseSample(line)
    if (current === undefined) throw new Error(`sample before any family: ${line}`)
    const suffixes = current.type === 'histogram' ? HISTOGRAM : format === 'openmetrics' ? (SUFFIXES[current.type] ?? ['']) : ['']
    const { name } = current
    if (!suffixes.some((suffix) => sample.name === name + suffix)) throw new Error(`sample ${sample.name} in family ${name} of type ${current.type}`)
    const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort(([a], [b]) => (a < b ? -1 : 1))])
    if (seen.has(key)) throw new Error(`series twice: ${line}`)
    seen.add(key)
    current.samples.push(sample)
  }
  for (const { name, unit } of families.values()) if (unit !== undefined && !name.endsWith(`_${unit}`)) throw new Error(`unit ${unit} of ${name}`)
  return families
}
