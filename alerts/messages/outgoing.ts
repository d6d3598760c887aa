// What of an incident leaves the host: its words and figures, the log lines around the fault, one series; never more than some 16 KB.
import type { Incident, IncidentLogLine, IncidentSubject } from '../../agent/model/incident.ts'
import type { OutgoingIncident } from '../../agent/model/notification.ts'
import { clean, clip, oneLine } from './clean.ts'
import { sparkOf } from './spark.ts'

export const MOST_BYTES = 16_384
const MOST_LINES = 10
const MOST_LINE = 400
/** Names tell alerts apart, so how much of them is kept may not depend on what else there is. */
const MOST_NAME = 253

/** The end of a traceback names the error; of everything else the beginning tells more. */
function lineText(text: string): string {
  const cleaned = clean(text)
  if (cleaned.length <= MOST_LINE || !cleaned.includes('Traceback (most recent call last)')) return clip(cleaned, MOST_LINE)
  return `…${cleaned.slice(-(MOST_LINE - 1)).replace(/^[\udc00-\udfff]/, '')}`
}

/** The lines that show the fault, then their neighbours from near to far, in the order of the log. */
function chosenLines(lines: readonly IncidentLogLine[]): readonly IncidentLogLine[] {
  const marked = lines.flatMap(({ matched }, i) => (matched === true ? [i] : []))
  const distance = (i: number): number => (marked.length === 0 ? lines.length - i : Math.min(...marked.map((at) => Math.abs(at - i))))
  return lines
    .map((line, i) => ({ line, i, far: distance(i) }))
    .toSorted((a, b) => a.far - b.far || a.i - b.i)
    .slice(0, MOST_LINES)
    .toSorted((a, b) => a.i - b.i)
    .map(({ line: { origin, ...line } }) => ({
      ...line,
      ...(origin === undefined ? {} : { origin: clip(oneLine(origin), MOST_NAME) }),
      text: lineText(line.text),
    }))
}

/** Every text and every list inside cut to a length. */
export function cut<T>(value: T, chars: number, entries: number): T
export function cut(value: unknown, chars: number, entries: number): unknown {
  // Four times as much is looked at, for what is taken out; not megabytes.
  if (typeof value === 'string') return clip(clean(value.slice(0, chars * 4)), chars)
  if (Array.isArray(value)) return value.slice(0, entries).map((item: unknown) => cut(item, chars, entries))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).flatMap(([name, item]) => (item === undefined ? [] : [[name, cut(item, chars, entries)]])))
}

const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** From what a real incident never reaches to what always fits. */
const STEPS: readonly (readonly [chars: number, entries: number])[] = [
  [2_000, 24],
  [800, 12],
  [400, 6],
  [150, 3],
  [40, 1],
]

export function outgoing(incident: Incident): OutgoingIncident {
  const { evidence, subject, id, ...words } = incident
  const spark = sparkOf(incident)
  const whole = { ...words, evidence: { log_lines: chosenLines(evidence.log_lines) }, ...(spark === undefined ? {} : { spark: cut(spark, MOST_NAME, 60) }) }
  const named: IncidentSubject = cut(subject, MOST_NAME, 24)
  const fixed = { id, subject: named }
  const { spark: drawn, ...others } = whole
  for (const [chars, entries] of STEPS) {
    const shorter: OutgoingIncident = { ...fixed, ...cut(others, chars, Math.max(entries, 1)), ...(drawn === undefined ? {} : { spark: drawn }) }
    if (bytes(shorter) <= MOST_BYTES) return shorter
  }
  return { ...fixed, ...cut(others, 40, 1) }
}
