// A figure with its unit set smaller.
import type { Figure as FigureText } from '../text/format.ts'

export function Figure({ figure, name }: { readonly figure: FigureText; readonly name?: string }) {
  return (
    <span class="figure" data-figure={name}>
      {figure.value}
      {figure.unit !== '' && <span class="unit">{`\u202f${figure.unit}`}</span>}
    </span>
  )
}
