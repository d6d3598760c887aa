// The same Xid of the same program, again: for another process of it, or on another GPU. One fault, which counts them.
import type { EvidenceLine, Fault } from '../../model/fault.ts'

const SAID = /The driver says: "([^"]{4,200})"/
const EVIDENCE_LIMIT = 12
const SHOWN = 8

/** The firmware of one GPU does not answer: each program that asks it meets the same fault. */
const FIRMWARE: ReadonlySet<number> = new Set([119, 120])
/** Programs that were merely asking the driver: that several of them met it says nothing. */
const sameProgram = ({ kind, title, facts }: Fault): string | undefined =>
  kind !== 'xid' || (facts.process === undefined && (facts.pid === undefined || facts.pci_bus_id === undefined))
    ? undefined
    : FIRMWARE.has(facts.xid ?? 0) && facts.pci_bus_id !== undefined
      ? `${title} ${facts.pci_bus_id}`
      : // Older drivers name no program: then the GPU tells that it is the same trouble.
        `${title} ${facts.process ?? facts.pci_bus_id} ${facts.caused_by_xid ?? ''}`

const listed = (items: readonly string[]): string =>
  items.length > SHOWN ? `${items.slice(0, SHOWN).join(', ')} and ${items.length - SHOWN} more` : items.join(', ')

function asOne(first: Fault, same: readonly Fault[]): Fault {
  const gpus = new Set(same.map(({ facts }) => facts.pci_bus_id))
  const programs = new Set(same.map(({ facts }) => facts.process))
  const pids = same.map(({ facts: { process, pid } }) => (programs.size > 1 && process !== undefined ? `${process} (pid ${pid ?? 'not named'})` : String(pid)))
  const said = new Set(same.map(({ verdict }) => SAID.exec(verdict)?.[1]))
  const where =
    gpus.size > 1
      ? `on ${gpus.size} GPUs: ${listed(same.map(({ facts }) => `${facts.pci_bus_id ?? 'one that is not named'}${facts.pid === undefined ? '' : ` (pid ${facts.pid})`}`))}`
      : `on this GPU: processes ${listed(pids)}${said.size === 1 && !said.has(undefined) ? ', each time with the same words' : ''}`
  const lines = new Map<number, EvidenceLine>(same.flatMap(({ evidence }) => evidence).map((line) => [line.line, line]))
  return {
    ...first,
    verdict: `${first.verdict} It came ${same.length} times ${where}.`,
    evidence: [...lines.values()].slice(0, EVIDENCE_LIMIT),
  }
}

/** Faults of one text, with those Xids told once, where the first of them stood. */
export function repeatedXids(faults: readonly Fault[]): readonly Fault[] {
  const groups = Map.groupBy(faults, sameProgram)
  return faults.flatMap((fault) => {
    const program = sameProgram(fault)
    const same = program === undefined ? undefined : groups.get(program)
    if (same === undefined || same.length < 2) return [fault]
    return same[0] === fault ? [asOne(fault, same)] : []
  })
}
