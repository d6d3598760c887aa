// Who holds how much of a GPU, each in the colour of the chart, with what its PyTorch keeps.
import { layerColour } from '../charts/memory-chart.ts'
import { PALETTES } from '../charts/palette.ts'
import { colours } from '../state/app.ts'
import type { Share } from '../state/shares.ts'
import { theme } from '../state/theme.ts'
import { gib, memory } from '../text/format.ts'

type Props = { readonly shares: readonly Share[]; readonly most: number; readonly index: number; readonly nothing: string }

/** Less than this is not worth a word on a card. */
const WORTH_BYTES = 0.05 * 2 ** 30

function Kept({ kept }: { readonly kept: Share['kept'] }) {
  if (kept === undefined || kept.cache + kept.stranded < WORTH_BYTES) return null
  const parts = [
    [kept.cache, 'cache'],
    [kept.stranded, 'stranded'],
  ] as const
  return (
    <span class="share-kept">
      {parts.map(
        ([bytes, tone]) =>
          bytes >= WORTH_BYTES && (
            <span key={tone} title={`${memory(bytes)} ${tone === 'cache' ? 'of warm cache: can be given back' : 'stranded between live blocks'}`}>
              <span class={`tone ${tone}`} aria-hidden="true" />
              <span class="spoken">{tone} </span>
              {gib(bytes)}
            </span>
          ),
      )}
    </span>
  )
}

export function ShareList({ shares, most, index, nothing }: Props) {
  const palette = PALETTES[theme.value]
  const shown = shares.length > most ? shares.slice(0, most - 1) : shares
  const others = shares.slice(shown.length)
  return (
    <ul class="shares" aria-label={`Who holds memory of GPU ${index}`}>
      {shown.map(({ layer, bytes, kept }) => (
        <li key={layer.key} style={{ '--swatch': layerColour(layer, palette, colours.slot) }}>
          <span class={`swatch ${layer.kind}`} />
          <span class="share-name" title={layer.key}>
            {layer.key}
          </span>
          <Kept kept={kept} />
          <span class="share-bytes">{memory(bytes)}</span>
        </li>
      ))}
      {others.length > 0 && (
        <li>
          <span class="swatch none" />
          <span class="share-name">{`${others.length} more`}</span>
          <span class="share-bytes">{memory(others.reduce((sum, share) => sum + share.bytes, 0))}</span>
        </li>
      )}
      {shares.length === 0 && <li class="nobody">{nothing}</li>}
    </ul>
  )
}
