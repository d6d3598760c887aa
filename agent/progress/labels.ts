// A number before a colon at the head of a line: the task of `srun --label`, which comes again, or a counter (`300:  learn: 0.51`), which rises and may start over for the next model.

const MAX_LABELS = 256
/** Tasks are numbered from 0 without gaps and write in no order: so many in a row that rise are a counter, and fewer where they rise by the same gap. */
const [IN_A_ROW, WITH_GAPS] = [9, 3]

export type Label = 'new' | 'rank' | 'counter'

/** What the number is, by those before it. Decided where one comes again for the first time. */
export function createLabels(): (number: number) => Label {
  const seen = new Set<number>()
  let last: number | undefined
  let gap: number | undefined
  let rises = true
  let even = true
  let counts: boolean | undefined
  return (number) => {
    if (counts === true) return 'counter'
    if (seen.has(number)) {
      counts ??= rises && (seen.size >= IN_A_ROW || (seen.size >= WITH_GAPS && even && (gap ?? 0) > 1))
      return counts ? 'counter' : 'rank'
    }
    if (seen.size >= MAX_LABELS) return 'counter'
    if (last !== undefined) {
      rises &&= number > last
      even &&= gap === undefined || number - last === gap
      gap ??= number - last
    }
    last = number
    seen.add(number)
    return 'new'
  }
}
