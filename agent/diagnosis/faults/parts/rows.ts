// Families whose messages have one meaning each: a row for a message, `{1}` for what is in its first group.
import type { LogKind } from '../../../model/kinds.ts'
import type { Severity } from '../../../model/severity.ts'
import type { FaultFamily } from '../family.ts'
import type { Piece } from '../remedies/plan.ts'
import { ruleFamily, type Matched, type Rule } from './rules.ts'

export type Row = {
  readonly kind: LogKind
  readonly pattern: RegExp
  readonly title: string
  readonly verdict: string | ((matched: Matched) => string)
  readonly remedies: readonly Piece[] | ((matched: Matched) => readonly Piece[])
  readonly severity?: Severity
  readonly unless?: Rule['unless']
}

export const step = (text: string, command?: string): Piece => (command === undefined ? { text } : { text, command })
const filled = (text: string, match: RegExpExecArray): string => text.replace(/\{(\d)\}/g, (_, group: string) => match[Number(group)]?.trim() ?? '')
function fill(piece: Piece, match: RegExpExecArray): Piece {
  if (typeof piece !== 'object' || !('text' in piece)) return piece
  const { command } = piece
  return { ...piece, text: filled(piece.text, match), ...(command === undefined ? {} : { command: filled(command, match) }) }
}

export const rowFamily = (id: string, literals: readonly string[], rows: readonly Row[]): FaultFamily =>
  ruleFamily({
    id,
    kind: rows[0]?.kind ?? 'config_error',
    literals,
    rules: rows.map(({ kind, pattern, title, verdict, remedies, severity, unless }): Rule => ({
      kind,
      pattern,
      severity: severity ?? 'critical',
      title: ({ match }) => filled(title, match),
      verdict: (matched) => (typeof verdict === 'string' ? filled(verdict, matched.match) : verdict(matched)),
      remedies: (matched) => (typeof remedies === 'function' ? remedies(matched) : remedies).map((piece) => fill(piece, matched.match)),
      ...(unless === undefined ? {} : { unless }),
    })),
  })
