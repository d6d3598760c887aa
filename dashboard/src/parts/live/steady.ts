// A list that is made again with every frame and is another one only when its members are, so that what draws it can rest.
import { computed, type ReadonlySignal } from '@preact/signals'

export function steadyList<T>(compute: () => readonly T[], keyOf: (member: T) => unknown = (member) => member): ReadonlySignal<readonly T[]> {
  let last: readonly T[] = []
  const same = (member: T, place: number): boolean => {
    const before = last[place]
    return before !== undefined && keyOf(before) === keyOf(member)
  }
  return computed(() => {
    const now = compute()
    if (now.length !== last.length || !now.every(same)) last = now
    return last
  })
}
