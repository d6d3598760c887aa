// Logs that were pasted into a text with blanks or tabs before each line, as Markdown asks for code.

const INDENT = /^[ \t]*/
const indentOf = (line: string): string => INDENT.exec(line)?.[0] ?? ''
const isBlank = (line: string): boolean => line.trim() === ''
const common = (a: string, b: string): string => {
  let length = 0
  while (length < a.length && a[length] === b[length]) length += 1
  return a.slice(0, length)
}

/** Markdown: four blanks or a tab after a blank line make code. */
const isCode = (indent: string): boolean => indent.startsWith('    ') || indent.startsWith('\t')

/** The lines without what all of a block have in common: of the whole text, else of each block of code. */
export function withoutIndent(lines: readonly string[]): readonly string[] {
  const said = lines.filter((line) => !isBlank(line))
  const [first] = said
  if (first === undefined) return lines
  const whole = said.reduce((indent, line) => common(indent, indentOf(line)), indentOf(first))
  if (whole !== '') return lines.map((line) => line.slice(Math.min(whole.length, indentOf(line).length)))
  if (!lines.some((line, at) => isCode(line) && (at === 0 || isBlank(lines[at - 1] ?? '')))) return lines
  return withoutBlocks(lines)
}

function withoutBlocks(lines: readonly string[]): readonly string[] {
  const plain = [...lines]
  for (let at = 0; at < lines.length; at += 1) {
    if (!isCode(lines[at] ?? '') || (at > 0 && !isBlank(lines[at - 1] ?? ''))) continue
    let end = at
    let indent = indentOf(lines[at] ?? '')
    for (let next = at; next < lines.length; next += 1) {
      const line = lines[next] ?? ''
      if (isBlank(line)) continue
      if (!isCode(line)) break
      indent = common(indent, indentOf(line))
      end = next
    }
    // Code ends with a blank line; else these are the inner lines of something else.
    if (end + 1 >= lines.length || isBlank(lines[end + 1] ?? ''))
      for (let line = at; line <= end; line += 1) plain[line] = (lines[line] ?? '').slice(indent.length)
    at = end
  }
  return plain
}
