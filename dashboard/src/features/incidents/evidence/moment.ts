// The second that a reader of the evidence looks at: under the pointer, else as the address says (`at`, seconds beside the fault), else where its course begins.
import { computed, signal } from '@preact/signals'
import { route, setParams } from '../../../parts/route.ts'
import type { Course } from './course.ts'

export const pointed = signal<number | undefined>(undefined)
const pinned = computed(() => {
  const text = route.value.params.get('at')
  return text !== undefined && /^-?\d{1,4}$/.test(text) ? Number(text) : undefined
})

export function momentOf({ fault, start, from, to }: Course): number {
  return pointed.value ?? (pinned.value === undefined ? start : Math.min(to, Math.max(from, fault + pinned.value)))
}
export function pin(second: number, { fault, start }: Course): void {
  setParams({ at: second === start ? undefined : String(second - fault) })
}
export function unpin(): void {
  setParams({ at: undefined })
}
