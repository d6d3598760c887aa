// The nearest valid name to a mistyped one. By hand, as leven and fastest-levenshtein count two letters that changed places as two edits, and that is the
// most common slip: fifteen lines are not worth a package.

/** Edit distance where two neighbours that changed places count as one edit. */
export function editDistance(a: string, b: string): number {
  let before: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let best = Math.min((previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, (before[j - 2] ?? 0) + 1)
      row.push(best)
    }
    before = previous
    previous = row
  }
  return previous[b.length] ?? 0
}

/** A name that is longer is no slip of the fingers; what may come from anybody is not compared to its end. */
const LONGEST = 100

/** The candidate that is fewest edits away; the first of several. Undefined only when there is none. */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  let found: string | undefined
  let fewest = Infinity
  const wanted = name.slice(0, LONGEST).toLowerCase()
  for (const candidate of candidates) {
    const edits = editDistance(wanted, candidate.toLowerCase())
    if (edits < fewest) [found, fewest] = [candidate, edits]
  }
  return found
}

/** Two letters in a short word make another word; in a long one they are slips. */
const mayDiffer = (length: number): number => (length <= 3 ? 1 : Math.floor(length / 3))

/** The candidate that was meant: `nearest`, where it is so near that it was probably meant, or the only one that begins like it. */
export function near(name: string, candidates: Iterable<string>): string | undefined {
  const all = [...candidates]
  const wanted = name.slice(0, LONGEST).toLowerCase()
  const found = nearest(name, all)
  if (found !== undefined && editDistance(wanted, found.toLowerCase()) <= mayDiffer(Math.max(wanted.length, found.length))) return found
  const begun = wanted.length < 2 ? [] : all.filter((candidate) => candidate.toLowerCase().startsWith(wanted))
  return begun.length === 1 ? begun[0] : undefined
}
