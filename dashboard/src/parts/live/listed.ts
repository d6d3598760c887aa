// Containers and processes as the tables list them. They come with the tables: the cards need none of it.
import { computed } from '@preact/signals'
import { containerViews, processViews } from './rows.ts'
import { frame } from './state.ts'

export const containers = computed(() => (frame.value === undefined ? [] : containerViews(frame.value)))
export const processes = computed(() => (frame.value === undefined ? [] : processViews(frame.value.processes, frame.value.t)))
