// Above the charts: which time they show, and what their tones and textures mean.
import { since } from '../../../../agent/text/time.ts'
import { agentNow, drawing, stale, views } from '../live/state.ts'
import { asking, charted } from './charted.ts'
import { LANE } from '../live/lanes.ts'
import { ChartControls, RangePicker } from './picker.tsx'

/** Where what is known begins well within the range, as of an agent that is young: the emptiness before it is no idleness. */
function recordedSince(): number | undefined {
  void drawing.value
  const { timeline, range } = charted.value
  const begins = (views.value ?? []).flatMap(({ uuid }) => timeline.oldest(LANE.used(uuid)) ?? [])
  const first = Math.min(...begins)
  return begins.length > 0 && first > timeline.end() - range.seconds * 0.9 ? first : undefined
}

/** Whether the past is there. */
function Moment() {
  if (asking.value === 'failed') return <span class="chart-moment bad">the past could not be fetched</span>
  const begin = recordedSince()
  return (
    <span class="chart-moment">
      {asking.value === 'yes' ? 'fetching the past …' : begin === undefined ? '' : `recorded since ${since(begin * 1000, agentNow.peek())}`}
    </span>
  )
}

export function ChartBar({ probed }: { readonly probed: boolean }) {
  const coarse = charted.value.timeline.step > 1
  return (
    <div class="chart-bar">
      <RangePicker />
      <ChartControls />
      <div class="chart-legend">
        <Moment />
        <ul class="tones" aria-label="What the tones of the memory mean">
          <li>
            <span class="tone used" /> in use
          </li>
          {probed && (
            <>
              <li title="Kept by PyTorch for the next request, not in use: it can be given back">
                <span class="tone cache" /> warm cache
              </li>
              <li title="Free pieces between live blocks: PyTorch cannot give them back">
                <span class="tone stranded" /> stranded
              </li>
            </>
          )}
          <li title="Used, but by no process that the driver lists">
            <span class="tone unattributed" /> unattributed
          </li>
          {/* While nothing comes its stroke is not drawn either. */}
          {(coarse || !stale.value) && (
            <li title={coarse ? 'The highest of each step; areas show its mean' : 'Highest of the last 60 s, sampled ten times a second'}>
              <span class="tone peak" /> {coarse ? 'peak' : 'peak 60 s'}
            </li>
          )}
        </ul>
      </div>
    </div>
  )
}
