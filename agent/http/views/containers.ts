// What a container's row needs beyond its measures: which GPUs it asked for, as one text.
import type { MutableRow } from './builder.ts'

/** Turns the flags by UUID (`warpwatch_container_gpu_requested`) into `gpus_requested`, in the order of the host. */
export function finishContainer(row: MutableRow, gpuOrder: readonly string[]): MutableRow {
  const requested = row['gpu_requested']
  if (typeof requested !== 'object' || Array.isArray(requested)) return row
  delete row['gpu_requested']
  const uuids = Object.keys(requested).filter((uuid) => requested[uuid] === 1)
  const rank = (uuid: string): number => (gpuOrder.includes(uuid) ? gpuOrder.indexOf(uuid) : gpuOrder.length)
  row['gpus_requested'] = uuids.sort((a, b) => rank(a) - rank(b)).join(',')
  return row
}
