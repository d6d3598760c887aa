// One detector over seconds of events: what it says of whom, each time that it changes.
import { createDetection } from '../../../agent/diagnosis/detection.ts'
import type { DetectorDefinition } from '../../../agent/diagnosis/detectors/definition.ts'
import type { Event } from '../../../agent/model/event.ts'
import type { Facts } from '../../../agent/model/facts.ts'
import type { Remedy } from '../../../agent/model/fault.ts'
import type { About } from '../../../agent/model/finding.ts'
import type { DetectedKind } from '../../../agent/model/kinds.ts'
import type { Severity } from '../../../agent/model/severity.ts'
import { T } from '../incidents/scene.ts'

export type Turn = {
  readonly second: number
  readonly kind: DetectedKind
  readonly key: string
  readonly about: About
  readonly state: 'faulty' | 'healthy' | 'unknown'
  readonly severity?: Severity
  readonly title?: string
  readonly verdict?: string
  readonly facts?: Facts
  readonly remedies?: readonly Remedy[]
  readonly why?: string
}

/** What of a finding makes a turn when it changes. */
export type Said = (turn: Pick<Turn, 'state' | 'severity' | 'title' | 'verdict'>) => string

/** What makes a turn, unless a test follows something else. */
const stateAndSeverity: Said = ({ state, severity }) => `${state} ${severity ?? ''}`

/** The turns: the first word about a subject and each that differs in state or severity from the one before, or in what `said` follows. `t` in ms. */
export function turnsOf(
  definition: DetectorDefinition,
  seconds: number,
  eventsOf: (second: number, t: number) => Iterable<Event>,
  options: Readonly<Record<string, number>> = {},
  said: Said = stateAndSeverity,
): readonly Turn[] {
  const failures: unknown[] = []
  const detection = createDetection({
    definitions: [definition],
    settings: { [definition.id]: { options } },
    onFailure: (_, error) => void failures.push(error),
  })
  const turns: Turn[] = []
  const last = new Map<string, string>()
  for (let second = 0; second < seconds; second++) {
    const t = T + second * 1_000
    for (const event of eventsOf(second, t)) detection.ingest(event)
    for (const finding of detection.judge(t)) {
      const now = said(finding)
      if (last.get(finding.key) === now) continue
      last.set(finding.key, now)
      turns.push({ second, ...finding })
    }
  }
  if (failures.length > 0) throw new Error(`the detector ${definition.id} failed`, { cause: failures[0] })
  return turns
}

/** `300 faulty warning`, `400 healthy`; health that nothing came before is left out. */
export const story = (turns: readonly Turn[]): readonly string[] =>
  turns
    .filter((turn, at) => turn.state !== 'healthy' || turns.slice(0, at).some(({ key, state }) => key === turn.key && state === 'faulty'))
    .map(({ second, state, severity }) => `${second} ${state}${severity === undefined ? '' : ` ${severity}`}`)

/** What was said in the order in which it was said, `unknown` left out. */
export const statesOf = (turns: readonly Turn[]): readonly string[] =>
  turns.filter(({ state }) => state !== 'unknown').map(({ state, severity }) => (severity === undefined ? state : `${state} ${severity}`))

export const faults = <T extends Pick<Turn, 'state'>>(turns: readonly T[]): readonly T[] => turns.filter(({ state }) => state === 'faulty')

/** The first fault; its absence is the test's failure. */
export function firstFault(turns: readonly Turn[]): Turn {
  const [fault] = faults(turns)
  if (fault === undefined) throw new Error(`no fault was told, but: ${JSON.stringify(turns.map(({ second, state, why }) => [second, state, why]))}`)
  return fault
}
