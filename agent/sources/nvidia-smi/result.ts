// What comes out of parsing an output of nvidia-smi.
import type { GapReason } from '../../model/reading.ts'
import type { ParsedGpu } from './gpu.ts'

/** Something about a GPU, or about the output, that could not be read. */
export type ParseGap = {
  readonly index?: number
  readonly pciBusId?: string
  readonly reason: GapReason
  readonly code?: number
  readonly detail: string
}

export type ParsedKind = 'xml' | 'text' | 'table' | 'list' | 'query-gpu' | 'compute-apps' | 'retired-pages' | 'pmon' | 'dmon'

export type Parsed = {
  readonly kind: ParsedKind
  readonly driverVersion?: string
  readonly cudaVersion?: string
  readonly gpus: readonly ParsedGpu[]
  /** GPUs that nvidia-smi could not open, rows that made no sense. */
  readonly gaps: readonly ParseGap[]
}
export type ParseError = { readonly kind: 'error'; readonly reason: GapReason; readonly code?: number; readonly message: string }
export type ParseResult = Parsed | ParseError
