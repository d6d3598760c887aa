// GPUs as small cards without charts: eight of them on two screens of a phone, sixteen and more on one of a desk.
import { useComputed } from '@preact/signals'
import { Live, LiveFigure, Meter } from '../../../parts/figure.tsx'
import { foundCards } from '../../../parts/gpu/found.ts'
import { frame } from '../../../parts/live/state.ts'
import { celsiusFigure, memory, memoryFigure, percentFigure, wattsFigure } from '../../../text/format.ts'
import { Card, type CardProps } from '../card.tsx'
import { holderParts, holdersOf } from './holders.ts'
import { styleDense } from './sheet.ts'

styleDense()

function Memory({ of }: CardProps) {
  const { memory_used_bytes: used, memory_total_bytes: total } = of.value.row
  return <Meter value={used} limit={total} label={`memory of GPU ${of.value.index}`} />
}

/** What the driver keeps for itself is this small. */
const OWN_BYTES = 64 * 2 ** 20
const nobody = (used: number | undefined): string => (used === undefined || used < OWN_BYTES ? 'no process holds memory' : `unattributed ${memory(used)}`)

function Held({ of }: CardProps) {
  const holders = useComputed(() => (frame.value === undefined ? [] : holdersOf(frame.value, of.value.uuid)))
  const parts = useComputed(() => {
    const { trouble, row } = of.value
    if (trouble !== undefined) return [trouble.detail ?? trouble.reason, '', '', ''] as const
    return holders.value.length === 0 ? ([nobody(row.memory_used_bytes), '', '', ''] as const) : holderParts(holders.value)
  })
  const whole = useComputed(() => parts.value.join(''))
  return (
    <p class="small-held" title={whole}>
      <span class="cut">
        <Live text={() => parts.value[0]} />
      </span>
      <Live text={() => parts.value[1]} />
      <span class="cut">
        <Live text={() => parts.value[2]} />
      </span>
      <Live text={() => parts.value[3]} />
    </p>
  )
}

function SmallCard({ of }: CardProps) {
  return (
    <Card of={of} kind="gpu small" Calm={Held}>
      <div class="gpu-body">
        <p class="small-figures">
          <span class="memory-used">
            <LiveFigure name="memory_used_bytes" figure={() => memoryFigure(of.value.row.memory_used_bytes)} />
            <span class="of">
              <Live text={() => (of.value.row.memory_total_bytes === undefined ? '' : ` of ${memory(of.value.row.memory_total_bytes)}`)} />
            </span>
          </span>
          <LiveFigure name="utilization_ratio" figure={() => percentFigure(of.value.row.utilization_ratio)} />
          <LiveFigure name="power_watts" figure={() => wattsFigure(of.value.row.power_watts)} />
          <LiveFigure name="temperature_celsius" figure={() => celsiusFigure(of.value.row.temperature_celsius)} />
        </p>
        <Memory of={of} />
      </div>
    </Card>
  )
}

export function CompactGpus() {
  return (
    <div class="small-gpus">
      {foundCards.value.map((of) => (
        <SmallCard key={of.peek().uuid} of={of} />
      ))}
    </div>
  )
}
