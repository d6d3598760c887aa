// A fault of which only the Xid's number is known: NVML's event, another program's word.
import type { Fault } from '../../model/fault.ts'
import { ACTIONS } from './actions.ts'
import { xidEntry } from './catalogue.ts'

export type ToldXid = Pick<Fault<'xid'>, 'kind' | 'severity' | 'title' | 'verdict' | 'facts' | 'remedies'>

export function toldXid(xid: number): ToldXid {
  const entry = xidEntry(xid)
  return {
    kind: 'xid',
    severity: entry.severity,
    title: `Xid ${xid}: ${entry.title}`,
    verdict: `${entry.meaning} Likely cause: ${entry.causes.join(', then ')}.`,
    facts: { xid },
    remedies: [...(entry.advice === undefined ? [] : [{ text: entry.advice }]), ...ACTIONS[entry.action]],
  }
}
