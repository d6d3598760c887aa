// A figure with its unit set smaller, and a thin bar of a value against its limit.
import { type Figure as FigureText } from '../../../agent/text/bytes.ts'
import { useComputed } from '@preact/signals'

export function Figure({ figure, name }: { readonly figure: FigureText; readonly name?: string }) {
  return (
    <span class="figure" data-figure={name}>
      {figure.value}
      {figure.unit !== '' && <span class="unit">{`\u202f${figure.unit}`}</span>}
    </span>
  )
}

/** A figure that goes on by itself: its text changes, and nothing around it is drawn again. */
export function LiveFigure({ figure, name }: { readonly figure: () => FigureText; readonly name: string }) {
  const value = useComputed(() => figure().value)
  const unit = useComputed(() => figure().unit)
  return (
    <span class="figure" data-figure={name}>
      {value}
      {unit.value !== '' && <span class="unit">{`\u202f${unit.value}`}</span>}
    </span>
  )
}

/** A word or a figure that goes on by itself. */
export function Live({ text }: { readonly text: () => string }) {
  return <>{useComputed(text)}</>
}

type Props = { readonly value: number | undefined; readonly limit: number | undefined; readonly label: string }

/** From here on the bar warns: what is left no longer takes a usual burst. */
const HIGH_PERCENT = 92

/** As far as the bar reaches, in steps that can be seen; undefined where there is no bar. */
export function meterPercent(value: number | undefined, limit: number | undefined): number | undefined {
  if (value === undefined || limit === undefined || limit <= 0) return undefined
  return Math.round(100 * Math.min(1, Math.max(0, value / limit)))
}

/** Of a value against its limit. */
export function Meter({ value, limit, label }: Props) {
  const percent = meterPercent(value, limit)
  if (percent === undefined) return <span class="meter none" />
  return (
    <span
      class={percent >= HIGH_PERCENT ? 'meter high' : 'meter'}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
    >
      {/* Moved, not resized: the page need not be laid out again for it. */}
      <span style={{ transform: `scaleX(${percent / 100})` }} />
    </span>
  )
}
