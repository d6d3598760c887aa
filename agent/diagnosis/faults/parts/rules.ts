// Makes a family out of a table: each rule is a pattern for one message with what it means and what to do.
import type { Facts } from '../../../model/facts.ts'
import type { LogKind } from '../../../model/kinds.ts'
import type { Severity } from '../../../model/severity.ts'
import { stripPrefix } from '../../../text/line-prefix.ts'
import { joinedFrom, plain } from '../../joining.ts'
import type { Situation } from '../../situation/situation.ts'
import { plan, type Piece } from '../remedies/plan.ts'
import type { FaultFamily, Found, LogText } from '../family.ts'

export type Seen = {
  readonly match: RegExpExecArray
  readonly message: string
  readonly text: LogText
  readonly at: number
  readonly situation: () => Situation
}
/** What a verdict and the remedies of a rule are made from. */
export type Matched = Seen & { readonly facts: Facts }

export type Rule = {
  /** Must begin in the line that was hit; may reach into the two lines after it. Linear: no nested quantifiers. */
  readonly pattern: RegExp
  /** Another kind where the same words mean something else; the family's first kind by default. */
  readonly kind?: LogKind
  readonly severity: Severity | ((seen: Seen) => Severity)
  readonly title: string | ((matched: Matched) => string)
  readonly verdict: string | ((matched: Matched) => string)
  readonly remedies: readonly Piece[] | ((matched: Matched) => readonly Piece[])
  readonly facts?: (seen: Seen) => Facts
  /** True where something else explains the message, so that this family stays quiet. */
  readonly unless?: (seen: Seen) => boolean
}

export type RuleTable = {
  readonly id: string
  readonly kind: LogKind
  readonly literals: readonly string[]
  readonly rules: readonly Rule[]
  readonly facts?: (seen: Seen) => Facts
}

export function ruleFamily(table: RuleTable): FaultFamily {
  const { id, kind, literals, rules } = table
  const recognise = (text: LogText, at: number, situation: () => Situation): Found | undefined => {
    const line = text[at]
    if (line === undefined) return undefined
    const message = joinedFrom(text, at, 3)
    let own: number | undefined
    for (const rule of rules) {
      const match = rule.pattern.exec(message)
      if (match === null || match.index >= (own ??= plain(stripPrefix(line)).length)) continue
      const seen: Seen = { match, message, text, at, situation }
      if (rule.unless?.(seen) === true) continue
      const facts: Facts = { ...table.facts?.(seen), ...rule.facts?.(seen) }
      const matched: Matched = { ...seen, facts }
      return {
        kind: rule.kind ?? kind,
        severity: typeof rule.severity === 'string' ? rule.severity : rule.severity(seen),
        title: typeof rule.title === 'string' ? rule.title : rule.title(matched),
        verdict: typeof rule.verdict === 'string' ? rule.verdict : rule.verdict(matched),
        facts,
        remedies: plan(typeof rule.remedies === 'function' ? rule.remedies(matched) : rule.remedies),
        lines: [at],
      }
    }
    return undefined
  }
  return { id, kinds: [...new Set([kind, ...rules.map((rule) => rule.kind ?? kind)])], literals, recognise }
}
