// Words for what a memory snapshot holds.
import { memory } from './format.ts'

type PoolWords = { readonly pool: string; readonly stream: string; readonly kind: 'small' | 'large'; readonly expandable: boolean }

/** The pool `0,0` is PyTorch's own; others belong to CUDA graphs or to a MemPool. */
export const poolName = ({ pool, stream, kind, expandable }: PoolWords): string =>
  `${pool === '0,0' ? 'Default pool' : `Private pool ${pool}`}, stream ${stream}, ${kind} blocks${expandable ? ', expandable' : ''}`

export const STATE_WORDS = ['In use', 'Freed, waits for a stream', 'Free'] as const

/** What a free block is: a hole, cache, or both where whole pages are within it. */
export function freeText(bytes: number, returned: number): string {
  if (returned === 0) return 'Free, in a hole between live blocks: no flush gives it back'
  if (returned >= bytes) return 'Free, cache: a flush gives it back'
  return `Free: a flush gives back ${memory(returned)} of it, the rest is a hole`
}
