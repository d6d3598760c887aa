// The answer of `explain` for people: what, why, what to change.
import type { Fault } from '../../model/fault.ts'
import { CONFIDENCE_TEXTS } from '../../text/confidence.ts'
import { painter, printable, type Paint } from '../paint.ts'
import { nothingText } from './nothing.ts'

const EVIDENCE_WIDTH = 160

export function answerText(faults: readonly Fault[], coloured: boolean): string {
  const paint = painter(coloured)
  const [root, ...rest] = faults
  if (root === undefined) return nothingText(paint)
  const lines = whole(root, paint)
  if (rest.length > 0) {
    lines.push('', 'Also found:')
    const reported = new Map<string, number>()
    for (const fault of rest) {
      const count = (reported.get(fault.kind) ?? 0) + 1
      reported.set(fault.kind, count)
      if (count > OF_A_KIND) continue
      lines.push(`- ${paint(fault.severity, printable(fault.title))} ${paint('dim', `(${fault.kind}${place(fault)})`)}`, `  ${printable(fault.verdict)}`)
    }
    for (const [kind, count] of reported) if (count > OF_A_KIND) lines.push(more(rest, kind, count - OF_A_KIND))
  }
  return `${lines.join('\n')}\n`
}

/** A log of hundreds of the same stays one page. */
const OF_A_KIND = 5
function more(rest: readonly Fault[], kind: string, count: number): string {
  const line = rest.findLast((fault) => fault.kind === kind)?.evidence[0]?.line
  return `- ${count} more of ${kind}${line === undefined ? '' : `, the last in line ${line}`} (all of them: --json)`
}
const place = (fault: Fault): string => (fault.evidence[0] === undefined ? '' : `, line ${fault.evidence[0].line}`)

function whole(fault: Fault, paint: Paint): string[] {
  const lines = [`${paint(fault.severity, printable(fault.title))} ${paint('dim', `(${fault.kind})`)}`, printable(fault.verdict)]
  if (fault.confidence !== undefined) lines.push(paint('dim', `  confidence: ${CONFIDENCE_TEXTS[fault.confidence]}`))
  for (const { line, text } of fault.evidence.slice(0, 3)) {
    const shown = printable(text.trim())
    lines.push(paint('dim', `  line ${line}: ${shown.length > EVIDENCE_WIDTH ? `${shown.slice(0, EVIDENCE_WIDTH)}…` : shown}`))
  }
  if (fault.remedies.length > 0) lines.push('', 'What to change:')
  for (const { text, command } of fault.remedies) {
    lines.push(`- ${printable(text)}`)
    if (command !== undefined) for (const part of command.split('\n')) lines.push(`    ${paint('command', printable(part))}`)
  }
  return lines
}
