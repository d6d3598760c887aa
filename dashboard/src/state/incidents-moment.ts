// The second that a reader of the evidence looks at: under the pointer, else as the address says (`at`, seconds beside the fault), else the last one before the fault: the fault's own reading mostly shows what is left.
import { computed, signal } from '@preact/signals'
import { route, setParams } from './route.ts'
import type { Window } from './incidents-lines.ts'

export const pointed = signal<number | undefined>(undefined)
/** The last reading before it: what led to the fault, not what is left after it. */
const JUST_BEFORE_S = -1
const pinned = computed(() => {
  const text = route.value.params.get('at')
  return text !== undefined && /^-?\d{1,4}$/.test(text) ? Number(text) : JUST_BEFORE_S
})

export function momentOf(fault: number, { from, to }: Window): number {
  return pointed.value ?? Math.min(to, Math.max(from, fault + pinned.value))
}
export function pin(second: number, fault: number): void {
  setParams({ at: second - fault === JUST_BEFORE_S ? undefined : String(second - fault) })
}
export function unpin(): void {
  setParams({ at: undefined })
}
