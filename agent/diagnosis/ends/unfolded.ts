// A line that holds other lines: of a container engine's own file, a logger's JSON object with a traceback in one of its strings, or what a wide console padded and a copy glued.

const FOLDED = /^\{"log":"|^\{.{0,4000}?(?:Traceback \(most recent|\\n {1,8}File \\")/
const LONGEST = 65_536
/** `Traceback (most recent call last):        File "a.py", line 9, in <module>        main()        File …`: blanks for the ends of lines. */
const GLUED = /Traceback \(most recent call last\): {3,2000}File "[^"\n]{1,400}", line \d{1,7}, in /
const ENDS =
  /(?<! ) {3,2000}(?=File "[^"\n]{1,400}", line \d|[A-Za-z_][\w.]{0,100}(?:Error|Exception|Interrupt)(?:: |$))|(?<=", line \d{1,7}, in [^\s]{1,100}) {3,2000}(?! )/g

/** What a reader of ends takes instead of the line: the longest string with several lines, wherever the object has it. Mostly the line itself. */
export function unfolded(raw: string): readonly string[] {
  if (raw.length > LONGEST) return [raw]
  if (GLUED.test(raw)) return raw.split(ENDS).map((line) => (line.startsWith('File "') ? `  ${line.trimEnd()}` : line.trimEnd()))
  if (!FOLDED.test(raw)) return [raw]
  let text = ''
  try {
    JSON.parse(raw, (_, value: unknown) => {
      if (typeof value === 'string' && value.includes('\n') && value.length > text.length) text = value
      return value
    })
  } catch {
    return [raw]
  }
  return text === '' ? [raw] : text.trimEnd().split('\n')
}
