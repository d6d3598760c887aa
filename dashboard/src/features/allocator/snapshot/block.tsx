// The block that is looked at: what it is, how large, where, and who allocated it.
import { lookedAt, pickedBlock, place, report } from './state.ts'
import { segmentOf } from './packed.ts'
import { freeText, poolName, STATE_WORDS } from '../../../text/allocator.ts'
import { memory } from '../../../text/format.ts'

const exact = new Intl.NumberFormat('en-GB')

export function BlockDetail() {
  const block = lookedAt.value
  const packed = report.value?.packed
  if (packed === undefined) return null
  if (block === undefined)
    return (
      <div class="block-detail">
        <h3 id="block-title">Block</h3>
        <p class="sub">Point at a block, or focus the map and use the arrow keys.</p>
      </div>
    )
  const segment = segmentOf(packed, block)
  const [bytes = 0, state = 0, asked = NaN, returned = 0, offset = 0] = [
    packed.size[block],
    packed.state[block],
    packed.requested[block],
    packed.returned[block],
    packed.offset[block],
  ]
  const pool = packed.pools[packed.pool[segment] ?? 0]
  const known = place.value?.block === block ? place.value.place : undefined
  const rows: readonly (readonly [string, string])[] = [
    ['Size', `${exact.format(bytes)} bytes`],
    ...(Number.isNaN(asked) || state === 2 ? [] : ([['Asked for', asked === bytes ? 'the same' : `${exact.format(asked)} bytes`]] as const)),
    ['Segment', `${memory(packed.bytes[segment])}${packed.addresses[segment] === '' ? '' : ` at ${packed.addresses[segment] ?? ''}`}`],
    ['Begins', offset === 0 ? 'at its start' : `${memory(offset)} behind its start`],
    ...(pool === undefined ? [] : ([['Pool', poolName(pool)]] as const)),
  ]
  return (
    // Read out for who walks with the keyboard; under a pointer it would never stop.
    <div class="block-detail" aria-live={pickedBlock.value === block ? 'polite' : 'off'}>
      <h3 id="block-title">
        {memory(bytes)} <span class="sub">{state === 2 ? freeText(bytes, returned) : STATE_WORDS[state]}</span>
      </h3>
      {known !== undefined && state !== 2 && (
        <div class="block-place">
          <p>
            <b>{known.text}</b>
          </p>
          {known.callers.length > 0 && (
            <ol>
              {known.callers.map((caller, i) => (
                <li key={i}>{caller}</li>
              ))}
            </ol>
          )}
        </div>
      )}
      <dl class="fact-list">
        {rows.map(([name, value]) => (
          <div key={name} class={value.length > 28 ? 'long' : undefined}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  )
}
