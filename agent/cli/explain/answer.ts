// The answer of `explain` for people: what, why, what to change.
import { CONFIDENCE_TEXTS } from '../../text/confidence.ts'
import type { Fault } from '../../model/fault.ts'

const COLOURS = { critical: '\u001b[31;1m', warning: '\u001b[33;1m', info: '\u001b[36;1m', dim: '\u001b[2m', command: '\u001b[32m', off: '\u001b[0m' } as const
type Colour = keyof typeof COLOURS

/** What a log may contain must not reach the terminal as commands to it. */
const printable = (text: string): string => text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '·').replaceAll('\t', ' ')
const EVIDENCE_WIDTH = 160

export function answerText(faults: readonly Fault[], coloured: boolean): string {
  const paint = (colour: Colour, text: string): string => (coloured ? `${COLOURS[colour]}${text}${COLOURS.off}` : text)
  const [root, ...rest] = faults
  if (root === undefined) return 'No fault found in this log.\n'
  const lines = whole(root, paint)
  if (rest.length > 0) {
    lines.push('', 'Also found:')
    for (const fault of rest)
      lines.push(`- ${paint(fault.severity, printable(fault.title))} ${paint('dim', `(${fault.kind}${place(fault)})`)}`, `  ${printable(fault.verdict)}`)
  }
  return `${lines.join('\n')}\n`
}

const place = (fault: Fault): string => (fault.evidence[0] === undefined ? '' : `, line ${fault.evidence[0].line}`)

function whole(fault: Fault, paint: (colour: Colour, text: string) => string): string[] {
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
