// Lines that an editor, a pager or `cat -n` numbered.

const HEAD = /^ {0,8}(\d{1,7})(?: ?[:|])?(?=\s|$)|^(\d{1,7}):/
const LEAST = 2
/** Carriage returns of a bar part one numbered line into several. */
const SHARE = 0.8
/** Blanks behind a number, of which more are the line's own. */
const MOST_BLANKS = 2

/** The lines without their numbers, where each has the next one. */
export function withoutNumbers(lines: readonly string[]): readonly string[] {
  const said = lines.filter((line) => line.trim() !== '').length
  let next: number | undefined
  const bare = lines.map((line) => {
    const head = HEAD.exec(line)
    const number = Number(head?.[1] ?? head?.[2])
    if (head === null || (next !== undefined && number !== next)) return undefined
    next = number + 1
    return line.slice(head[0].length)
  })
  const numbered = bare.filter((line) => line !== undefined)
  if (numbered.length < Math.max(LEAST, SHARE * said)) return lines
  const blanks = numbered.filter((line) => line.trim() !== '').map((line) => (line.startsWith('\t') ? 1 : line.length - line.trimStart().length))
  const own = Math.min(MOST_BLANKS, ...blanks)
  return lines.map((line, at) => bare[at]?.slice(own) ?? line)
}
