// The map with what steers it: pool, zoom; and what it does not show.
import { mostZoom } from './layout.ts'
import { choice, report, segments, zoom } from '../state.ts'
import { setParams } from '../../../../parts/route.ts'
import { poolName } from '../../../../text/allocator.ts'
import { memory } from '../../../../text/format.ts'
import { SegmentMap } from './map.tsx'

function Zoom({ total }: { readonly total: number }) {
  const most = mostZoom(total)
  const now = Math.min(zoom.value, most)
  const to = (next: number): void => setParams({ zoom: next === 0 ? undefined : String(next) })
  return (
    <div class="zoom" role="group" aria-label="zoom">
      <button type="button" aria-label="zoom out" disabled={now === 0} onClick={() => to(now - 1)}>
        −
      </button>
      <output>{`${2 ** now}×`}</output>
      <button type="button" aria-label="zoom in" disabled={now >= most} onClick={() => to(now + 1)}>
        +
      </button>
      <button type="button" class="word" disabled={now === 0} onClick={() => to(0)}>
        all
      </button>
    </div>
  )
}

export function MapPanel() {
  const packed = report.value?.packed
  if (packed === undefined) return null
  const { device, pool } = choice.value
  const pools = packed.pools.map((one, index) => ({ one, index })).filter(({ one }) => one.device === device)
  const total = segments.value.reduce((sum, segment) => sum + (packed.bytes[segment] ?? 0), 0)
  const { leftOut } = packed
  return (
    <section class="map-panel" aria-labelledby="map-title">
      <div class="map-bar">
        <h3 id="map-title">Segments, to scale</h3>
        <label class="choice">
          <span class="spoken">Pool and stream</span>
          <select name="pool" value={pool ?? ''} onChange={(event) => setParams({ pool: event.currentTarget.value || undefined })}>
            <option value="">{pools.length === 1 ? 'the only pool' : `all ${pools.length} pools and streams`}</option>
            {pools.map(({ one, index }) => (
              <option key={index} value={index}>{`${poolName(one)} (${memory(one.bytes)})`}</option>
            ))}
          </select>
        </label>
        <Zoom total={total} />
      </div>
      <SegmentMap />
      {leftOut.segments > 0 && (
        <p class="sub">{`Not drawn: the ${leftOut.segments} smallest segments (${memory(leftOut.bytes)}); the figures above count them.`}</p>
      )}
    </section>
  )
}
