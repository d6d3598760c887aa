// What a scenario is: a healthy host, and what goes wrong on it.
import type { Cluster } from './cluster.ts'
import type { Stage } from './stage.ts'

export type Scenario = {
  readonly name: string
  /** One line: what it shows and when. */
  readonly shows: string
  /** The last GPU is split into MIG instances. */
  readonly mig?: boolean
  /** The host is a node of it. */
  readonly cluster?: Cluster
  /** Called once; the result runs each second of the story, counted from the start. */
  readonly begin: (stage: Stage) => (second: number) => void
}

/** Hands on the second within a story that starts over every `seconds`. */
export function everyCycle(seconds: number, run: (second: number) => void): (second: number) => void {
  return (second) => run(second % seconds)
}
