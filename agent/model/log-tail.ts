// The last lines of a container's log, as the API gives them.
export type LogTailAnswer = {
  /** Oldest first, secrets removed. `t`: Unix ms. */
  readonly lines: readonly { readonly t: number; readonly text: string }[]
  /** For `after` of the next question. */
  readonly next: number
  /** Between the last question and the first of these lines were more than are kept. */
  readonly missed?: true
}
