// A thin bar of a value against its limit.

type Props = { readonly value: number | undefined; readonly limit: number | undefined; readonly label: string }

/** From here on the bar warns: what is left no longer takes a usual burst. */
const HIGH_RATIO = 0.92

export function Meter({ value, limit, label }: Props) {
  if (value === undefined || limit === undefined || limit <= 0) return <span class="meter none" />
  const ratio = Math.min(1, Math.max(0, value / limit))
  return (
    <span
      class={ratio >= HIGH_RATIO ? 'meter high' : 'meter'}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(ratio * 100)}
    >
      <span style={{ width: `${(ratio * 100).toFixed(1)}%` }} />
    </span>
  )
}
