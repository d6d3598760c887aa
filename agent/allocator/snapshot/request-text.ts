// The answer to a request as a sentence, and what a snapshot cannot show.
import { bytesText } from '../../text/bytes.ts'
import type { Snapshot } from './model.ts'
import type { RequestAnswer } from './request.ts'

export function requestVerdict(answer: RequestAnswer): string {
  const { block, ...rest } = answer
  const asked = `A request of ${bytesText(rest.request_bytes)}${bytesText(rest.rounded_bytes) === bytesText(rest.request_bytes) ? '' : ` (rounded to ${bytesText(rest.rounded_bytes)})`} on device ${rest.device}`
  if (block !== undefined) {
    const left =
      block.rest_bytes === 0
        ? ''
        : block.rest_is_split_off
          ? `; ${bytesText(block.rest_bytes)} of it stays free`
          : `; the other ${bytesText(block.rest_bytes)} stays unused inside it`
    return `${asked} fits: a free block of ${bytesText(block.bytes)} takes it${left}.`
  }
  const tooSmall = rest.largest_free_bytes === 0 ? 'there is no free block' : `the largest free block is ${bytesText(rest.largest_free_bytes)}`
  const { device_free_bytes: free, flush_bytes: flush } = rest
  const needed = bytesText(rest.device_bytes)
  const had = free === undefined ? '' : bytesText(free)
  // The state in the file may be a later one: unwinding a failed request frees what its callers held.
  const has = rest.device_free_from === 'error' ? `the device had ${had} free at the error` : `the device has ${had} free`
  const given =
    flush === undefined ? 'what a flush gives back is not known' : flush === 0 ? 'a flush gives nothing back' : `a flush gives back ${bytesText(flush)}`
  if (answer.outcome === 'depends') {
    const after = rest.needs_free_after_flush_bytes
    if (after === 0) return `${asked} fits at the latest after a flush: ${tooSmall}, and ${given}.`
    const least = after === undefined ? needed : bytesText(after)
    return `${asked} depends on the device: ${tooSmall} and ${given}, so it fits if the device has ${least} free.`
  }
  if (answer.outcome === 'fails') return `${asked} fails: ${tooSmall}, ${has} and would have to give ${needed}; ${given}.`
  if (answer.outcome === 'maybe') return `${asked} may fit: ${tooSmall}, ${has}, and ${given}; ${needed} are certainly enough, a little less may be.`
  if (answer.outcome === 'after_flush')
    return `${asked} fits only after a flush (slow, counted in num_alloc_retries): ${tooSmall}, ${has} and would have to give ${needed}; ${given}.`
  return `${asked} fits: ${tooSmall}, and ${has}, enough for the ${needed} to ask of it.`
}

/** What an operator might expect to learn from the file, and cannot. */
export function unknowns(snapshot: Snapshot, answer: RequestAnswer | undefined): readonly string[] {
  const said: string[] = []
  if (answer?.device_free_bytes === undefined) said.push('how much the device itself has free (give it with --free)')
  said.push('memory of this process outside PyTorch (CUDA context, NCCL, libraries), and of other processes')
  if (answer !== undefined) said.push('a limit by torch.cuda.set_per_process_memory_fraction')
  if (snapshot.settings === undefined && snapshot.format !== 'probe') said.push('the allocator’s settings: the default rules are assumed')
  if (snapshot.format === 'probe') said.push('single blocks and where they were allocated: this is the probe’s summary')
  else if (snapshot.segments.some(({ blocks }) => blocks.some((block) => block.requestedBytes === undefined)))
    said.push('the sizes that were asked for: PyTorch before 2.0 does not write them')
  return said
}
