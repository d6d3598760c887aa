// A fault of which only the Xid's number is known: from NVML's event, or quoted by another program.
import type { Fault } from '../../model/fault.ts'
import { plan } from '../faults/remedies/plan.ts'
import type { Situation } from '../situation/situation.ts'
import { actionsFor } from './actions.ts'
import { xidEntry } from './catalogue.ts'
import { causesSentence } from './causes-sentence.ts'

export type XidFault = Pick<Fault<'xid'>, 'kind' | 'severity' | 'title' | 'verdict' | 'facts' | 'remedies'>

export function faultFromNumber(xid: number, situation?: Situation): XidFault {
  const entry = xidEntry(xid)
  return {
    kind: 'xid',
    severity: entry.severity,
    title: `Xid ${xid}: ${entry.title}`,
    verdict: [entry.meaning, causesSentence(entry.causes)].filter((part) => part !== undefined).join(' '),
    facts: { xid },
    remedies: plan(entry.advice !== undefined && { text: entry.advice }, actionsFor(entry.action, { xid }, situation)),
  }
}
