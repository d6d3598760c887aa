// A line that holds other lines: of a container engine's own file, or a logger's JSON object with a traceback in one of its strings.

const FOLDED = /^\{"log":"|^\{.{0,4000}?(?:Traceback \(most recent|\\n {1,8}File \\")/
const LONGEST = 65_536

/** What a reader of ends takes instead of the line: the longest string with several lines, wherever the object has it. Mostly the line itself. */
export function unfolded(raw: string): readonly string[] {
  if (raw.length > LONGEST || !FOLDED.test(raw)) return [raw]
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
