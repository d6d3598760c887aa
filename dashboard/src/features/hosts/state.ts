// The rows of all hosts, asked for each second while the view is open.
import { signal } from '@preact/signals'
import type { HostEntry } from '../../../../agent/model/hosts.ts'
import { getJson, storedToken } from '../../parts/connection/api.ts'
import { framesUnused } from '../../parts/live/state.ts'
import { parseEntries } from './entries.ts'

export type Known =
  { readonly state: 'asking' } | { readonly state: 'failed'; readonly why: string } | { readonly state: 'known'; readonly entries: readonly HostEntry[] }
export const known = signal<Known>({ state: 'asking' })

const EVERY_MS = 1_000

/** Returns what ends it. */
export function watchHosts(): () => void {
  let over = false
  let timer: ReturnType<typeof setTimeout> | undefined
  const ask = async (): Promise<void> => {
    try {
      const entries = parseEntries(await getJson('api/v1/hosts', storedToken()))
      if (!over) known.value = { state: 'known', entries }
    } catch (error) {
      if (!over) known.value = { state: 'failed', why: error instanceof Error ? error.message : String(error) }
    }
    if (!over) timer = setTimeout(() => void ask(), EVERY_MS)
  }
  framesUnused.value = true
  void ask()
  return () => {
    framesUnused.value = false
    over = true
    clearTimeout(timer)
  }
}
