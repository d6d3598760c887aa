// Names of operations: the recorder, the watchdog and Gloo each write the same collective differently.
import { lookup } from '../../text/lookup.ts'

const SPELT: Readonly<Record<string, string>> = {
  all_reduce_barrier: 'barrier',
  allreduce: 'all_reduce',
  allgather: 'all_gather',
  _allgather_base: '_all_gather_base',
  reducescatter: 'reduce_scatter',
  _reducescatter_base: '_reduce_scatter_base',
  alltoall: 'all_to_all',
  alltoall_base: 'all_to_all_single',
  allreduce_coalesced: 'all_reduce_coalesced',
}

/** `nccl:all_reduce_barrier`, `ALLREDUCE`, `gloo:barrier`: the name of torch.distributed. */
export function opName(text: string): string {
  const bare = (text.split(':').at(-1) ?? '').trim().toLowerCase()
  return lookup(SPELT, bare) ?? bare
}

/** What the sizes of the input and output may differ in between ranks that agree: those of a root, and splits of all-to-all. */
export function comparable(name: string): { readonly inputs: boolean; readonly outputs: boolean } {
  if (name.startsWith('all_to_all') || name === 'coalesced') return { inputs: false, outputs: false }
  if (name === 'scatter') return { inputs: false, outputs: true }
  if (name === 'gather' || name === 'reduce') return { inputs: true, outputs: false }
  return { inputs: true, outputs: true }
}
