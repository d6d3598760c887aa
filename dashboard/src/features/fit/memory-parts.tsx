// What one GPU has to hold: a bar of the likely parts, the range of the whole below it, and each part with its own range.
import type { FitEstimate, FitPartName } from '../../../../agent/model/fit.ts'
import { PALETTES, type Palette } from '../../parts/chart/palette.ts'
import { ticksOf } from './report.ts'
import { theme } from '../../parts/theme.ts'
import { gib, memory } from '../../text/format.ts'
import { PARTS } from '../../text/fit.ts'

/** Slots of the palette; a part has its colour in every answer. */
const SLOTS: Partial<Readonly<Record<FitPartName, number>>> = {
  weights: 0,
  optimizer: 1,
  gradients: 2,
  activations: 3,
  logits: 4,
  adapters: 5,
  kv_cache: 6,
  master_weights: 7,
}
const colourOf = (part: FitPartName, { containers, host, unattributed }: Palette): string =>
  containers[SLOTS[part] ?? -1] ?? (part === 'cuda_context' ? host : unattributed)

const across = (bytes: number, scale: number): string => `${((bytes / scale) * 100).toFixed(2)}%`

function PartsBar({ estimate: { parts, total } }: { readonly estimate: FitEstimate }) {
  const palette = PALETTES[theme.value]
  const scale = total.high_bytes * 1.02
  const { low_bytes: low, likely_bytes: likely, high_bytes: high } = total
  return (
    <div
      class="parts-bar"
      role="img"
      aria-label={`${memory(likely)} likely, from ${memory(low)} to ${memory(high)}: ${parts.map(({ part, likely_bytes: own }) => `${PARTS[part]} ${memory(own)}`).join(', ')}`}
    >
      <div class="parts-stack">
        {parts.map(({ part, likely_bytes: own }) => (
          <span
            key={part}
            class={part === 'allocator' ? 'loss' : undefined}
            title={`${PARTS[part]} ${memory(own)}`}
            style={{ width: across(own, scale), '--swatch': colourOf(part, palette) }}
          />
        ))}
      </div>
      <div class="parts-range">
        <span class="whisker" style={{ left: across(low, scale), width: across(high - low, scale) }} />
        <span class="likely" style={{ left: across(likely, scale) }} />
      </div>
      <div class="parts-axis">
        {ticksOf(scale, 6).map((tick) => (
          <span key={tick} style={{ left: across(tick, scale) }}>
            {gib(tick, tick > 0 && tick < 2 ** 30 ? 1 : 0)}
          </span>
        ))}
      </div>
    </div>
  )
}

export function FitParts({ estimate }: { readonly estimate: FitEstimate }) {
  const { parts, total, notes, unknown } = estimate
  const palette = PALETTES[theme.value]
  return (
    <section class="part" aria-labelledby="parts-title">
      <h3 id="parts-title">
        What one GPU has to hold <span class="count">GiB</span>
      </h3>
      <PartsBar estimate={estimate} />
      <table class="parts-table" role="table" aria-labelledby="parts-title">
        <thead role="rowgroup">
          <tr role="row">
            {['Part', 'Likely', 'From', 'To'].map((head, i) => (
              <th key={head} role="columnheader" scope="col" class={i === 0 ? undefined : 'numeric'}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {parts.map(({ part, note, likely_bytes: likely, low_bytes: low, high_bytes: high }) => (
            <tr key={part} role="row" data-part={part}>
              <td role="cell" class="col-part" data-label="Part">
                <span class="part-name">
                  <span class={part === 'allocator' ? 'swatch loss' : 'swatch'} style={{ '--swatch': colourOf(part, palette) }} />
                  <span>
                    {PARTS[part]}
                    {note !== undefined && <span class="sub">{note}</span>}
                  </span>
                </span>
              </td>
              <td role="cell" class="numeric likely-figure" data-label="Likely">
                {memory(likely)}
              </td>
              <td role="cell" class="numeric of" data-label="From">
                {memory(low)}
              </td>
              <td role="cell" class="numeric of" data-label="To">
                {memory(high)}
              </td>
            </tr>
          ))}
          <tr role="row" class="total" data-part="total">
            <td role="cell" class="col-part" data-label="Part">
              {unknown.length > 0 ? 'At the least' : 'All of it'}
            </td>
            <td role="cell" class="numeric likely-figure" data-label="Likely">
              {memory(total.likely_bytes)}
            </td>
            <td role="cell" class="numeric of" data-label="From">
              {memory(total.low_bytes)}
            </td>
            <td role="cell" class="numeric of" data-label="To">
              {memory(total.high_bytes)}
            </td>
          </tr>
        </tbody>
      </table>
      {unknown.length + notes.length > 0 && (
        <ul class="fit-notes">
          {unknown.map((text) => (
            <li key={text} class="warned">
              Not known: {text}.
            </li>
          ))}
          {notes.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
    </section>
  )
}
