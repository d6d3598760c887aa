// Who holds how much of a GPU, each in the colour of the chart, with what its PyTorch keeps.
import { useComputed, type ReadonlySignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { layerColour } from './memory-chart.ts'
import { PALETTES } from '../chart/palette.ts'
import type { Layer } from './stack.ts'
import { colours, frame } from '../live/state.ts'
import type { GpuView } from '../live/gpu-view.ts'
import { outsideContainers } from '../live/owner.ts'
import type { Share } from './shares.ts'
import { jobKeyOf } from '../job/key.ts'
import { jobHref } from '../job/links.ts'
import { steadyList } from '../live/steady.ts'
import { theme } from '../theme.ts'
import { gib, memory } from '../../text/format.ts'
import { holderName } from '../../text/names.ts'
import { Live } from '../figure.tsx'

type Props = {
  readonly shares: ReadonlySignal<readonly Share[]>
  readonly most: number
  readonly of: ReadonlySignal<GpuView>
  /** Said where nobody holds any. */
  readonly nothing: () => string
}

/** Less than this is not worth a word on a card. */
const WORTH_BYTES = 0.05 * 2 ** 30
/** So much of the card stranded is why a request fails, and must be read without a legend. */
const SERIOUS_RATIO = 0.1

const TONES = ['cache', 'stranded'] as const
const KEPT = { cache: 'GiB of warm cache: can be given back', stranded: 'GiB stranded between live blocks' } as const
const worth = (bytes: number | undefined): bytes is number => bytes !== undefined && bytes >= WORTH_BYTES

type KeptProps = { readonly of: ReadonlySignal<Share | undefined>; readonly tone: (typeof TONES)[number]; readonly gpu: ReadonlySignal<GpuView> }

function Kept({ of, tone, gpu }: KeptProps) {
  const bytes = (): number => of.value?.kept?.[tone] ?? 0
  const text = useComputed(() => gib(bytes()))
  const serious = useComputed(() => tone === 'stranded' && bytes() >= SERIOUS_RATIO * (gpu.value.row.memory_total_bytes ?? Infinity))
  return (
    <span title={KEPT[tone]} class={serious.value ? 'serious' : undefined}>
      <span class={`tone ${tone}`} aria-hidden="true" />
      <span class={serious.value ? undefined : 'spoken'}>{tone} </span>
      {text}
    </span>
  )
}

type EntryProps = { readonly layer: Layer; readonly all: ReadonlySignal<ReadonlyMap<string, Share>>; readonly gpu: ReadonlySignal<GpuView> }

/** Whose processes they are is known of the present only; a container has its own row elsewhere. */
function titleOf({ kind, key }: Layer, uuid: string): string {
  const owners = outsideContainers(frame.value?.processes ?? [], uuid, kind === 'host' ? undefined : key).map(({ owner, bytes }) => `${owner} ${memory(bytes)}`)
  return owners.length === 0 ? key : `now: ${owners.join(', ')}`
}

function Entry({ layer, all, gpu }: EntryProps) {
  const of = useComputed(() => all.value.get(layer.key))
  const kept = useComputed(() => TONES.filter((tone) => worth(of.value?.kept?.[tone])).join(' '))
  const title = useComputed(() => titleOf(layer, gpu.value.uuid))
  const name = useComputed(() => holderName(layer.key, frame.value?.jobs))
  const tones = TONES.filter((tone) => kept.value.includes(tone))
  const job = layer.kind === 'container' && layer.members === undefined ? jobKeyOf(layer.key) : undefined
  return (
    <li style={{ '--swatch': layerColour(layer, PALETTES[theme.value], colours.slot) }}>
      <span class={`swatch ${layer.kind}`} />
      {job === undefined ? (
        <span class="share-name" title={title}>
          {name}
        </span>
      ) : (
        <a class="share-name" title={title} href={jobHref(job)}>
          {name}
        </a>
      )}
      {tones.length > 0 && (
        <span class="share-kept">
          {tones.map((tone) => (
            <Kept key={tone} of={of} tone={tone} gpu={gpu} />
          ))}
        </span>
      )}
      <span class="share-bytes">
        <Live text={() => memory(of.value?.bytes)} />
      </span>
    </li>
  )
}

export function ShareList({ shares, most, of, nothing }: Props) {
  const all = useComputed(() => new Map(shares.value.map((share) => [share.layer.key, share])))
  const index = useComputed(() => of.value.index)
  const order = useMemo(() => steadyList(() => shares.value.map(({ layer }) => layer)), [shares])
  const listed = order.value
  const shown = listed.length > most ? listed.slice(0, most - 1) : listed
  const others = listed.slice(shown.length)
  return (
    <ul class="shares" aria-label={`Who holds memory of GPU ${index.value}`}>
      {shown.map((layer) => (
        <Entry key={layer.key} layer={layer} all={all} gpu={of} />
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
