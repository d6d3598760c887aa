// Xids and SXids: what the NVIDIA driver writes to the kernel log when a GPU or an NVSwitch reports an error.
import type { Facts } from '../../model/facts.ts'
import type { Severity } from '../../model/severity.ts'
import type { Situation } from '../situation/situation.ts'
import { actionsFor } from '../xid/actions.ts'
import { XID_CODES, xidEntry } from '../xid/catalogue.ts'
import { continuation, exceptionOf, processOf, together, wordsOf } from '../xid/message.ts'
import { decodeNvlink5 } from '../xid/nvlink5.ts'
import { recoveryIn } from '../xid/recovery.ts'
import { repairIn } from '../xid/repair.ts'
import { faultFromNumber } from '../xid/fault-from-number.ts'
import type { FaultFamily, LogText, Recognised } from './family.ts'
import { linkEvidence, linkFailed } from './parts/pcie.ts'
import { plan, type Piece } from './remedies/plan.ts'
import { REBOOT, RESET_TOGETHER, resetGpu } from './remedies/gpu.ts'
import { around, known, pciBusId, whole, wrapped } from './parts/window.ts'
import { causesSentence } from '../xid/causes-sentence.ts'

// Very old drivers leave "PCI:" out, and the domain too; MIG adds the instance.
const ADDRESS = '\\((?:PCI:)?((?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2,4}:[0-9a-fA-F]{2}(?:\\.[0-7])?|\\.{3})(?: GPU-I:(\\d{1,3}))?(?: GPU-CI:\\d{1,3})?\\)'
const XID = new RegExp(`\\bXid ${ADDRESS}: (\\d{1,5})(?![\\w.:])`)
const SXID = new RegExp(`\\bSXid ${ADDRESS}: (\\d{4,6})(?![\\w.:]),? ?(Non-fatal|Fatal)?`, 'i')
// go-nvml's event, as the Kubernetes device plugin writes it.
const EVENT = /\bXidCriticalError: Xid=(\d{1,5})\b/
// Other monitors' words; the GPU must be named, since data bases count their transactions so too.
const REPORTED = /\bX(?:id|ID)(?: [Ee]rrors?)?(?: [Cc]ode)?[ :=#]{1,3}(\d{1,3})\b/

/** The GPU that they name by its address. */
const NAMED = /\b((?:[\da-f]{4,8}:)[\da-f]{2}:[\da-f]{2}(?:\.[0-7])?)(?![\w:])/i

const CAUSED_BY = /caused by previous Xid (\d{1,5})/

/** The other Xids of the same GPU in the lines above, the nearest first. */
function xidsBefore(text: LogText, at: number, gpu: string | undefined): readonly number[] {
  const found: number[] = []
  for (let line = at - 1; line >= 0 && line >= at - 40; line--) {
    const match = XID.exec(text[line] ?? '')
    const xid = match !== null && match[1] === gpu && together(text[line] ?? '', text[at] ?? '') ? whole(match[3]) : undefined
    if (xid !== undefined) found.push(xid)
  }
  return found
}
/** After these nothing works on the GPU until it is reset or the host rebooted. */
const FINAL: ReadonlySet<number> = new Set([48, 62, 79, 95, 119, 120, 143, 158, 167, 169])
/** The Xid that this one follows from, as far as the lines above tell. */
function earlierXid(text: LogText, at: number, gpu: string | undefined, xid: number): number | undefined {
  const others = xidsBefore(text, at, gpu).filter((one) => one !== 45 && one !== xid && one !== 154)
  // The driver cleans up (45) after a critical one; a note that a repair was recorded is between the two.
  if (xid === 45) return others.find((one) => xidEntry(one).severity === 'critical') ?? others[0]
  // The GPU could not leave what had failed before.
  if (xid === 109) return others.find((one) => one !== 43)
  if (xid === 43) return others.find((one) => FINAL.has(one) || xidEntry(one).action === 'check-program')
  return xid === 154 || FINAL.has(xid) || xidEntry(xid).causes[0] === 'hardware'
    ? undefined
    : others.find((one) => FINAL.has(one) || (xid === 31 && one === 32))
}

/** What the driver asks for behind a fault that ends the GPU's work: an Xid 154 of the same GPU in the lines below. Said by the driver, it comes first. */
function askedAfter(text: LogText, at: number, gpu: string | undefined, xid: number, facts: Facts): Piece {
  if (!FINAL.has(xid)) return undefined
  const lost = [xid, ...xidsBefore(text, at, gpu)].includes(79)
  for (const line of text.slice(at + 1, at + 20)) {
    const match = XID.exec(line)
    const recovery = match?.[1] === gpu && match?.[3] === '154' && together(text[at] ?? '', line) ? recoveryIn(line) : undefined
    // A GPU off the bus cannot be reset.
    if (recovery === undefined || recovery.severity !== 'critical' || (lost && /reset/i.test(recovery.to))) continue
    const { text: what, command } = recovery.remedy(facts)
    return { text: `The driver asks for it (Xid 154: ${recovery.to}). ${what}`, ...(command === undefined ? {} : { command }) }
  }
  return undefined
}

/** What the Xids beside a 48 say of the memory that it means. */
function whichMemory(text: LogText, at: number, gpu: string | undefined): string | undefined {
  const after = text.slice(at + 1, at + 20).flatMap((line) => {
    const match = XID.exec(line)
    const xid = match !== null && match[1] === gpu && together(text[at] ?? '', line) ? whole(match[3]) : undefined
    return xid === undefined ? [] : [xid]
  })
  const beside = [...xidsBefore(text, at, gpu), ...after]
  const of = (...numbers: readonly number[]): number | undefined => beside.find((one) => numbers.includes(one))
  const failed = of(64)
  if (failed !== undefined) return 'Xid 64 beside it: the driver could not note the bad memory for repair. Follow that one.'
  const sram = of(172)
  if (sram !== undefined) return 'Xid 172 beside it: on-chip memory, which has no spare rows. If the SRAM threshold flag is set, run the field diagnostics.'
  const dram = of(63, 160, 171)
  return dram === undefined ? undefined : `Xid ${dram} beside it: the bad memory is DRAM, and a spare row (or page) takes its place at the reset below.`
}

/** No address was wrong: the code itself was. */
const BAD_CODE =
  'The GPU met an instruction that it cannot run: a kernel built for another GPU, code that was overwritten, or, less often, a fault of the GPU or its memory.'

/** Units that no kernel runs on: CUDA's tools for finding a kernel do not reach them. */
const MEDIA: Readonly<Record<string, string>> = { NVDEC: 'video decoder', NVENC: 'video encoder', NVJPG: 'JPEG decoder', OFA: 'optical flow unit' }
function mediaUnit(rest: string, { process, pid }: Facts): Piece {
  const name = /\bENGINE (NVDEC|NVENC|NVJPG|OFA)/.exec(rest)?.[1]
  const who = process ?? (pid === undefined ? 'the program' : `process ${pid}`)
  return name === undefined
    ? undefined
    : {
        text: `The fault is in the ${MEDIA[name]} (${name}): restart ${who}. If it comes back, update what decodes or encodes there (FFmpeg, GStreamer, the VA-API or VDPAU driver), then the GPU's driver.`,
      }
}

/** They call the driver from time to time: what fails meanwhile is not their doing. Names are cut at 15 characters. */
const CALLERS = /^(?:nvidia-smi|nvtop|nvitop|gpustat|btop|nvidia-persiste|nvidia-bug-repo|nv-hostengine|dcgm|modprobe|kworker|irq\/|nv_queue|telegraf|netdata)/

/** Where the host is rebooted no reset follows. */
function afterwards(pieces: readonly Piece[], reboots: boolean): readonly Piece[] {
  if (!reboots) return pieces
  return pieces.flatMap((piece): readonly Piece[] => {
    if (piece === undefined || piece === false || !('text' in piece)) return [piece]
    if (piece.command?.includes('--gpu-reset') === true) return []
    return [{ ...piece, text: piece.text.replace('After the reset', 'After the reboot') }]
  })
}

function gpuXid(text: LogText, at: number, line: string, situation: () => Situation): Recognised | undefined {
  const match = XID.exec(line)
  const xid = whole(match?.[3])
  if (match === null || xid === undefined) return undefined
  const end = match.index + match[0].length
  const more = continuation(text, at)
  const rest = more > 0 ? wrapped(text, at, more).slice(end) : line.slice(end)
  const who = processOf(rest)
  const previous = whole(CAUSED_BY.exec(rest)?.[1])
  const facts = known({ xid, pci_bus_id: address(match[1]), caused_by_xid: previous, ...who })
  const earlier = previous === undefined ? earlierXid(text, at, match[1], xid) : undefined
  const final = earlier !== undefined && FINAL.has(earlier) && xid !== 45
  const entry = xidEntry(xid)
  const nvlink = xid >= 144 && xid <= 150 ? decodeNvlink5(rest) : undefined
  const recovery = xid === 154 ? recoveryIn(rest) : undefined
  const cause = previous === undefined ? undefined : xidEntry(previous)
  const words = xid === 13 ? exceptionOf(wordsOf(rest), text, at) : wordsOf(rest)
  const repair = xid === 64 && words !== undefined ? repairIn(words) : undefined
  const link = xid !== 154 && earlier === undefined && linkFailed(around(text, at, 30, 0), facts.pci_bus_id)
  const lost = xid === 154 && xidsBefore(text, at, match[1]).includes(79)
  const mig = match[2] === undefined ? '' : ` (MIG instance ${Number(match[2])})`
  const what = xid === 48 ? whichMemory(text, at, match[1]) : undefined
  const caller = entry.causes[0] !== 'program' && CALLERS.test(who.process ?? '')
  const hit =
    caller || (who.process === undefined && who.pid === undefined)
      ? undefined
      : `Affected: ${who.process ?? 'a process'}${who.pid === undefined ? '' : ` (pid ${who.pid} on the host)`}${facts.pci_bus_id === undefined ? '' : `, GPU ${facts.pci_bus_id}${mig}`}.`
  const parts = [
    repair === undefined
      ? xid === 13 && /Illegal Instruction|Invalid (?:Opcode|PC)/i.test(words ?? '')
        ? BAD_CODE
        : entry.meaning
      : `The driver could not repair bad GPU memory. ${repair.says}`,
    hit ?? (facts.pci_bus_id === undefined ? undefined : `Affected: GPU ${facts.pci_bus_id}${mig}.`),
    caller ? `${who.process}${who.pid === undefined ? '' : ` (pid ${who.pid} on the host)`} only called the driver at that moment.` : undefined,
    nvlink?.text,
    recovery === undefined ? undefined : `It now asks for: ${recovery.to}.`,
    earlier === undefined ? undefined : `Xid ${earlier} (${xidEntry(earlier).title}) came before it on the same GPU: likely its cause.`,
    cause === undefined ? undefined : `Cause, named by the driver: Xid ${previous} (${cause.title}).`,
    words === undefined || nvlink !== undefined || recovery !== undefined || cause !== undefined ? undefined : `The driver says: "${words}".`,
    (xid === 79 ? linkEvidence(situation().text) : undefined) ??
      (link ? 'The PCIe link to this GPU had an uncorrected error (AER) before it: likely the cause.' : undefined),
    lost ? 'The GPU is off the bus (Xid 79 before it), so it cannot be reset: the host must be rebooted.' : undefined,
    cause !== undefined || nvlink !== undefined || earlier !== undefined || link || xid === 154 ? undefined : causesSentence(entry.causes),
  ]
  const unit = mediaUnit(rest, facts)
  const asked = askedAfter(text, at, match[1], xid, facts)
  // The driver wants more than the reset that is the rule after this Xid.
  const reboots = asked !== undefined && asked !== false && 'command' in asked && asked.command === REBOOT.command
  const whatToDo = cause ?? entry
  const conditional = recovery === undefined && cause === undefined && /^If (?:it|this) (?:repeats|returns|comes back)|^If "/.test(whatToDo.advice ?? '')
  const remedies = plan(
    cause !== undefined && previous !== undefined && { text: `Look at Xid ${previous} first (${cause.title}): it caused this one.` },
    earlier !== undefined && { text: `Look at Xid ${earlier} first (${xidEntry(earlier).title}): this one follows from it.` },
    lost ? REBOOT : recovery?.remedy(facts),
    asked,
    repair?.remedies(facts),
    link && xid !== 79 && { text: 'See to the link first: seating, riser or cable, and power of the card.' },
    nvlink?.severity === 'critical' && resetGpu(facts),
    unit,
    // What to do with the program comes before what else may be the matter.
    recovery === undefined &&
      !final &&
      unit === undefined &&
      whatToDo.action.endsWith('-program') &&
      actionsFor(whatToDo.action, facts, situation()).slice(0, 1),
    // "If it repeats" is not what to do first.
    conditional && !final && actionsFor(whatToDo.action, facts, situation()).slice(0, 1),
    whatToDo.advice !== undefined &&
      cause === undefined &&
      earlier === undefined &&
      repair === undefined &&
      !(reboots && whatToDo.advice.startsWith('A reset ')) && {
        text: what ?? whatToDo.advice,
        ...(xid === 74 ? { command: 'nvidia-smi nvlink -e; nvidia-smi nvlink -s' } : {}),
      },
    recovery === undefined && !lost && !final && afterwards(actionsFor(whatToDo.action, facts, situation()).slice(unit === undefined ? 0 : 1), reboots),
  )
  return {
    kind: 'xid',
    severity: recovery?.severity ?? nvlink?.severity ?? entry.severity,
    title: `Xid ${xid}: ${entry.title}`,
    verdict: parts.filter((part) => part !== undefined).join(' '),
    facts,
    remedies,
    lines: Array.from({ length: more + 1 }, (_, line) => at + line),
  }
}

/** An address with a domain; that of the oldest drivers, without one, says too little to name a GPU. */
const address = (text: string | undefined): string | undefined =>
  text !== undefined && /^[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:/.test(text) ? pciBusId(text) : undefined

/** Facts of an Xid line, for families whose fault it explains. */
export function xidFacts(line: string): Facts | undefined {
  const match = XID.exec(line)
  const number = whole(match?.[3])
  if (match === null || number === undefined) return undefined
  return known({ xid: number, pci_bus_id: address(match[1]), ...processOf(line.slice(match.index + match[0].length)) })
}

/** Lines in which the switch adds registers to what it has said, or is about to say. */
const REGISTERS = /\bSXid \([^)]{3,40}\): \d{4,6}, (?:Data \{|Severity \d)/
/** Of no consequence by the Fabric Manager user guide, appendix D.4. */
const HARMLESS_SXIDS: ReadonlySet<number> = new Set([22013])

function switchXid(text: LogText, at: number, line: string): Recognised | undefined {
  const match = SXID.exec(line)
  const sxid = whole(match?.[3])
  if (match === null || sxid === undefined) return undefined
  if (
    REGISTERS.test(line) &&
    [...text.slice(Math.max(0, at - 3), at), ...text.slice(at + 1, at + 4)].some((one) => whole(SXID.exec(one)?.[3]) === sxid && !REGISTERS.test(one))
  )
    return undefined
  const fatal = match[4]?.toLowerCase() === 'fatal'
  const harmless = !fatal && HARMLESS_SXIDS.has(sxid)
  const severity: Severity = fatal ? 'critical' : harmless ? 'info' : 'warning'
  const link = /\bLink (\d{1,3})\b/i.exec(line.slice(match.index))?.[1]
  const words = wordsOf(line.slice(match.index + match[0].length).replace(/^[\s,]{1,4}Link \d{1,3}/i, ''))
  const where = `NVSwitch ${address(match[1]) ?? ''}`.trim()
  return {
    kind: 'xid',
    severity,
    title: `SXid ${sxid}: NVSwitch ${fatal ? 'fatal error' : harmless ? 'event without consequence' : 'error'}`,
    verdict: `${
      harmless
        ? `${where} reports an event on ${link === undefined ? 'one of its links' : `link ${link}`} that NVIDIA says can be ignored: it disturbs no traffic.`
        : fatal
          ? `${where} reports a fatal error${link === undefined ? '' : ` on link ${link}`}: the links through it are down, and programs that use several GPUs fail.`
          : `${where} reports an error on ${link === undefined ? 'one of its links' : `link ${link}`}; traffic through it may be disturbed.`
    }${words === undefined ? '' : ` It says: "${words}".`}`,
    facts: known({ sxid, pci_bus_id: address(match[1]) }),
    remedies: plan(
      {
        text: harmless
          ? 'Nothing is to be done. If programs fail all the same, look for other errors of the links.'
          : 'See what the Fabric Manager says, and which GPUs report an Xid 74 beside it.',
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
  const [uuid, pci] = [/\bGPU-[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/.exec(line)?.[0], NAMED.exec(line)?.[1]]
  const index = uuid === undefined && pci === undefined ? whole(/\b(?:GPU|gpu|device|Device)(?: |=|: ?|#)(\d{1,2})\b(?![.:/])/.exec(line)?.[1]) : undefined
  return { ...faultFromNumber(xid, situation(), known({ pci_bus_id: address(pci), gpu_index: index }), uuid), lines: [at] }
}

function recognise(text: LogText, at: number, situation: () => Situation): Recognised | undefined {
  const line = text[at] ?? ''
  return gpuXid(text, at, line, situation) ?? switchXid(text, at, line) ?? eventXid(at, line, situation)
}

export const xid: FaultFamily = {
  id: 'xid',
  kinds: ['xid'],
  // None under eight characters: the shortest literal of all families bounds how far the search may skip.
  literals: [
    'VRM: Xid (',
    'Xid (PCI',
    'XidCriticalError: Xid=',
    'error (XID ',
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
