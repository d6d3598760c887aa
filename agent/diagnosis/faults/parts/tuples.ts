// A family from short rows: pattern, title, verdict, remedies, and its kind where that is another than the family's.
import type { LogKind } from '../../../model/kinds.ts'
import type { FaultFamily } from '../family.ts'
import type { Piece } from '../remedies/plan.ts'
import { ruleFamily, type Matched, type Rule } from './rules.ts'

export type Tuple = readonly [
  pattern: RegExp,
  title: string,
  verdict: string | ((matched: Matched) => string),
  remedies: (matched: Matched) => readonly Piece[],
  kind?: LogKind,
  unless?: Rule['unless'],
]
export const tupleFamily = (id: string, own: LogKind, literals: readonly string[], rows: readonly Tuple[]): FaultFamily =>
  ruleFamily({
    id,
    kind: own,
    literals,
    rules: rows.map(([pattern, title, verdict, remedies, kind, unless]): Rule => ({
      pattern,
      severity: 'critical',
      title,
      verdict,
      remedies,
      kind: kind ?? own,
      ...(unless === undefined ? {} : { unless }),
    })),
  })
