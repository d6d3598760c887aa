// A fault of which only the Xid's number is known: from NVML's event, or quoted by another program.
import type { Facts } from '../../model/facts.ts'
import type { Fault } from '../../model/fault.ts'
import { plan, type Piece } from '../faults/remedies/plan.ts'
import type { Situation } from '../situation/situation.ts'
import { actionsFor } from './actions.ts'
import { xidEntry } from './catalogue.ts'
import { causesSentence } from './causes-sentence.ts'

/** k8s-device-plugin's health.go: a GPU that it has marked stays so until the plugin starts again. */
const unlisted = (situation: Situation | undefined): Piece =>
  situation?.text.includes('marking device as unhealthy') === true && {
    text: 'The device plugin has taken the GPU out of what the node offers, and does not give it back by itself: when the GPU is well, delete the pod of the plugin on that node, so that it starts again.',
    ...(situation.programs.has('kubernetes') ? { command: 'kubectl get pods -A -o wide | grep -i device-plugin' } : {}),
  }

export type XidFault = Pick<Fault<'xid'>, 'kind' | 'severity' | 'title' | 'verdict' | 'facts' | 'remedies'>

/** `named`: the GPU, as far as who reports it names one. */
export function faultFromNumber(xid: number, situation?: Situation, named: Facts = {}, uuid?: string): XidFault {
  const entry = xidEntry(xid)
  const gpu = uuid ?? named.pci_bus_id ?? named.gpu_index
  const facts = { ...named, xid }
  return {
    kind: 'xid',
    severity: entry.severity,
    title: `Xid ${xid}: ${entry.title}`,
    verdict: [entry.meaning, gpu === undefined ? undefined : `Affected: GPU ${gpu}.`.replace('GPU GPU-', 'GPU-'), causesSentence(entry.causes)]
      .filter((part) => part !== undefined)
      .join(' '),
    facts,
    remedies: plan(entry.advice !== undefined && { text: entry.advice }, unlisted(situation), actionsFor(entry.action, facts, situation)).map((remedy) =>
      uuid === undefined || remedy.command === undefined ? remedy : { ...remedy, command: remedy.command.replaceAll('-i <GPU>', `-i ${uuid}`) },
    ),
  }
}
