// The inference servers whose processes hold memory of a GPU.
import { useCallback } from 'preact/hooks'
import type { ServerRow } from '../../../../agent/model/live.ts'
import { ServerLines } from './lines.tsx'
import { gpusOf } from './text.ts'

export function GpuServers({ index }: { readonly index: number }) {
  const of = useCallback((row: ServerRow) => gpusOf(row).includes(String(index)), [index])
  return <ServerLines of={of} label={`Inference servers on GPU ${index}`} />
}
