// The title of an out-of-memory incident: who, on which GPU, and the cause with its figure.
import { memoryText } from '../../../text/bytes.ts'
import { roughSpan } from '../../../text/span.ts'
import type { Decision } from './decide.ts'
import type { Neighbour, OomState } from './state.ts'

const nameOf = ({ pid, container, process, sameContainer }: Neighbour): string =>
  (sameContainer === true ? undefined : container) ??
  (process === undefined ? (pid === undefined ? 'another process' : `process ${pid}`) : `${process} (pid ${pid ?? 'unknown'})`)

/** `finetune-lora ran out of memory on GPU 6 at finetune.py:131`; `frame` is the user's own line of code. */
export function outOfMemory(who: string | undefined, gpu: number | undefined, frame?: string): string {
  const where = `${gpu === undefined ? '' : ` on GPU ${gpu}`}${frame === undefined ? '' : ` at ${frame}`}`
  return who === undefined ? `Out of GPU memory${where}` : `${who} ran out of ${gpu === undefined ? 'GPU ' : ''}memory${where}`
}

/** The cause in a few words, as the verdict tells it; undefined where it is not known. */
export function causeInShort(state: OomState, { causes, grew, rose, othersBytes, hiddenCap, enoughWasFree }: Decision): string | undefined {
  const { neighbours = [], limit, requested, stranded, pools, outside } = state
  switch (causes[0]) {
    case 'other_process': {
      const [biggest] = neighbours
      const took = grew?.what === 'others' ? grew.growth : undefined
      const who = neighbours.length === 1 && biggest !== undefined ? nameOf(biggest) : `${neighbours.length} other processes`
      return took === undefined
        ? `${who} ${neighbours.length === 1 ? 'holds' : 'hold'} ${memoryText(othersBytes)}`
        : `${who} took ${memoryText(took.bytes)}${took.jumpedInMs === undefined ? '' : ` in ${roughSpan(took.jumpedInMs)}`}`
    }
    case 'fragmentation':
      return `fragmentation, ${memoryText(stranded)} in pieces`
    case 'fraction_cap':
      return hiddenCap ? 'a memory limit that the message does not name' : `limited to ${memoryText(limit)}`
    case 'oversized_request':
      return `one request of ${memoryText(requested)}`
    case 'private_pools':
      return `CUDA graphs keep ${memoryText(pools)}`
    case 'non_pytorch_memory':
      return `${memoryText(outside ?? 0)} outside PyTorch`
    case 'capacity':
      break
    case undefined:
      return undefined
  }
  if (grew?.what === 'own') return `its memory grew by ${memoryText(grew.growth.bytes)} in ${roughSpan(grew.growth.overMs)}`
  if (rose !== undefined) return `its memory rose by ${memoryText(rose.bytes)} in ${roughSpan(rose.withinMs)}`
  return enoughWasFree ? undefined : `it needs more than ${memoryText(limit)}`
}
