// The second that a reader of the evidence looks at: under the pointer, else as the address says (`at`, seconds beside the fault), else the fault's own.
import { computed, signal } from '@preact/signals'
import { route, setParams } from './route.ts'
import type { Window } from './incidents-lines.ts'

export const pointed = signal<number | undefined>(undefined)
const pinned = computed(() => {
  const text = route.value.params.get('at')
  return text !== undefined && /^-?\d{1,4}$/.test(text) ? Number(text) : 0
})

export function momentOf(fault: number, { from, to }: Window): number {
  return pointed.value ?? Math.min(to, Math.max(from, fault + pinned.value))
}
export function pin(second: number, fault: number): void {
  setParams({ at: second === fault ? undefined : String(second - fault) })
}
