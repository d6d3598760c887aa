// Logs that are in JSON: a line an object, as engines and collectors keep what a container prints, and notebooks with the outputs of their cells.

/** What is read of a line; undefined where the line is not of this form. */
export type Unwrap = (line: string) => string | undefined

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null && !Array.isArray(value)

function parsed(line: string): Readonly<Record<string, unknown>> | undefined {
  if (!/^\s{0,8}\{/.test(line)) return undefined
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Where a collector keeps the printed line: Docker's json-file, journalctl -o json, Google Cloud. */
const FIELDS = ['log', 'MESSAGE', 'textPayload'] as const
/** Fluent Bit, Vector, Promtail and CloudWatch keep it in a field that loggers have too; beside it is where it came from. */
const SHARED_FIELDS = ['message', 'line', 'msg'] as const
const FROM = ['kubernetes', 'container_name', 'container_id', 'source_type', 'logStreamName', 'logStream', 'ingestionTime', 'stream', 'docker'] as const

/** The line that a program printed, out of the object in which it was kept. One that holds several lines stays as it is: the reader of ends unfolds it. */
function printedLine(line: string): string | undefined {
  const value = parsed(line)
  if (value === undefined) return undefined
  const shared = FROM.some((key) => key in value) ? SHARED_FIELDS : []
  const text = [...FIELDS, ...shared].map((key) => value[key]).find((found) => typeof found === 'string')
  if (text === undefined) return undefined
  const printed = text.replace(/\r?\n$/, '')
  return printed.includes('\n') ? line : printed
}

/** Of so many lines most must be objects. */
const SHARE = 0.7
export function jsonLines(sample: readonly string[]): Unwrap | undefined {
  const said = sample.filter((line) => line.trim() !== '')
  if (said.length === 0 || !said.some((line) => line.trimStart().startsWith('{'))) return undefined
  return said.filter((line) => printedLine(line) !== undefined).length >= SHARE * said.length ? printedLine : undefined
}

const STRING = /^\s*"((?:[^"\\]|\\.)*)",?\s*$/
const OPENS = /^\s*"(\w[\w/+.-]*)": \[\s*$/
/** What a notebook keeps as lists of lines besides what was printed. */
const NOT_PRINTED = new Set(['source', 'image/png', 'text/html', 'application/javascript'])

/** A notebook with a string a line, as Jupyter writes it: what its cells printed stays in its lines, all else is blank. */
export function notebookLines(sample: readonly string[]): Unwrap | undefined {
  const head = sample.slice(0, 400).join('\n')
  if (!/^\s*\{/.test(head) || !head.includes('"cell_type":')) return undefined
  let list: string | undefined
  return (line) => {
    const opened = OPENS.exec(line)?.[1]
    if (opened !== undefined) {
      list = opened
      return ''
    }
    if (/^\s*\],?\s*$/.test(line)) list = undefined
    const text = list === undefined || NOT_PRINTED.has(list) ? undefined : STRING.exec(line)?.[1]
    if (text === undefined) return ''
    try {
      const value: unknown = JSON.parse(`"${text}"`)
      return typeof value === 'string' ? value.replace(/\n$/, '') : ''
    } catch {
      return ''
    }
  }
}

/** The outputs of a notebook in one line, as Kaggle and nbconvert write it. */
export function packedNotebook(text: string): readonly string[] | undefined {
  if (!text.includes('"cell_type"')) return undefined
  const value = parsed(text.trim())
  if (value === undefined || !Array.isArray(value['cells'])) return undefined
  const printed: string[] = []
  const take = (found: unknown): void => {
    const joined = Array.isArray(found) ? found.filter((part) => typeof part === 'string') : typeof found === 'string' ? [found] : []
    for (const part of joined) printed.push(...part.replace(/\n$/, '').split('\n'))
  }
  for (const cell of value['cells']) {
    if (!isObject(cell) || !Array.isArray(cell['outputs'])) continue
    for (const output of cell['outputs']) {
      if (!isObject(output)) continue
      take(output['text'])
      take(output['traceback'])
      if (isObject(output['data'])) take(output['data']['text/plain'])
    }
  }
  return printed
}
