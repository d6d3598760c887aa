// Markdown around text from outside, which must not become markup.

/** Inline code around any text: a fence longer than the longest one inside. */
export function code(text: string): string {
  const flat = text.replace(/[\r\n]+/g, ' ')
  const fence = '`'.repeat(Math.max(0, ...[...flat.matchAll(/`+/g)].map(([run]) => run.length)) + 1)
  return fence.length > 1 || flat.startsWith('`') ? `${fence} ${flat} ${fence}` : `\`${flat}\``
}
export function block(text: string, language = ''): string {
  const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)))
  return `${fence}${language}\n${text}\n${fence}`
}
const cell = (text: string): string => text.replaceAll('|', '\\|').replace(/[\r\n]+/g, ' ')
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n')
/** Our own words, with names from outside in them. */
export const prose = (text: string): string => text.replace(/[\\`*_[\]<>#|]/g, (char) => `\\${char}`)
