// Plurals, lists and capitals in English sentences.

/** The form that goes with the count: `plural(1, 'is', 'are')`. */
export const plural = (count: number, one: string, many = `${one}s`): string => (count === 1 ? one : many)
/** A count with its noun: `1 GPU`, `3 GPUs`, `2 entries`. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${plural(count, one, many)}`
/** `counted` with commas between thousands, for figures on the dashboard that may be large: `12,480 lines`. */
/** `174,800`. Not by toLocaleString, which loads the tables of a language for it. */
export const grouped = (count: number): string => String(count).replace(/^-?\d{4,}(?=\.|$)/, (digits) => digits.replace(/\B(?=(?:\d{3})+$)/g, ','))
export const countedLarge = (count: number, one: string, many = `${one}s`): string => `${grouped(count)} ${plural(count, one, many)}`
/** How often: `once`, `3 times`. */
export const timesText = (count: number): string => (count === 1 ? 'once' : `${count} times`)

const listWith =
  (word: string) =>
  (items: readonly string[]): string => {
    const last = items.at(-1) ?? ''
    return items.length < 2 ? last : `${items.slice(0, -1).join(', ')} ${word} ${last}`
  }
/** `a`, `a and b`, `a, b and c`; empty for an empty list. */
export const andList = listWith('and')
/** The same with `or`. */
export const orList = listWith('or')
/** The first `most`, and how many follow: `a, b, c` or `a, b, c and 4 more`. */
export const firstOf = (items: readonly string[], most: number): string =>
  `${items.slice(0, most).join(', ')}${items.length > most ? ` and ${items.length - most} more` : ''}`

/** Indices in rising order, three or more in a row as a range, each once: `['0–3', '6']`. Two in a row are written out; a range of two reads like more. */
export function indexRuns(indices: readonly number[]): readonly string[] {
  const runs: number[][] = []
  for (const index of [...new Set(indices)].sort((a, b) => a - b)) {
    const last = runs.at(-1)
    if (last?.at(-1) === index - 1) last.push(index)
    else runs.push([index])
  }
  return runs.flatMap((run) => (run.length < 3 ? run.map(String) : [`${run[0]}–${run.at(-1)}`]))
}
/** `0–3, 6`. */
export const indexRanges = (indices: readonly number[]): string => indexRuns(indices).join(', ')

export const upperFirst = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
