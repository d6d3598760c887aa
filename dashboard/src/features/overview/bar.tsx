// Above the GPUs: what is looked for, and how they stand.
import { useEffect } from 'preact/hooks'
import { find } from '../../parts/gpu/found.ts'
import { keepRearranging } from '../../parts/gpu/rearrange.ts'
import { setParams } from '../../parts/route.ts'
import { change, layout, LAYOUTS } from '../../parts/settings.ts'

const NAMES = { cards: 'Cards', compact: 'Compact', table: 'Table' } as const

export function OverviewBar() {
  useEffect(keepRearranging, [])
  return (
    <>
      <input
        type="search"
        class="find"
        aria-label="Filter GPUs, containers and processes"
        placeholder="Filter: GPU, container, user …  ( / )"
        autocomplete="off"
        spellcheck={false}
        value={find.value ?? ''}
        onInput={(event) => setParams({ find: event.currentTarget.value || undefined })}
      />
      <div class="range-picker" role="group" aria-label="Order of the GPUs">
        {LAYOUTS.filter((each) => each !== 'auto').map((each) => (
          <button key={each} type="button" aria-pressed={layout.value === each} onClick={() => change({ layout: each })}>
            {NAMES[each]}
          </button>
        ))}
      </div>
    </>
  )
}
