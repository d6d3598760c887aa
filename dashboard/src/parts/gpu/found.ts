// The filter of the overview, kept in the address: which cards and rows of the tables are left.
import { computed } from '@preact/signals'
import { containerKey } from '../../text/names.ts'
import { hasWords, wordsOf } from '../live/find.ts'
import type { GpuView } from '../live/gpu-view.ts'
import { frame } from '../live/state.ts'
import { steadyList } from '../live/steady.ts'
import { param } from '../route.ts'
import { cards } from './arranged.ts'

export const find = param('find')
export const words = computed(() => wordsOf(find.value ?? ''))

/** A GPU is found by its number and name, and by whoever is on it. */
function textsOf({ uuid, index, name }: GpuView): readonly unknown[] {
  const containers = (frame.value?.containers ?? []).filter((row) => row.gpu_memory_bytes?.[uuid] !== undefined)
  const processes = (frame.value?.processes ?? []).filter((row) => row.uuid === uuid)
  return [`GPU ${index}`, name, uuid, ...containers.map(containerKey), ...processes.flatMap(({ process, user, pid }) => [process, user, pid])]
}

export const foundCards = steadyList(() => (words.value.length === 0 ? cards.value : cards.value.filter((of) => hasWords(words.value, textsOf(of.value)))))
