// What a snapshot says, checked: segments with their blocks, the allocator's settings, the trace's size and its last out-of-memory error.

/** `pending`: freed by the program, but a stream may still use it (active_pending_free; the documentation says active_awaiting_free). */
export type BlockState = 'allocated' | 'pending' | 'free'
export type PoolKind = 'small' | 'large'

export type Block = {
  /** From the segment's start. The blocks of a segment follow each other without gaps, so this needs no address. */
  readonly offset: number
  readonly bytes: number
  readonly state: BlockState
  /** What the caller asked for; absent in snapshots of PyTorch before 2.0. */
  readonly requestedBytes?: number
  /** As the file has them; blocks allocated at the same place share one array. Absent where history was not recorded. */
  readonly frames?: readonly unknown[]
}

export type Segment = {
  readonly device: number
  /** Where the file has it; above 2 ** 53 on some machines. */
  readonly address?: number | bigint
  readonly bytes: number
  readonly stream: string
  readonly kind: PoolKind
  /** `0,0` is the default pool; others belong to CUDA graphs or to a MemPool. */
  readonly pool: string
  /** For such a one the entry is a run of mapped pages, not a cudaMalloc. */
  readonly expandable: boolean
  readonly blocks: readonly Block[]
}

/** allocator_settings; a key that the file lacks is absent. PyTorch writes them from 2.2 on. */
export type AllocatorSettings = {
  readonly text?: string
  readonly expandable?: boolean
  /** Absent where nothing is set: the default is no limit. */
  readonly maxSplitBytes?: number
  /** One for each power of two from 1 MiB to 32 GiB; 0 and 1 mean none. */
  readonly roundupDivisions?: readonly number[]
}

export type TracedOom = {
  readonly device: number
  /** The rounded request, not the segment (pytorch-allocator.md, section 2). */
  readonly requestBytes: number
  readonly deviceFreeBytes?: number
  readonly stream?: string
  readonly timeMs?: number
  readonly frames?: readonly unknown[]
}

export type Trace = { readonly entries: number; readonly lastOom?: TracedOom }

/** What the probe sends at an out-of-memory error instead of blocks: figures by pool and stream (probe/PROTOCOL.md). */
export type PoolSummary = {
  readonly device: number
  readonly pool: string
  readonly stream: string
  readonly kind: PoolKind
  readonly expandable: boolean
  readonly segments: number
  readonly bytes: number
  readonly allocatedBytes: number
  readonly pendingBytes: number
  readonly freeBytes: number
  readonly freeBlocks: number
  readonly largestFreeBytes: number
  readonly freeSegments: number
}

export type ProbeOom = { readonly device: number; readonly requestBytes?: number; readonly deviceFreeBytes?: number; readonly requestedBytes?: number }

export type Snapshot = {
  readonly format: 'pickle' | 'json' | 'probe'
  /** Empty for the probe's form. */
  readonly segments: readonly Segment[]
  readonly pools?: readonly PoolSummary[]
  readonly oom?: ProbeOom
  readonly settings?: AllocatorSettings
  readonly trace?: Trace
  /** What is inconsistent in the file; reported, not corrected. */
  readonly notes: readonly string[]
}

export const DEFAULT_POOL = '0,0'
