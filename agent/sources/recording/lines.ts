// Splits a stream of text into lines, of which none may be longer than a bound.

/** `tooLong` is told of each line that was passed over; the last line needs no newline. */
export async function* splitLines(chunks: AsyncIterable<string>, maxChars: number, tooLong: () => void): AsyncIterable<readonly string[]> {
  let rest = ''
  let skipping = false
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    if (skipping && lines.length > 0) {
      lines.shift()
      skipping = false
    }
    const whole = lines.every((line) => line.length <= maxChars) ? lines : lines.filter((line) => line.length <= maxChars || (tooLong(), false))
    if (skipping) rest = ''
    else if (rest.length > maxChars) {
      tooLong()
      skipping = true
      rest = ''
    }
    if (whole.length > 0) yield whole
  }
  if (rest !== '' && !skipping) yield [rest]
}
