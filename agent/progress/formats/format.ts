// What a family of formats is: one line in, what it says of the progress out. Pure; what it remembers of other lines is bounded.
import type { Observation } from '../observation.ts'

export type Line = {
  /** Without colours, prefix of the rank, and stamp. */
  readonly text: string
  /** When it was written, in seconds, where the line says it. */
  readonly at?: number
}
export type Read = {
  readonly observation: Observation
  /** What is behind it on the same line and is a statement of its own. */
  readonly rest?: string
}
export type Format = {
  readonly name: string
  /** For the lines of one writer. */
  readonly create: () => (line: Line) => Read | undefined
}
