// What parent and child of the parser runs say to each other.

export type Order = {
  /** The module that holds the parsers, from this folder: './index.ts' but for a test of the runs themselves. */
  readonly module: string
  readonly names: readonly string[]
  readonly seed: number
  /** Index of the first input, for the first of the names. */
  readonly from: number
  /** Of each parser's inputs. */
  readonly share: number
  /** So many inputs of each, whatever the share. */
  readonly only?: number
  /** A position after so many inputs; 1 finds the input that hangs. */
  readonly every?: number
}

export type Failure = { readonly index: number; readonly what: string; readonly bytes?: number }
export type Report =
  | { readonly parser: string; readonly at: number }
  | { readonly parser: string; readonly failure: Failure }
  | { readonly parser: string; readonly done: number; readonly slowestMs: number }
