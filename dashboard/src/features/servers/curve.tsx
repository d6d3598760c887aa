// One measure of a server over the last hour as a small line; where nothing was read the line has a gap.
import type { Curve } from './past.ts'

const [WIDTH, HEIGHT] = [160, 36]

/** A path in pieces: what was not read is no line. */
export function pathOf({ t, values }: Curve, top: number): string {
  const [first = 0, last = 1] = [t[0], t.at(-1)]
  const span = Math.max(1, last - first)
  let pen = 'M'
  let path = ''
  for (const [at, value] of values.entries()) {
    if (value === null) {
      pen = 'M'
      continue
    }
    const x = (((t[at] ?? first) - first) / span) * WIDTH
    const y = HEIGHT - 1 - (Math.min(value, top) / top) * (HEIGHT - 2)
    path += `${pen}${x.toFixed(1)} ${y.toFixed(1)}`
    pen = 'L'
  }
  return path
}

type Props = { readonly label: string; readonly curve: Curve | undefined; readonly top?: number; readonly text: (value: number | undefined) => string }
export function Sparkline({ label, curve, top, text }: Props) {
  const read = (curve?.values ?? []).flatMap((value) => value ?? [])
  if (curve === undefined || read.length < 2) return null
  const highest = Math.max(...read)
  return (
    <figure class="server-curve">
      <figcaption>
        {label} <span class="of">{`1 h, at most ${text(highest)}`}</span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={`${label} over the last hour, at most ${text(highest)}`}>
        <path d={pathOf(curve, top ?? (highest > 0 ? highest : 1))} />
      </svg>
    </figure>
  )
}
