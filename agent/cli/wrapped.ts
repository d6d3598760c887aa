// Sentences on lines of a terminal.

/** Words onto lines of `width`, each behind `indent`; a word that is longer is alone. */
export function wrapped(text: string, width: number, indent = ''): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/\s+/)) {
    if (line !== '' && line.length + 1 + word.length > width - indent.length) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].map((one) => indent + one).join('\n')
}

/** A line as it is, spaces and all; what does not fit goes on behind `hang`. Without `columns`, of a terminal, nothing changes: who reads a pipe wants whole lines. */
export function hanging(text: string, columns: number | undefined, hang: string): string {
  if (columns === undefined || columns <= hang.length * 2) return text
  const lines: string[] = []
  let rest = text
  while (rest.length > columns) {
    const begun = lines.length === 0 ? 0 : hang.length
    const space = rest.lastIndexOf(' ', columns)
    // A word that fills the line is cut by the terminal, as it can be copied whole then.
    const at = space > Math.max(begun, rest.search(/\S/)) ? space : rest.indexOf(' ', columns)
    if (at < 0) break
    lines.push(rest.slice(0, at))
    rest = hang + rest.slice(at).trimStart()
  }
  return [...lines, rest].join('\n')
}
