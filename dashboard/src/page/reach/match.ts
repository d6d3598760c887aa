// What the palette finds for the words typed into it: all words must be there; what is called so is first. Pure.
export type Entry = {
  readonly id: string
  readonly group: 'Page' | 'GPU' | 'Incident' | 'Job' | 'Process' | 'Server' | 'Command'
  readonly label: string
  /** Stands behind the label, smaller. */
  readonly hint?: string | undefined
  /** Further words that it is found by. */
  readonly words?: string | undefined
  readonly act: { readonly href: string } | (() => void)
}

const MOST = 60

/** What is called as it was typed, before what only tells of it: "gpu 3" is GPU 3, and not GPU 0 with HBM3. */
function rank({ label }: Entry, words: readonly string[]): number {
  const name = label.toLowerCase()
  if (name.startsWith(words.join(' '))) return 0
  if (words.every((word) => name.includes(word))) return 1
  const [first = ''] = words
  return name.startsWith(first) ? 2 : name.includes(first) ? 3 : 4
}

export function match(entries: readonly Entry[], query: string): readonly Entry[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return entries.slice(0, MOST)
  const found = entries.filter(({ group, label, hint = '', words: more = '' }) => {
    const all = `${group}\n${label}\n${hint}\n${more}`.toLowerCase()
    return words.every((word) => all.includes(word))
  })
  return found.toSorted((a, b) => rank(a, words) - rank(b, words)).slice(0, MOST)
}
