// The YAML library needs exponential time for what is nested deeply without an end (`{{{{…`, `? ? ? …`), before it says that it is wrong. No ordinary file
// goes deeper than ten levels, so such a text is refused before it is parsed.

const MOST_LEVELS = 200
const MOST_KEYS_IN_A_ROW = /(?:\?\s+){50}/

/** What is wrong with a text that must not reach the parser, and its line (from 1); undefined: it may. */
export function deepYaml(text: string): { readonly problem: string; readonly line: number } | undefined {
  const lineOf = (offset: number): number => text.slice(0, offset).split('\n').length
  let level = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x7b /* { */ || code === 0x5b /* [ */) level++
    else if ((code === 0x7d /* } */ || code === 0x5d) /* ] */ && level > 0) level--
    if (level > MOST_LEVELS) return { problem: `more than ${MOST_LEVELS} levels of { and [`, line: lineOf(at) }
  }
  const keys = MOST_KEYS_IN_A_ROW.exec(text)
  return keys === null ? undefined : { problem: '50 times "?" in a row without a key', line: lineOf(keys.index) }
}
