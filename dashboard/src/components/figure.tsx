// A figure with its unit set smaller.
import { useComputed } from '@preact/signals'
import { type Figure as FigureText } from '../../../agent/text/bytes.ts'

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
