// The record with which a logger of Go ends its program: zap, logrus, zerolog, as JSON, as fields or as they print it on a terminal.
const LEVEL = /^(?:fatal|panic|dpanic)$/i
const FIELDS = /\blevel=(?:fatal|panic) msg=(?:"(?<quoted>(?:[^"\\\n]|\\.){1,600})"|(?<word>\S{1,200}))/
const TERMINAL: readonly RegExp[] = [
  // logrus, with the seconds since the start
  /^(?:FATA|PANI)\[\d{1,8}\] (?<message>[^\n]{4,600})/,
  // zerolog, behind a time
  /^(?:\S{4,40} )?(?:FTL|PNC) (?:\S{1,80}:\d{1,6} > )?(?<message>[^\n]{4,600})/,
  // zap: between tabs, behind the name of the logger and the place
  /(?:^|\t)(?:FATAL|PANIC|DPANIC)\t(?:[\w./-]{1,80}\t){0,2}(?:\S{1,200}:\d{1,6}\t)?(?<message>[^\t\n]{4,600}(?:\t\{[^\n]{1,600}\})?)/,
]
/** Why, in a field of its own. */
const ERROR = /(?:\s|\{|,)"?(?:error|err)"?(?:=|: ?)(?:"(?<quoted>(?:[^"\\\n]|\\.){1,600})"|(?<word>[^\s"{}]{1,200}))/
const FIELDS_BEHIND = /(?: {2,}|\t| )(?:\w{1,40}=(?:"(?:[^"\\\n]|\\.){0,600}"|\S{0,200})\s{0,40}|\{[^\n]{1,600}\}\s{0,8}){1,20}$/
const MAY = /fatal|panic|FATA|PANI|FTL|PNC/i
const LONGEST = 4_000

const unquoted = (text: string): string => text.replace(/\\(["\\])/g, '$1')
const because = (message: string, error: string | undefined): string => (error === undefined || message.includes(error) ? message : `${message}: ${error}`)

function ofJson(text: string): string | undefined {
  try {
    const record: unknown = JSON.parse(text)
    if (typeof record !== 'object' || record === null) return undefined
    const fields = new Map(Object.entries(record))
    const [level, message, error] = [
      fields.get('level') ?? fields.get('severity'),
      fields.get('msg') ?? fields.get('message'),
      fields.get('error') ?? fields.get('err'),
    ]
    if (typeof level !== 'string' || !LEVEL.test(level) || typeof message !== 'string') return undefined
    return because(message, typeof error === 'string' ? error : undefined)
  } catch {
    return undefined
  }
}

/** What the program said last, and why; undefined where this is no such record. */
export function fatalRecord(text: string): string | undefined {
  if (text.length > LONGEST || !MAY.test(text)) return undefined
  if (text.startsWith('{')) return ofJson(text)
  const { quoted, word } = FIELDS.exec(text)?.groups ?? {}
  const said = quoted ?? word ?? TERMINAL.map((form) => form.exec(text)?.groups?.['message']).find((message) => message !== undefined)
  if (said === undefined) return undefined
  const error = ERROR.exec(text)?.groups
  return because(unquoted(said.replace(FIELDS_BEHIND, '')), error === undefined ? undefined : unquoted(error['quoted'] ?? error['word'] ?? ''))
}
