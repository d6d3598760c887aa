// The largest allocation sites: the legend of the map's colours; a click dims all others.
import { shareText } from '../../../../../agent/text/figures.ts'
import { PALETTES } from '../../../parts/chart/palette.ts'
import type { DeviceAnalysis } from './messages.ts'
import { report, site } from './state.ts'
import { setParams } from '../../../parts/route.ts'
import { theme } from '../../../parts/theme.ts'
import { memory } from '../../../text/format.ts'

export function SiteList({ of }: { readonly of: DeviceAnalysis }) {
  const { top, others, recorded_bytes: recorded } = of.live
  const names = report.value?.siteNames[of.device] ?? []
  if (of.allocated_bytes === 0) return null
  if (recorded === 0)
    return (
      <div class="site-list">
        <h3>Who allocated</h3>
        <p class="sub">No block says where it came from: history was not recorded.</p>
      </div>
    )
  return (
    <div class="site-list">
      <h3>Who allocated</h3>
      <ul>
        {top.map((one, rank) => {
          const on = site.value === rank
          const { containers, host } = PALETTES[theme.value]
          const named = one.frames.length > 0
          return (
            <li key={rank}>
              <button type="button" aria-pressed={on} disabled={!named} onClick={() => setParams({ site: on ? undefined : String(rank) })}>
                <span class="swatch" style={{ '--swatch': named ? containers[rank % containers.length] : host }} />
                <span class="site-name">{names[rank]}</span>
                <span class="site-bytes">
                  {memory(one.bytes)} <span class="of">{shareText(one.bytes, of.allocated_bytes)}</span>
                </span>
                <span class="site-blocks">{one.blocks === 1 ? 'one block' : `${one.blocks} blocks, the largest ${memory(one.largest_bytes)}`}</span>
              </button>
            </li>
          )
        })}
        {others.sites > 0 && (
          <li class="site-others">
            <span class="swatch" style={{ '--swatch': PALETTES[theme.value].host }} />
            <span class="site-name">{others.sites === 1 ? 'one other place' : `${others.sites} other places`}</span>
            <span class="site-bytes">
              {memory(others.bytes)} <span class="of">{shareText(others.bytes, of.allocated_bytes)}</span>
            </span>
          </li>
        )}
      </ul>
    </div>
  )
}
