// How sure a verdict is of its cause. Its own words decide, so that what a program reads and what a person reads never differ.
import { CONFIDENCES, type Confidence } from '../model/confidence.ts'
import type { Facts } from '../model/facts.ts'
import type { IncidentKind } from '../model/kinds.ts'
import { isLogKind } from '../model/log-kinds.ts'

/** The words by which a verdict of ours says that it is not certain. */
const HEDGES = /\b(?:(?:most|less) likely|[Ll]ikely|[Pp]robably|[Uu]sually|[Mm]ostly|[Oo]ften|[Ss]eems|[Pp]oints? at|in (?:nearly all|most) cases)\b/

type Judged = { readonly kind: IncidentKind; readonly verdict: string; readonly facts: Facts }

/** `fromNumbers`: no log told it. */
export function confidenceOf({ kind, verdict, facts }: Judged, fromNumbers = !isLogKind(kind)): Confidence {
  // Of a look at processes its judgement says it.
  const judged = CONFIDENCES.find((one) => one === facts.confidence)
  if (judged !== undefined) return judged
  if (HEDGES.test(verdict)) return 'likely'
  return fromNumbers || (facts.causes ?? []).length > 0 ? 'computed' : 'read'
}
