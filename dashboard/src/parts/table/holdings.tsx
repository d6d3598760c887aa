// GPU memory by GPU as small chips: index and amount.
import { gpuHref } from '../job/links.ts'
import type { Holding } from '../live/rows.ts'
import { DASH, memory } from '../../text/format.ts'
import type { Column } from './table.tsx'

/** All that they show. */
const holdingsText = (holdings: readonly Holding[]): string => holdings.map(({ index, gi, bytes }) => `${index}·${gi ?? ''} ${memory(bytes)}`).join(' ')

export function Holdings({ holdings }: { readonly holdings: readonly Holding[] }) {
  if (holdings.length === 0) return <span class="faint">{DASH}</span>
  return (
    <span class="holdings">
      {holdings.map(({ index, gi, bytes }) => (
        <a key={`${index}/${gi ?? ''}`} class="holding" href={gpuHref(index)} title={gi === undefined ? `GPU ${index}` : `GPU ${index}, MIG instance ${gi}`}>
          <span class="holding-gpu">{gi === undefined ? String(index) : `${index}·${gi}`}</span>
          {memory(bytes)}
        </a>
      ))}
    </span>
  )
}

/** Of whatever holds memory: a container, a process. */
export const byGpuColumn = <Row extends { readonly holdings: readonly Holding[] }>(): Column<Row> => ({
  id: 'by-gpu',
  label: 'By GPU',
  key: ({ holdings }) => holdings[0]?.index,
  shows: ({ holdings }) => holdingsText(holdings),
  cell: ({ holdings }) => <Holdings holdings={holdings} />,
})
