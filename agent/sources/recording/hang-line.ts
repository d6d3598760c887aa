// What a look at a job that hangs came to, out of a recording.
import { CONFIDENCES } from '../../model/confidence.ts'
import type { HangEvent } from '../../model/event.ts'
import type { HangRank } from '../../model/facts.ts'
import { isFields, isNumber, isText, optional, type Fields } from './fields.ts'

const HANG_LISTS = ['stands_at', 'call_sites', 'remedies', 'evidence'] as const
const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText)

function hangRank(from: unknown): HangRank | undefined {
  if (!isFields(from) || !isNumber(from['rank'])) return undefined
  const texts = optional(from, ['gpu', 'host', 'container', 'waits_for', 'stands_at'], isText)
  const numbers = optional(from, ['pid', 'since_ms'], isNumber)
  const calls = isFields(from['calls'])
    ? Object.fromEntries(Object.entries(from['calls']).filter((entry): entry is [string, string] => isText(entry[1])))
    : undefined
  return (
    texts &&
    numbers && {
      rank: from['rank'],
      ...(from['culprit'] === true ? { culprit: true } : {}),
      ...(from['elsewhere'] === true ? { elsewhere: true } : {}),
      ...texts,
      ...numbers,
      ...(calls === undefined ? {} : { calls }),
    }
  )
}

export function hangEvent(t: number, from: Fields): HangEvent | undefined {
  const { job, state, since, text, cause, confidence, culprits, ranks } = from
  const sure = CONFIDENCES.find((one) => one === confidence)
  const known = optional(from, ['container', 'waits_in'], isText)
  const [stands, sites, remedies, evidence] = HANG_LISTS.map((name) => from[name]).filter(isTexts)
  if (!isText(job) || !isNumber(since) || !isText(text) || !isText(cause) || sure === undefined || known === undefined) return undefined
  if ((state !== 'hangs' && state !== 'over') || !Array.isArray(culprits) || !Array.isArray(ranks)) return undefined
  if (stands === undefined || sites === undefined || remedies === undefined || evidence === undefined) return undefined
  const rows = ranks.flatMap((row) => hangRank(row) ?? [])
  return {
    type: 'hang',
    t,
    job,
    state,
    since,
    text,
    cause,
    confidence: sure,
    culprits: culprits.filter(isNumber),
    stands_at: stands,
    call_sites: sites,
    ranks: rows,
    remedies,
    evidence,
    ...known,
  }
}
