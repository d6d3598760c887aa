// What the allocator says now, in words: what is left, what is held and as what, what went wrong, how long it will last.
import { type Figure as FigureText } from '../../../../../agent/text/bytes.ts'
import { age } from '../../../../../agent/text/span.ts'
import type { ComponentChildren } from 'preact'
import { forecast } from './state.ts'
import { partsOf } from './lanes.ts'
import type { Probed } from './processes.ts'
import { agentNow } from '../../../parts/live/state.ts'
import { DASH, memoryFigure, percent } from '../../../text/format.ts'
import { Figure } from '../../../parts/figure.tsx'

type TileProps = { readonly id: string; readonly name: string; readonly figure: FigureText; readonly note: ComponentChildren; readonly wrong?: boolean }
function Tile({ id, name, figure, note, wrong = false }: TileProps) {
  return (
    <div class="tile" data-tile={id} data-wrong={wrong}>
      <dt>{name}</dt>
      <dd>
        <Figure figure={figure} name={id} />
        <span class="tile-note">{note}</span>
      </dd>
    </div>
  )
}

const count = (value: number | undefined): FigureText => ({ value: value === undefined ? DASH : String(value), unit: '' })
const share = (bytes: number | undefined, of: number | undefined): string =>
  bytes === undefined || of === undefined || of === 0 ? '' : `${percent(bytes / of)} of what is reserved`

/** From now: `3 to 8 min`; an end that is not known is left open. */
function Outlook() {
  const reported = forecast.value
  const now = agentNow.value
  if (reported === undefined)
    return <Tile id="forecast" name="Runs out" figure={{ value: DASH, unit: '' }} note="no forecast: its growth is too short or too uneven" />
  const { earliestMs, latestMs } = reported
  const left = (ms: number): string => age(Math.max(0, (ms - now) / 1000))
  const note = latestMs === undefined ? 'at the earliest, if it goes on' : `at the earliest; ${left(latestMs)} at the latest, if it goes on`
  return <Tile id="forecast" name="Runs out in" figure={{ value: earliestMs === undefined ? DASH : left(earliestMs), unit: '' }} note={note} wrong />
}

export function ProcessFigures({ of: { row } }: { readonly of: Probed }) {
  if (row === undefined) return null
  const { inUse, holes, cache, reserved, headroom } = partsOf(row)
  const { retries_total: retries, ooms_total: ooms, stranded_ratio: stranded } = row
  return (
    <dl class="tiles">
      <Tile id="headroom" name="Memory for one request" figure={memoryFigure(headroom)} note="the largest that can still be met, after a flush" />
      <Tile id="allocated" name="In use" figure={memoryFigure(inUse)} note={share(inUse, reserved)} />
      <Tile id="reserved" name="Reserved" figure={memoryFigure(reserved)} note="taken from CUDA, cache included" />
      <Tile
        id="cache"
        name="Cache"
        figure={memoryFigure(cache)}
        note={holes === undefined ? 'stranded pieces included: segments are expandable' : 'free; a flush gives it back'}
      />
      <Tile id="holes" name="Stranded" figure={memoryFigure(holes)} note="free pieces between live blocks (inactive split); no flush gives it back" />
      <Tile
        id="stranded"
        name="Lost at the last flush"
        figure={{ value: percent(stranded), unit: '' }}
        note={stranded === undefined ? 'no flush yet' : 'of what it may use; this much the flush could not give back'}
        wrong={(stranded ?? 0) >= 0.1}
      />
      <Tile id="retries" name="Retries" figure={count(retries)} note="flushes because a request did not fit" wrong={(retries ?? 0) > 0} />
      <Tile id="ooms" name="Out of memory" figure={count(ooms)} note="errors since it started" wrong={(ooms ?? 0) > 0} />
      <Outlook />
    </dl>
  )
}
