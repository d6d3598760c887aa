// Xids and SXids: what the NVIDIA driver writes to the kernel log when a GPU or an NVSwitch reports an error.
import type { Facts } from '../../model/facts.ts'
import type { Severity } from '../../model/severity.ts'
import { bareKernelText } from '../../text/line-prefix.ts'
import type { Situation } from '../situation/situation.ts'
import { actionsFor } from '../xid/actions.ts'
import { XID_CODES, xidEntry } from '../xid/catalogue.ts'
import { decodeNvlink5 } from '../xid/nvlink5.ts'
import { recoveryIn } from '../xid/recovery.ts'
import { faultFromNumber } from '../xid/fault-from-number.ts'
import type { FaultFamily, LogText, Recognised } from './family.ts'
import { linkEvidence } from './parts/pcie.ts'
import { plan } from './remedies/plan.ts'
import { RESET_TOGETHER, resetGpu } from './remedies/gpu.ts'
import { known, pciBusId, whole, wrapped } from './parts/window.ts'
import { causesSentence } from '../xid/causes-sentence.ts'

// Very old drivers leave "PCI:" out, and the domain too; MIG adds the instance.
const ADDRESS = '\\((?:PCI:)?((?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2,4}:[0-9a-fA-F]{2}(?:\\.[0-7])?|\\.{3})(?: GPU-I:\\d{1,3})?(?: GPU-CI:\\d{1,3})?\\)'
const XID = new RegExp(`\\bXid ${ADDRESS}: (\\d{1,5})(?![\\w.:])`)
const SXID = new RegExp(`\\bSXid ${ADDRESS}: (\\d{4,6})(?![\\w.:]),? ?(Non-fatal|Fatal)?`, 'i')
// go-nvml's event, as the Kubernetes device plugin writes it.
const EVENT = /\bXidCriticalError: Xid=(\d{1,5})\b/
// Other monitors' words; the GPU must be named, since data bases count their transactions so too.
const REPORTED = /\bX(?:id|ID)(?: [Ee]rrors?)?(?: [Cc]ode)?[ :=#]{1,3}(\d{1,3})\b/

// The pid is the host's, a name is cut at 15 characters and may hold blanks; either may be unknown.
const PID = /^, pid='?(\d{1,10})\b/
const NAME = /, {0,4}name=(?!<unknown>)([^,\n]{1,40})/
const CAUSED_BY = /caused by previous Xid (\d{1,5})/

function process(rest: string): { readonly pid: number | undefined; readonly process: string | undefined } {
  const name = NAME.exec(rest)?.[1]?.trim()
  return { pid: whole(PID.exec(rest)?.[1]), process: name === undefined || name === '' ? undefined : name }
}

/** The driver's own words: what stands behind process, channel and engine mask. */
function wordsOf(rest: string): string | undefined {
  const words = rest
    .slice(0, 1_000)
    .replace(/^,? ?pid=[^,]{1,20},?/, '')
    .replace(/^ {0,4}name=[^,]{1,40},?/, '')
    .replace(/^[\s,]+/, '')
    .replace(/\s+/g, ' ')
    .replace(/[\s.,"]+$/, '')
  return /[a-z]{4}/i.test(words) ? words.slice(0, 200) : undefined
}

/** The nearest other Xid of the same GPU in the lines above: an Xid 45 is what the driver does after it. */
function earlierXid(text: LogText, at: number, gpu: string | undefined): number | undefined {
  let nearest: number | undefined
  for (let line = at - 1; line >= 0 && line >= at - 40; line--) {
    const match = XID.exec(text[line] ?? '')
    const xid = match !== null && match[1] === gpu && match[2] !== '45' ? whole(match[2]) : undefined
    if (xid === undefined) continue
    // A critical one ends programs; a note that a repair was recorded stands between the two.
    if (xidEntry(xid).severity === 'critical') return xid
    nearest ??= xid
  }
  return nearest
}

function gpuXid(text: LogText, at: number, line: string, situation: () => Situation): Recognised | undefined {
  const match = XID.exec(line)
  const xid = whole(match?.[2])
  if (match === null || xid === undefined) return undefined
  const end = match.index + match[0].length
  // A message may be wrapped behind its pid, or before what it says.
  const next = text[at + 1]
  const goesOn = next !== undefined && !next.includes('Xid') && (/,\s*$/.test(line) || /^(?:name=|errorString|channel 0x)/.test(bareKernelText(next)))
  const rest = goesOn ? wrapped(text, at, 1).slice(end) : line.slice(end)
  const who = process(rest)
  const previous = whole(CAUSED_BY.exec(rest)?.[1])
  const facts = known({ xid, pci_bus_id: address(match[1]), caused_by_xid: previous, ...who })
  const earlier = xid === 45 && previous === undefined ? earlierXid(text, at, match[1]) : undefined
  const entry = xidEntry(xid)
  const nvlink = xid >= 144 && xid <= 150 ? decodeNvlink5(rest) : undefined
  const recovery = xid === 154 ? recoveryIn(rest) : undefined
  const cause = previous === undefined ? undefined : xidEntry(previous)
  const words = wordsOf(rest)
  const hit =
    who.process === undefined && who.pid === undefined
      ? undefined
      : `Affected: ${who.process ?? 'a process'}${who.pid === undefined ? '' : ` (pid ${who.pid} on the host)`}${facts.pci_bus_id === undefined ? '' : `, GPU ${facts.pci_bus_id}`}.`
  const parts = [
    entry.meaning,
    hit ?? (facts.pci_bus_id === undefined ? undefined : `Affected: GPU ${facts.pci_bus_id}.`),
    nvlink?.text,
    recovery === undefined ? undefined : `It now asks for: ${recovery.to}.`,
    earlier === undefined ? undefined : `Xid ${earlier} (${xidEntry(earlier).title}) came before it on the same GPU: likely its cause.`,
    cause === undefined ? undefined : `Cause, named by the driver: Xid ${previous} (${cause.title}).`,
    words === undefined || nvlink !== undefined || cause !== undefined ? undefined : `The driver says: "${words}".`,
    xid === 79 ? linkEvidence(situation().text) : undefined,
    cause !== undefined || nvlink !== undefined || earlier !== undefined ? undefined : causesSentence(entry.causes),
  ]
  const whatToDo = cause ?? entry
  const conditional = recovery === undefined && cause === undefined && /^If (?:it|this) repeats/.test(whatToDo.advice ?? '')
  const remedies = plan(
    cause !== undefined && previous !== undefined && { text: `Look at Xid ${previous} first (${cause.title}): it caused this one.` },
    earlier !== undefined && { text: `Look at Xid ${earlier} first (${xidEntry(earlier).title}): this one follows from it.` },
    recovery?.remedy(facts),
    nvlink?.severity === 'critical' && resetGpu(facts),
    // What to do with the program comes before what else may be the matter.
    recovery === undefined && whatToDo.action.endsWith('-program') && actionsFor(whatToDo.action, facts, situation()).slice(0, 1),
    // "If it repeats" is not what to do first.
    conditional && actionsFor(whatToDo.action, facts, situation()).slice(0, 1),
    whatToDo.advice !== undefined && cause === undefined && earlier === undefined && { text: whatToDo.advice },
    recovery === undefined && actionsFor(whatToDo.action, facts, situation()),
  )
  return {
    kind: 'xid',
    severity: recovery?.severity ?? nvlink?.severity ?? entry.severity,
    title: `Xid ${xid}: ${entry.title}`,
    verdict: parts.filter((part) => part !== undefined).join(' '),
    facts,
    remedies,
    lines: goesOn ? [at, at + 1] : [at],
  }
}

/** An address with a domain; that of the oldest drivers, without one, says too little to name a GPU. */
const address = (text: string | undefined): string | undefined =>
  text !== undefined && /^[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:/.test(text) ? pciBusId(text) : undefined

/** Facts of an Xid line, for families whose fault it explains. */
export function xidFacts(line: string): Facts | undefined {
  const match = XID.exec(line)
  const number = whole(match?.[2])
  if (match === null || number === undefined) return undefined
  return known({ xid: number, pci_bus_id: address(match[1]), ...process(line.slice(match.index + match[0].length)) })
}

function switchXid(at: number, line: string): Recognised | undefined {
  const match = SXID.exec(line)
  const sxid = whole(match?.[2])
  if (match === null || sxid === undefined) return undefined
  const fatal = match[3]?.toLowerCase() === 'fatal'
  const severity: Severity = fatal ? 'critical' : 'warning'
  const link = /\bLink (\d{1,3})\b/i.exec(line.slice(match.index))?.[1]
  const where = `NVSwitch ${address(match[1]) ?? ''}`.trim()
  return {
    kind: 'xid',
    severity,
    title: `SXid ${sxid}: NVSwitch ${fatal ? 'fatal error' : 'error'}`,
    verdict: fatal
      ? `${where} reports a fatal error${link === undefined ? '' : ` on link ${link}`}: the links through it are down, and programs that use several GPUs fail.`
      : `${where} reports an error on ${link === undefined ? 'one of its links' : `link ${link}`}; traffic through it may be disturbed.`,
    facts: known({ sxid, pci_bus_id: address(match[1]) }),
    remedies: plan(
      {
        text: 'See what the Fabric Manager says, and which GPUs report an Xid 74 beside it.',
        command: 'sudo journalctl -u nvidia-fabricmanager -n 50; nvidia-smi nvlink -e',
      },
      fatal && RESET_TOGETHER,
    ),
    lines: [at],
  }
}

function eventXid(at: number, line: string, situation: () => Situation): Recognised | undefined {
  const reported = /\bGPU|nvidia/i.test(line) ? whole(REPORTED.exec(line)?.[1]) : undefined
  const xid = whole(EVENT.exec(line)?.[1]) ?? (reported !== undefined && XID_CODES.has(reported) ? reported : undefined)
  if (xid === undefined) return undefined
  return { ...faultFromNumber(xid, situation()), lines: [at] }
}

function recognise(text: LogText, at: number, situation: () => Situation): Recognised | undefined {
  const line = text[at] ?? ''
  return gpuXid(text, at, line, situation) ?? switchXid(at, line) ?? eventXid(at, line, situation)
}

export const xid: FaultFamily = {
  id: 'xid',
  kinds: ['xid'],
  // None under eight characters: the shortest literal of all families bounds how far the search may skip.
  literals: [
    'VRM: Xid (',
    'Xid (PCI',
    'XidCriticalError: Xid=',
    'XID error',
    'Xid error',
    'XID code',
    'Xid code',
    'reported XID',
    'reported Xid',
    'etected XID',
    'etected Xid',
    'GPU XID ',
    'GPU Xid ',
  ],
  recognise,
}
