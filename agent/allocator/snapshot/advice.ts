// One sentence about a device's memory, and what to change; each piece of advice only where the figures carry it.
import { bytesText } from '../../text/bytes.ts'
import type { Remedy } from '../../model/fault.ts'
import { percentOrTrace } from '../../text/figures.ts'
import type { DeviceAnalysis } from './analyse.ts'
import { DEFAULT_POOL, type Snapshot } from './model.ts'
import { mainStream } from './request.ts'
import type { Rules } from './rules.ts'

export type Facts = Omit<DeviceAnalysis, 'verdict' | 'remedies'>

/** From here fragmentation, waste, or memory that only some may use is worth changing something (pytorch-allocator.md, sections 4 and 11). */
const WORTH_RATIO = 0.1
const SLIGHT_RATIO = 0.03

const share = (bytes: number, of: number): string => `${bytesText(bytes)} (${percentOrTrace(of === 0 ? 0 : bytes / of)})`

export function verdictOf(facts: Facts): string {
  const { reserved_bytes: reserved, allocated_bytes: allocated, free_bytes: free, stranded_bytes: stranded, releasable_bytes: releasable } = facts
  if (reserved === 0) return 'PyTorch holds no memory here.'
  const held = `of the ${bytesText(reserved)} that PyTorch holds`
  if (stranded === undefined || releasable === undefined) {
    return `${share(allocated, reserved)} ${held} is live and ${share(free, reserved)} free; this file does not say how much of that a flush would free.`
  }
  if (stranded / reserved >= WORTH_RATIO) {
    return `Fragmented: ${share(stranded, reserved)} ${held} is free, but is in holes between live blocks; the largest free block is ${bytesText(facts.largest_free_bytes)}.`
  }
  if (free / reserved < WORTH_RATIO) {
    return `Full, not fragmented: ${share(allocated + facts.pending_bytes, reserved)} ${held} is in use and only ${share(stranded, reserved)} is in holes between live blocks.`
  }
  const slight = stranded / reserved >= SLIGHT_RATIO ? 'Slightly fragmented' : 'Not fragmented'
  return `${slight}: ${share(releasable, reserved)} ${held} is warm cache, free and returnable; ${share(stranded, reserved)} is in holes between live blocks.`
}

const sumOf = (rows: Facts['pools'], name: 'free_bytes' | 'reserved_bytes' | 'releasable_bytes'): number => rows.reduce((sum, row) => sum + (row[name] ?? 0), 0)

export function adviceFor(facts: Facts, rules: Rules, format: Snapshot['format']): readonly Remedy[] {
  const { reserved_bytes: reserved } = facts
  if (reserved === 0) return []
  const remedies: Remedy[] = []
  if ((facts.stranded_native_ratio ?? 0) >= WORTH_RATIO && !rules.expandable) {
    remedies.push({
      text: 'Let segments grow, so that free memory is no longer cut up between them (read when the process starts; not on Windows).',
      command: 'export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True',
    })
  } else if ((facts.stranded_ratio ?? 0) >= WORTH_RATIO) {
    remedies.push({
      text: 'Segments are expandable already: what is left are holes between blocks that live long and blocks that live shortly. Allocate what lives long (weights, optimizer state, caches) first, and give varying batches a few fixed sizes.',
    })
  }
  if (facts.internal !== undefined && facts.internal.waste_ratio >= WORTH_RATIO) {
    const rounded = rules.roundupDivisions.some((divisions) => divisions > 1)
    remedies.push({
      text: `Blocks are ${share(facts.internal.waste_bytes, facts.internal.active_bytes)} larger than what was asked for: ${
        rounded
          ? 'roundup_power2_divisions rounds up that much; a larger number of divisions wastes less.'
          : 'many small tensors (each takes 512 bytes at least), or requests that leave up to 1 MiB of a large block unused. Where sizes vary a little, fuse small tensors or pad to equal sizes.'
      }`,
    })
  }
  const others = facts.pools.filter((pool) => pool.pool !== DEFAULT_POOL)
  if (sumOf(others, 'free_bytes') / reserved >= WORTH_RATIO) {
    remedies.push({
      text: `${share(sumOf(others, 'free_bytes'), reserved)} is free in private pools (CUDA graphs, MemPool), which only their owners can use: let graphs share one pool (torch.cuda.graph(…, pool=…)), or capture fewer shapes.`,
    })
  }
  if (facts.pending_bytes / reserved >= WORTH_RATIO) {
    remedies.push({
      text: `${share(facts.pending_bytes, reserved)} is freed but waits for another stream (record_stream): synchronise the streams before the next large allocation, or keep fewer batches in flight.`,
    })
  }
  const streams = new Set(facts.pools.map((pool) => pool.stream))
  const main = mainStream(facts.pools, facts.device)
  const busiest = facts.pools.filter((pool) => pool.pool === DEFAULT_POOL && pool.stream === main)
  const elsewhere = sumOf(facts.pools, 'free_bytes') - sumOf(others, 'free_bytes') - sumOf(busiest, 'free_bytes')
  if (streams.size > 1 && elsewhere / reserved >= WORTH_RATIO) {
    remedies.push({
      text: `${share(elsewhere, reserved)} is free in blocks of other streams; a block is used again only on the stream that it was allocated on.`,
    })
  }
  if ((facts.releasable_bytes ?? 0) / reserved >= 2 * WORTH_RATIO) {
    remedies.push({
      text: `${share(facts.releasable_bytes ?? 0, reserved)} is cache that this process can give back when others on the GPU need it; PyTorch does so by itself before it fails.`,
      command: 'torch.cuda.empty_cache()',
    })
  }
  if (format !== 'probe' && facts.live.recorded_bytes === 0 && facts.allocated_bytes > 0) {
    remedies.push({
      text: 'No allocation here says where it came from: switch the history on at the start of the program, before the next snapshot.',
      command: 'torch.cuda.memory._record_memory_history(max_entries=100000)',
    })
  }
  return remedies
}
