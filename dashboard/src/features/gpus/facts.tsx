// What is known of a GPU beside its charts: errors of its memory, its links, who made it what it is.
import type { GapRow } from '../../../../agent/model/live.ts'
import type { GpuView } from '../../parts/live/gpu-view.ts'
import { memory } from '../../text/format.ts'
import { gapText } from '../../text/words.ts'

type Fact = { readonly label: string; readonly measure: string; readonly value: string | undefined; readonly bad?: boolean; readonly why?: string }

const entry = (value: unknown, key: string): number | undefined => {
  if (typeof value !== 'object' || value === null) return undefined
  const found: unknown = Object.entries(value).find(([name]) => name === key)?.[1]
  return typeof found === 'number' ? found : undefined
}
const text = (value: unknown): string | undefined => (typeof value === 'string' || typeof value === 'number' ? String(value) : undefined)

const YES_NO: ReadonlyMap<unknown, string> = new Map([
  [0, 'no'],
  [1, 'yes'],
])

function factsOf({ row, uuid }: GpuView): readonly Fact[] {
  const counted = (label: string, measure: string, key: string, harmful: boolean): Fact => {
    const value = entry(row[measure], key)
    return { label, measure, value: text(value), bad: harmful && (value ?? 0) > 0 }
  }
  const happened = (label: string, measure: string): Fact => ({ label, measure, value: YES_NO.get(row[measure]), bad: row[measure] === 1 })
  const link = (now: unknown, max: unknown): string | undefined =>
    text(now) === undefined ? undefined : `${text(now)}${text(max) === undefined ? '' : ` of ${text(max)}`}`
  return [
    counted('ECC errors, uncorrected, since the driver was loaded', 'ecc_errors_total', 'uncorrected_volatile', true),
    counted('ECC errors, uncorrected, lifetime', 'ecc_errors_total', 'uncorrected_aggregate', true),
    counted('ECC errors, corrected, since the driver was loaded', 'ecc_errors_total', 'corrected_volatile', false),
    counted('ECC errors, corrected, lifetime', 'ecc_errors_total', 'corrected_aggregate', false),
    counted('Rows remapped for uncorrected errors', 'remapped_rows', 'uncorrected', true),
    happened('Row remap pending: GPU reset required', 'row_remap_pending'),
    happened('Row remap failed', 'row_remap_failure'),
    { label: 'PCIe generation', measure: 'pcie_link_generation', value: link(row['pcie_link_generation'], row['pcie_link_generation_max']) },
    { label: 'PCIe lanes', measure: 'pcie_link_width', value: link(row['pcie_link_width'], row['pcie_link_width_max']) },
    { label: 'PCIe replays', measure: 'pcie_replay_total', value: text(row['pcie_replay_total']) },
    {
      label: 'Reserved by the driver',
      measure: 'memory_reserved_bytes',
      value: row.memory_reserved_bytes === undefined ? undefined : memory(row.memory_reserved_bytes),
    },
    { label: 'PCI address', measure: 'pci_bus_id', value: text(row['pci_bus_id']) },
    { label: 'Serial number', measure: 'serial', value: text(row['serial']) },
    { label: 'VBIOS', measure: 'vbios_version', value: text(row['vbios_version']) },
    { label: 'UUID', measure: 'uuid', value: uuid },
  ]
}

const gapOf = (gaps: readonly GapRow[], measure: string): GapRow | undefined =>
  gaps.find((gap) => gap.measure === measure || gap.measure.startsWith(`${measure}.`))

export function GpuFacts({ view }: { readonly view: GpuView }) {
  const gaps = view.row.gaps ?? []
  const facts = factsOf(view).flatMap((fact): readonly Fact[] => {
    if (fact.value !== undefined) return [fact]
    const gap = gapOf(gaps, fact.measure)
    return gap === undefined ? [] : [{ ...fact, value: gapText(gap.reason), why: gap.detail ?? gap.reason }]
  })
  return (
    <section class="panel" aria-labelledby="facts-title">
      <h2 id="facts-title">Health and identity</h2>
      <dl class="gpu-facts">
        {facts.map(({ label, value, bad, why }) => (
          <div key={label} title={why}>
            <dt>{label}</dt>
            <dd class={bad === true ? 'bad' : why === undefined ? '' : 'faint'}>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
