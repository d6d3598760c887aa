// Lines of the kernel drivers of AMD and Intel GPUs: which card, which program, whose driver. Several cards may speak at once.
import type { Facts } from '../../../model/facts.ts'
import { known, pciBusId, whole } from './window.ts'
import type { Seen } from './rules.ts'

const CARD = /\b(?:amdgpu|i915|xe) ([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])/i
const PROCESS =
  /[Pp]rocess (?:information: process )?(?!pid |information: )(\S.{0,39}?) pid (\d{1,10})|\bin ([\w.:-]{1,40}) \[(\d{1,10})\]|\] ([\w.-]{1,40})\[(\d{1,10})\] context reset/

/** Its name is lost where its first thread has ended: "for process  pid 1641209 thread QuakeChamp:cs0 pid 1642246". */
const NAMELESS = /[Pp]rocess (?:information: process )? ?pid ([1-9]\d{0,9})(?: thread ([\w.-]{1,40})(?::\w{1,8})? pid \d)?/

/** The lines around the one that was hit, without those of other cards. */
export function ofThisCard({ text, at }: Seen, before: number, after: number): string {
  const own = CARD.exec(text[at] ?? '')?.[1]
  return text
    .slice(Math.max(0, at - before), at + after + 1)
    .filter((line) => own === undefined || (CARD.exec(line)?.[1] ?? own) === own)
    .join('\n')
}

/** Card and program; pid 0 is the kernel's own. */
export function drmFacts(lines: string): Facts {
  const pci = CARD.exec(lines)?.[1]
  const who = PROCESS.exec(lines)
  const nameless = who === null ? NAMELESS.exec(lines) : null
  const pid = whole(who?.[2] ?? who?.[4] ?? who?.[6] ?? nameless?.[1])
  const process = (who?.[1] ?? who?.[3] ?? who?.[5] ?? nameless?.[2])?.trim()
  return known({ pci_bus_id: pci === undefined ? undefined : pciBusId(pci), ...(pid === 0 ? {} : { process, pid }) })
}

export type DrmDriver = 'amdgpu' | 'i915' | 'xe'
export const driverOf = (lines: string): DrmDriver => (/\bxe\b|\[xe\]/.test(lines) ? 'xe' : /\bi915\b/.test(lines) ? 'i915' : 'amdgpu')
/** What the driver logged, newest last. */
export const driverLines = (driver: DrmDriver, lines = 60): string =>
  `sudo dmesg -T | grep -E '${driver === 'amdgpu' ? 'amdgpu|amdkfd' : `${driver} `}' | tail -n ${lines}`
export const atCard = ({ pci_bus_id: pci }: Facts): string => (pci === undefined ? 'the GPU' : `the GPU at ${pci}`)
