// One limit, several processes killed in a row: one fault, which names the others, instead of the same advice for each.
import type { EvidenceLine, Fault } from '../../../model/fault.ts'

/** From so many kills on they are one fault; two stay two. */
const MANY = 3
const SHOWN = 8
const EVIDENCE_LIMIT = 12

const sameLimit = ({ kind, title, facts, remedies }: Fault): string | undefined =>
  kind === 'host_oom_kill' && facts.pid !== undefined ? `${title} ${JSON.stringify(remedies)}` : undefined

function asOne(first: Fault, same: readonly Fault[]): Fault {
  const others = same.slice(1).map(({ facts: { process, pid } }) => `${process ?? 'a process'} (pid ${pid})`)
  const lines = new Map<number, EvidenceLine>(same.flatMap(({ evidence }) => evidence).map((line) => [line.line, line]))
  return {
    ...first,
    verdict: `${first.verdict} It killed ${others.length} more: ${others.slice(0, SHOWN).join(', ')}${others.length > SHOWN ? ` and ${others.length - SHOWN} others` : ''}.`,
    evidence: [...lines.values()].slice(0, EVIDENCE_LIMIT),
  }
}

/** Faults of one text, with the kills of one limit told once, where the first of them stood. */
export function repeatedKills(faults: readonly Fault[]): readonly Fault[] {
  const groups = Map.groupBy(faults, sameLimit)
  return faults.flatMap((fault) => {
    const limit = sameLimit(fault)
    const same = limit === undefined ? undefined : groups.get(limit)
    if (same === undefined || same.length < MANY) return [fault]
    return same[0] === fault ? [asOne(fault, same)] : []
  })
}
