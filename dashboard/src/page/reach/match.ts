// What the palette finds for the words typed into it: all words must be there; what begins with the first one stands first. Pure.
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

function rank({ label }: Entry, first: string): number {
  const name = label.toLowerCase()
  if (name.startsWith(first)) return 0
  return name.includes(first) ? 1 : 2
}

export function match(entries: readonly Entry[], query: string): readonly Entry[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  const [first] = words
  if (first === undefined) return entries.slice(0, MOST)
  const found = entries.filter(({ group, label, hint = '', words: more = '' }) => {
    const all = `${group}\n${label}\n${hint}\n${more}`.toLowerCase()
    return words.every((word) => all.includes(word))
  })
  return found.toSorted((a, b) => rank(a, first) - rank(b, first)).slice(0, MOST)
}
