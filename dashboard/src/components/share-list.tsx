// Who holds how much of a GPU, each in the colour of the chart, with what its PyTorch keeps.
import { computed, useComputed, type ReadonlySignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { layerColour } from '../charts/memory-chart.ts'
import { PALETTES } from '../charts/palette.ts'
import type { Layer } from '../charts/stack.ts'
import { colours } from '../state/app.ts'
import type { Share } from '../state/shares.ts'
import { theme } from '../state/theme.ts'
import { gib, memory } from '../text/format.ts'
import { Live } from './figure.tsx'

type Props = {
  readonly shares: ReadonlySignal<readonly Share[]>
  readonly most: number
  readonly index: number
  /** Said where nobody holds any. */
  readonly nothing: () => string
}

/** Less than this is not worth a word on a card. */
const WORTH_BYTES = 0.05 * 2 ** 30

const TONES = ['cache', 'stranded'] as const
const worth = (bytes: number | undefined): bytes is number => bytes !== undefined && bytes >= WORTH_BYTES

function Kept({ of, tone }: { readonly of: ReadonlySignal<Share | undefined>; readonly tone: (typeof TONES)[number] }) {
  const bytes = (): number => of.value?.kept?.[tone] ?? 0
  const text = useComputed(() => gib(bytes()))
  const title = useComputed(() => `${memory(bytes())} ${tone === 'cache' ? 'of warm cache: can be given back' : 'stranded between live blocks'}`)
  return (
    <span title={title}>
      <span class={`tone ${tone}`} aria-hidden="true" />
      <span class="spoken">{tone} </span>
      {text}
    </span>
  )
}

type EntryProps = { readonly layer: Layer; readonly all: ReadonlySignal<ReadonlyMap<string, Share>> }

function Entry({ layer, all }: EntryProps) {
  const of = useComputed(() => all.value.get(layer.key))
  const kept = useComputed(() => TONES.filter((tone) => worth(of.value?.kept?.[tone])).join(' '))
  const tones = TONES.filter((tone) => kept.value.includes(tone))
  return (
    <li style={{ '--swatch': layerColour(layer, PALETTES[theme.value], colours.slot) }}>
      <span class={`swatch ${layer.kind}`} />
      <span class="share-name" title={layer.key}>
        {layer.key}
      </span>
      {tones.length > 0 && (
        <span class="share-kept">
          {tones.map((tone) => (
            <Kept key={tone} of={of} tone={tone} />
          ))}
        </span>
      )}
      <span class="share-bytes">
        <Live text={() => memory(of.value?.bytes)} />
      </span>
    </li>
  )
}

/** Who holds memory, in their order: another list only when that changes. */
function followOrder(shares: ReadonlySignal<readonly Share[]>): ReadonlySignal<readonly Layer[]> {
  let last: readonly Layer[] = []
  return computed(() => {
    const now = shares.value.map(({ layer }) => layer)
    if (now.length !== last.length || now.some((layer, i) => layer !== last[i])) last = now
    return last
  })
}

export function ShareList({ shares, most, index, nothing }: Props) {
  const all = useComputed(() => new Map(shares.value.map((share) => [share.layer.key, share])))
  const order = useMemo(() => followOrder(shares), [shares])
  const listed = order.value
  const shown = listed.length > most ? listed.slice(0, most - 1) : listed
  const others = listed.slice(shown.length)
  return (
    <ul class="shares" aria-label={`Who holds memory of GPU ${index}`}>
      {shown.map((layer) => (
        <Entry key={layer.key} layer={layer} all={all} />
      ))}
      {others.length > 0 && (
        <li>
          <span class="swatch none" />
          <span class="share-name">{`${others.length} more`}</span>
          <span class="share-bytes">
            <Live text={() => memory(others.reduce((sum, { key }) => sum + (all.value.get(key)?.bytes ?? 0), 0))} />
          </span>
        </li>
      )}
      {listed.length === 0 && (
        <li class="nobody">
          <Live text={nothing} />
        </li>
      )}
    </ul>
  )
}
