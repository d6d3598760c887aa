// Above the charts: how far back they reach, the second that is looked at, and what their tones and textures mean.
import { agentNow, hovered } from '../state/app.ts'
import { asking, charted } from '../state/charted.ts'
import { since, timeWithSeconds } from '../text/format.ts'
import { RangePicker } from './range-picker.tsx'

/** Without the pointer on a chart: whether the past is there. */
function Moment() {
  const second = hovered.value
  if (second !== undefined) {
    const ms = second * 1000
    return (
      <span class="chart-moment">{charted.value.timeline.step > 1 ? `means around ${since(ms, agentNow.peek())}` : `figures of ${timeWithSeconds(ms)}`}</span>
    )
  }
  if (asking.value === 'failed') return <span class="chart-moment bad">the past could not be fetched</span>
  return <span class="chart-moment">{asking.value === 'yes' ? 'fetching the past …' : ''}</span>
}

export function ChartBar({ probed }: { readonly probed: boolean }) {
  const coarse = charted.value.timeline.step > 1
  return (
    <div class="chart-bar">
      <RangePicker />
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
        <li title={coarse ? 'The highest of each step; areas show its mean' : 'Highest of the last 60 s, sampled ten times a second'}>
          <span class="tone peak" /> peak
        </li>
      </ul>
    </div>
  )
}
