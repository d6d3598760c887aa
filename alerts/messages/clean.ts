// Takes out of text what nobody can see but what changes how it is read: control characters, terminal colours, text that runs backwards.

/** CSI and OSC sequences and the two-character ones (ECMA-48, 5.3 to 5.6); every quantifier is bounded. */
const ESCAPES = /\u001b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\u0007\u001b]{0,2000}(?:\u0007|\u001b\\)?|[@-Z\\^_])/g
/** Cc: control; Cf: among others the marks that turn text around and those without a width; line and paragraph separators become ends of lines before. */
const UNSEEN = /[\p{Cc}\p{Cf}]/gu

/** The same text as far as it can be seen, with `\n` as the only end of a line. */
export function clean(text: string): string {
  const lines = text
    .toWellFormed()
    .replace(ESCAPES, '')
    .replace(/\r\n?|[\u2028\u2029\u0085\v\f]/g, '\n')
    .replaceAll('\t', '  ')
    .split('\n')
  return lines.map((line) => line.replace(UNSEEN, '').trimEnd()).join('\n')
}

/** For names, headlines and prose: one line, single spaces. */
export const oneLine = (text: string): string => clean(text).replace(/\s+/g, ' ').trim()

/** At most `most` UTF-16 units, with a mark where something was left out; no character is cut in two. */
export function clip(text: string, most: number): string {
  if (text.length <= most) return text
  if (most <= 0) return ''
  return `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`
}
