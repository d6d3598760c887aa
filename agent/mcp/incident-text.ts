// An incident for an assistant: what, who, why, what to do, and the log lines that show it.
import type * as z from 'zod'
import { memoryText } from '../text/bytes.ts'
import { writtenLines } from '../model/incident.ts'
import { utcText } from '../text/time.ts'
import { inLine, LOG_HEADING, quoted } from './answer.ts'
import type { incident as schema } from './rows.ts'

export type IncidentAnswer = z.infer<typeof schema>
const MAX_REMEDIES = 4
const MAX_FACTS = 10
const MAX_LOG = 5

export function subjectOf({ subject: { gpu, container, process, host } }: IncidentAnswer): string {
  return [
    container === undefined ? [] : `container ${container.name}`,
    gpu?.index === undefined ? [] : `GPU ${gpu.index}`,
    process === undefined ? [] : `process ${process.pid}${process.name === undefined ? '' : ` ${process.name}`}`,
    host === undefined ? [] : `host ${host.name}`,
  ]
    .flat()
    .map((part) => inLine(part, 100))
    .join(', ')
}

const factText = (name: string, value: unknown): string =>
  `${name}=${typeof value === 'number' && name.endsWith('_bytes') ? memoryText(value) : inLine(typeof value === 'string' ? value : JSON.stringify(value), 120)}`

export const headLine = (one: IncidentAnswer): string =>
  `${one.id} ${one.severity} ${one.status} ${one.kind}, since ${utcText(one.started_at)}${one.count > 1 ? `, ${one.count} times` : ''}: ${inLine(one.title, 200)} (${subjectOf(one)})`

/** Cause and remedies; `whole` adds the figures and the log lines. */
export function incidentText(one: IncidentAnswer, whole: boolean): readonly string[] {
  const lines = writtenLines(one.evidence.log_lines).slice(-MAX_LOG)
  const facts = Object.entries(one.facts).filter(([, value]) => typeof value !== 'object' || Array.isArray(value))
  return [
    headLine(one),
    `Cause: ${inLine(one.verdict)}${one.confidence === undefined ? '' : ` (confidence: ${one.confidence})`}`,
    ...one.remedies
      .slice(0, whole ? MAX_REMEDIES : 2)
      .map(({ text, command }, i) => `Remedy ${i + 1}: ${inLine(text, 400)}${command === undefined ? '' : ` Command: ${quoted(command)}`}`),
    ...(one.part_of === undefined ? [] : [`Part of incident ${one.part_of.id} (${one.part_of.kind})`]),
    ...(whole && facts.length > 0
      ? [
          `Figures: ${facts
            .slice(0, MAX_FACTS)
            .map(([name, value]) => factText(name, value))
            .join('; ')}`,
        ]
      : []),
    ...(whole && lines.length > 0 ? [LOG_HEADING, ...lines.map(({ text }) => `| ${quoted(text)}`)] : []),
  ]
}
