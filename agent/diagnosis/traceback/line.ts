// One line of a log as the readers of ends take it: who wrote it, its text with its indentation, and whether a logger printed it.
import { splitPrefix } from '../../text/line-prefix.ts'

export type LogLevel = 'debug' | 'info' | 'warning' | 'error'

export type ReadLine = {
  readonly number: number
  readonly raw: string
  readonly writer: string
  readonly rank: number | undefined
  readonly pid: number | undefined
  /** Without colours and prefixes, but with its own indentation. */
  readonly text: string
  readonly level: LogLevel | undefined
  /** A logger's record begins here: date, level, glog. */
  readonly record: boolean
}

/** `[rank3]`, `default3:`, `[3]:`, `[1,3]<stderr>:`; other figures in brackets (a clock, `928s`) are none. */
const RANK = /(?:rank|RANK|Rank|default)\s?(\d{1,6})|[[,]\s?(\d{1,6})(?=[\]>:])/
const PID = /\bpid=(\d{1,10})/
/** ISO 8601 with `T`: a container engine or an agent stamps every line so, also those within a traceback. */
const TRANSPORT = /^\d{4}-\d\d-\d\dT[\d:.]{8,20}(?:Z|[+-]\d\d:?\d\d)\s?(?:(?:stdout|stderr) [FP] )?/
const LEVELS: readonly (readonly [RegExp, LogLevel])[] = [
  [/\b(?:ERROR|CRITICAL|FATAL|SEVERE|Error:)\b|^\[?[EF]\d{4} |^\[[EF] /, 'error'],
  [/\bWARN(?:ING)?\b|^\[?W\d{4} |^\[W /, 'warning'],
  [/\b(?:INFO|NOTICE|SUCCESS)\b|^\[?I\d{4} |\[I\b[ \]]|^\[I /, 'info'],
  [/\b(?:DEBUG|TRACE)\b|^\[D /, 'debug'],
]
const STARTS_LIKE_RECORD =
  /^(?:[[(]?\d{4}[-/]\d\d[-/]\d\d[T ,_]\d\d:\d\d|\[?\d\d:\d\d:\d\d[\].,]|\[?[IWEF]\d{4} \d\d:\d\d|\[[IWEFD] \d|\[\d\d\/\d\d[ /]|\d\d\/\d\d\/\d\d \d\d:\d\d:\d\d [A-Z]{4,5} |(?:DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL)\b[: \]])/
/** A line that a forum's text sets in bold as a whole. */
const BOLD = /^(\s*)\*\*(?=[^\s*])([^\n]*[^\s*])\*\*\s*$/
/** One that it begins in bold: an exception whose message ends it in this line or in a later one. */
const BOLD_START = /^(\s*)\*\*(?=(?:[a-z_][\w.]{0,100}\.)?[A-Z]\w{2,60}(?:Error|Exception|Interrupt|Exit)\b)([^\n]*)$/
const unbold = (text: string): string =>
  BOLD.test(text) ? text.replace(BOLD, '$1$2') : text.replace(BOLD_START, (_, indent: string, rest: string) => indent + rest.replace('**', ''))
/** Links that a notebook sets around numbers and names of files: VS Code and Colab. */
const LINK = /\[([^\]\n]{1,300})\]\((?:vscode-notebook-cell|file|https?):[^)\n]{0,600}\)/g
const ANCHOR = /<a href='[^'\n]{1,600}'>(\d{1,7})<\/a>/g
const unlinked = (text: string): string => (text.includes('](') ? text.replace(LINK, '$1') : text.includes("<a href='") ? text.replace(ANCHOR, '$1') : text)
const HEAD = 120

const numbered = (match: RegExpExecArray | null): number | undefined => {
  const digits = match?.[1] ?? match?.[2]
  return digits === undefined ? undefined : Number(digits)
}

export function readLine(raw: string, number: number): ReadLine {
  const line = raw.replace(TRANSPORT, '')
  const { writer, prefix, text } = splitPrefix(line)
  const bare = (prefix === '' ? text : `${prefix}${text}`).slice(writer === '' ? 0 : Math.max(0, prefix.indexOf(writer) + writer.length)).trimStart()
  const record = STARTS_LIKE_RECORD.test(bare)
  const head = bare.slice(0, HEAD)
  return {
    number,
    raw,
    writer,
    rank: writer === '' ? undefined : numbered(RANK.exec(writer)),
    pid: writer === '' ? undefined : numbered(PID.exec(writer)),
    text: unlinked(text.includes('**') ? unbold(text) : text),
    level: record ? LEVELS.find(([pattern]) => pattern.test(head))?.[1] : undefined,
    record,
  }
}
