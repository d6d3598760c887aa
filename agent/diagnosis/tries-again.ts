// Failures that a program may get over a line later: for the judge that reads line by line. Whoever reads a whole text sees both lines.
export type TriesAgain = {
  /** Of the family that reports the failure. */
  readonly family: string
  readonly failure: RegExp
  /** The program goes on. */
  readonly again: RegExp
}

export const TRIES_AGAIN: readonly TriesAgain[] = [
  // llama.cpp takes smaller buffers.
  {
    family: 'cuda-oom-inference',
    failure: /cudaMalloc failed|failed to allocate (?:(?:CUDA|ROCm)\d{0,4} buffer|compute buffers)/,
    again: /retrying without pipeline parallelism/,
  },
]
