// What collectors see of a GPU or a MIG instance: prepared questions whose answers are numbers or NVML codes. Types only; nothing here throws when asked.
import type { Labels } from '../model/series.ts'
import type { Failure } from './codes.ts'
import type { Layout } from './layouts.ts'
import type { FunctionName } from './names.ts'

/** One prepared call. Made once, asked often; its buffers are reused. */
export type Query = {
  /** What gaps name as the origin: the function, or the first of several. */
  readonly name: string
  /** Asks the driver. 0: `values` hold the answer; else NVML's code. A permanent code is remembered and the driver not asked again. */
  readonly ask: () => number
  readonly values: Float64Array
}

export type FieldSpec = {
  readonly id: number
  /** Link or power scope; 0 when absent. */
  readonly scope?: number
}

/** Many field values in one call. `codes[i]` is 0 when `values[i]` holds; `ask` gives 0 unless the call as a whole failed. */
export type FieldQuery = {
  readonly ask: () => number
  readonly values: Float64Array
  readonly codes: Int32Array
  readonly failure: (at: number) => Failure
}

/** Rates and ratios between this question and the previous one; `ask` gives NOT_YET the first time. */
export type GpmQuery = FieldQuery
export const NOT_YET = -1

export type ProcessEntry = {
  readonly pid: number
  /** null: the driver does not report it. */
  readonly bytes: number | null
  readonly gi?: number
  readonly ci?: number
}
export type ProcessKind = 'Compute' | 'Graphics' | 'MPSCompute'
export type ProcessQuery = { readonly name: string; readonly ask: () => number; readonly entries: () => readonly ProcessEntry[] }

/**
 * How busy a process kept the SMs in each of the driver's sample periods (1/6 s to 1 s) since the last question, in columns that are filled again with each:
 * hundreds come in a second. None is no failure: no process used the GPU, or the period is not over. `timeUs` is the driver's time, `percent` 0 to 100.
 */
export type ProcessSamples = { count: number; pid: Uint32Array; timeUs: Float64Array; percent: Uint8Array }
export type UtilizationQuery = { readonly name: string; readonly ask: () => number; readonly samples: Readonly<ProcessSamples> }

/** What the accounting mode wrote down of a process; `ms`: from its start on the GPU to its end. */
export type AccountedProcess = {
  readonly pid: number
  readonly isRunning: boolean
  readonly ms: number | undefined
  readonly ratio: number | undefined
  readonly peakBytes: number | undefined
}
/** A number in place of the answer is NVML's code. */
export type AccountingQuery = {
  readonly isOn: () => boolean | number
  readonly pids: () => readonly number[] | number
  readonly stats: (pid: number) => AccountedProcess | number
}

/** How the numbers after the leading arguments come back. */
export type Out = 'u32' | 'i32' | 'u64'

export type Handle = {
  /** `gpu` and `uuid` of the GPU; MIG instances add `gi` and `ci`. */
  readonly labels: Labels
  /** A function with numbers going in (`leading`) and a pointer for each number coming out (default one u32). */
  readonly query: (name: FunctionName, leading?: readonly number[], outs?: readonly Out[]) => Query
  /** A function that fills a struct. */
  readonly struct: (name: FunctionName, layout: Layout) => Query
  readonly text: (name: FunctionName) => string | Failure
  readonly processes: (kind: ProcessKind) => ProcessQuery
}

export type MigInstance = Handle & { readonly uuid: string; readonly gi: number; readonly ci: number; readonly name: string }

export type Device = Handle & {
  readonly index: number
  readonly uuid: string
  readonly name: string
  readonly pciBusId: string
  /** MIG instances as they were when the GPU was attached. */
  readonly mig: readonly MigInstance[]
  readonly fields: (specs: readonly FieldSpec[]) => FieldQuery
  /** GPM metrics by id, of the GPU or of one of its GPU instances. */
  readonly gpm: (ids: readonly number[], gi?: number) => GpmQuery
  /** How busy each process keeps it; not with MIG. */
  readonly utilization: () => UtilizationQuery
  readonly accounting: () => AccountingQuery
  /** How many pages were retired for a cause (0 multiple single-bit errors, 1 double-bit error). */
  readonly retiredPages: (cause: 0 | 1) => Query
  readonly driverVersion: string
  /** As `13.1`; undefined where the driver does not report it. */
  readonly cudaVersion: string | undefined
  /** As `9.0`; undefined where the driver does not report it. */
  readonly computeCapability: string | undefined
}
