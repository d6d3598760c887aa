// What a GPU does in a word, and why a figure of it is missing.
import { type ReadonlySignal, useComputed } from '@preact/signals'
import type { GpuRow } from '../../../../agent/model/live.ts'
import { DASH } from '../../text/format.ts'
import { gapText } from '../../text/words.ts'
import { firingOn } from '../incident/known.ts'
import type { GpuView } from '../live/gpu-view.ts'
import { stale } from '../live/state.ts'

/** Why a figure is missing, for its tooltip. */
export function whyMissing({ row }: GpuView, measure: keyof GpuRow): string | undefined {
  if (row[measure] !== undefined) return undefined
  const gap = row.gaps?.find((found) => found.measure === measure)
  return gap === undefined ? undefined : `not read: ${gap.detail ?? gapText(gap.reason)}`
}

/** An older reading may be the last one before the next silence. */
const FRESH_S = 1.5
const AGAIN = 'answers again'

/** Its incident goes on for some time after a GPU answers again; calm beside it would contradict it. */
const answersAgain = ({ uuid, row }: GpuView): boolean => (row.sample_age_seconds ?? 0) < FRESH_S && firingOn(uuid).some(({ kind }) => kind === 'driver_hung')

function activity(view: GpuView): string {
  if (view.trouble !== undefined) return view.trouble.kind
  if (view.busy === undefined) return view.row.mig === undefined ? DASH : 'MIG'
  const word = view.busy ? 'busy' : 'idle'
  if (stale.value) return `was ${word}`
  return answersAgain(view) ? AGAIN : word
}

/** What it does in a word, and its performance state. */
export function Activity({ of }: { readonly of: ReadonlySignal<GpuView> }) {
  const trouble = useComputed(() => of.value.trouble?.kind)
  const word = useComputed(() => activity(of.value))
  const why = useComputed(() => (of.value.busy === undefined ? whyMissing(of.value, 'utilization_ratio') : undefined))
  const state = useComputed(() => of.value.row.performance_state)
  const tone = trouble.value !== undefined ? 'trouble-mark' : word.value === AGAIN ? 'again' : word.value
  return (
    <>
      {state.value !== undefined && trouble.value === undefined && <span class="pstate" title="performance state">{`P${state.value}`}</span>}
      <span class={`activity ${tone}`} title={why.value}>
        {word.value}
      </span>
    </>
  )
}
