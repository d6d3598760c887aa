// Looking for words in what a row shows: all of them must be there, in any order and case. Pure.
export function wordsOf(query: string): readonly string[] {
  return query.toLowerCase().split(/\s+/).filter(Boolean)
}
export function hasWords(words: readonly string[], texts: readonly unknown[]): boolean {
  if (words.length === 0) return true
  const all = texts
    .filter((text) => text !== undefined)
    .map(String)
    .join('\n')
    .toLowerCase()
  return words.every((word) => all.includes(word))
}
