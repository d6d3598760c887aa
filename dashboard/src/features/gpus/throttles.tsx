// What slowed a GPU when: a lane for each reason that held in the range.
import { useMemo } from 'preact/hooks'
import { ChartBox } from '../../parts/chart/box.tsx'
import { cellRows, createColumnBook } from '../../parts/chart/columns.ts'
import { PALETTES } from '../../parts/chart/palette.ts'
import { drawing } from '../../parts/live/state.ts'
import { charted } from '../../parts/range/charted.ts'
import { theme } from '../../parts/theme.ts'
import { throttleWord } from '../../../../agent/text/throttle.ts'
import { createBandChart, LANE_HEIGHT } from './band-chart.ts'
import { measureLane } from './measures.ts'

const AXIS = 18
const HARMFUL = { dark: '#efb040', light: '#c98500' } as const

export function ThrottleLanes({ uuid }: { readonly uuid: string }) {
  const rows = useMemo(createColumnBook, [])
  void drawing.value
  const { timeline, range } = charted.value
  const prefix = measureLane(uuid, 'throttle_active.')
  const lanes = timeline.keys(prefix)
  const held = lanes
    // Idling is no throttling, though the driver lists it.
    .filter((lane) => lane !== `${prefix}gpu_idle` && timeline.values(lane)?.some((value) => value > 0) === true)
    .map((lane) => ({ lane, ...throttleWord(lane.slice(prefix.length)) }))
    .toSorted((a, b) => Number(b.harmful) - Number(a.harmful) || (a.text < b.text ? -1 : 1))
  const palette = PALETTES[theme.value]
  if (lanes.length === 0) return null
  return (
    <figure class="line-figure throttle-lanes" data-chart="throttling">
      <figcaption>
        <b>Throttling</b>
        {held.length === 0 && <span class="legend of">{`nothing in ${range.spoken}`}</span>}
      </figcaption>
      {held.length > 0 && (
        <div class="bands">
          <ul>
            {held.map(({ lane, text, harmful }) => (
              <li key={lane} class={harmful ? 'harmful' : ''}>
                {text}
              </li>
            ))}
          </ul>
          <ChartBox
            className="band-chart"
            height={held.length * LANE_HEIGHT + AXIS}
            label={`Throttling in ${range.spoken}: ${held.map(({ text }) => text).join(', ')}`}
            version={`${theme.value} ${range.id} ${held.map(({ lane }) => lane).join('\n')}`}
            create={(host, width, height) =>
              createBandChart(host, width, height, {
                palette,
                step: timeline.step,
                colours: held.map(({ harmful }) => (harmful ? HARMFUL[theme.peek()] : palette.axis)),
              })
            }
            data={() =>
              cellRows(
                timeline,
                held.map(({ lane }) => lane),
                rows,
              )
            }
          />
        </div>
      )}
    </figure>
  )
}
