// What to do, step by step, with the commands to copy: of an incident, a fault in a log, a snapshot, a check.
import type { Remedy } from '../../../../agent/model/fault.ts'
import { CopyButton } from '../copy-button.tsx'

type Props = {
  readonly remedies: readonly Remedy[]
  /** Behind "command 1" for those who cannot see where it stands, where a page has several lists. */
  readonly of?: string
}

export function RemedyList({ remedies, of }: Props) {
  return (
    <ol class="remedies">
      {remedies.map(({ text, command }, i) => (
        <li key={i}>
          {text}
          {command !== undefined && (
            <span class="command">
              <code>{command}</code>
              <CopyButton text={command} label="copy" of={`command ${i + 1}${of === undefined ? '' : ` of ${of}`}`} />
            </span>
          )}
        </li>
      ))}
    </ol>
  )
}
