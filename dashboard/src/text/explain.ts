// The answer to an explained log as Markdown to paste into a ticket.
import { CONFIDENCE_TEXTS } from '../../../agent/text/confidence.ts'
import type { Fault } from '../../../agent/model/fault.ts'

/** A fence longer than any run of backticks in the text. */
function fenced(text: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text}\n${fence}`
}

/** Markdown's signs in words from a log stay what they are. */
const escaped = (text: string): string => text.replace(/[\\`*_[\]<>#|~]/g, '\\$&')

export function markdownOf(faults: readonly Fault[]): string {
  const parts = faults.map(({ kind, title, verdict, confidence, remedies, evidence }, place) => {
    const lines = [`${place === 0 ? '##' : '###'} ${escaped(title)} (\`${kind}\`)`, '', escaped(verdict)]
    if (confidence !== undefined) lines.push('', `Confidence: ${CONFIDENCE_TEXTS[confidence]}`)
    if (evidence.length > 0) lines.push('', fenced(evidence.map(({ line, text }) => `${line}: ${text}`).join('\n')))
    if (remedies.length > 0) lines.push('', '**What to do**', '')
    for (const { text, command } of remedies) {
      lines.push(`- ${escaped(text)}`)
      if (command !== undefined)
        lines.push(
          '',
          ...fenced(command)
            .split('\n')
            .map((each) => `  ${each}`),
          '',
        )
    }
    return lines.join('\n')
  })
  return `${parts.join('\n\n')}\n`
}
