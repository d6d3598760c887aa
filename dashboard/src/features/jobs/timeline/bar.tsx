// One hold of a card: a band for as long as it lasted, in it an area as high as the share of the card.
import { mix, PALETTES } from '../../../parts/chart/palette.ts'
import { theme } from '../../../parts/theme.ts'
import { colourOf, fullTitle, jobHref } from '../name.tsx'
import { areaPath, type Span } from './spans.ts'

type Props = {
  readonly span: Span
  readonly total: number | undefined
  readonly left: string
  readonly width: string
  /** Where the pointer is, and at which share of the bar. */
  readonly onPoint: (x: number, y: number, share: number) => void
  readonly onLeave: () => void
}

export function Bar({ span, total, left, width, onPoint, onLeave }: Props) {
  const { surface } = PALETTES[theme.value]
  const colour = colourOf(span.job)
  return (
    <a
      class="timeline-bar"
      data-job={span.job.key}
      href={jobHref(span.job.key)}
      // A narrow bar shows its name in part or not at all.
      aria-label={fullTitle(span.job)}
      tabIndex={-1}
      style={{ left, width, '--band': mix(colour, surface, 0.2), '--area': mix(colour, surface, 0.5), '--edge': colour }}
      onPointerMove={(event) => {
        const box = event.currentTarget.getBoundingClientRect()
        onPoint(event.clientX, box.bottom, Math.min(1, Math.max(0, (event.clientX - box.left) / Math.max(1, box.width))))
      }}
      onPointerLeave={onLeave}
    >
      <svg viewBox="0 0 1000 100" preserveAspectRatio="none">
        <path d={areaPath(span, total)} />
      </svg>
      <span>{fullTitle(span.job)}</span>
    </a>
  )
}
