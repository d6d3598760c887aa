// Faults of one text, put in order: what to act on first, what followed from it after that, each told once.
import type { Facts } from '../model/facts.ts'
import type { EvidenceLine, Fault } from '../model/fault.ts'
import type { LogKind } from '../model/kinds.ts'
import { logKindOf } from '../model/log-kinds.ts'
import { repeatedKills } from './faults/host-oom/repeated.ts'
import { WAITED_TOO_LONG } from './faults/nccl-error.ts'
import { repeatedXids } from './xid/repeated.ts'

/** Figures as printed carry two or three digits: the same figure printed exactly and rounded is one. */
const near = (a: number, b: number): boolean => Math.abs(a - b) <= Math.max(0.011 * 2 ** 20, 0.011 * Math.max(Math.abs(a), Math.abs(b)))

const isWithin = (path: string, folder: string): boolean => path.startsWith(folder.endsWith('/') ? folder : `${folder}/`)
function agree(a: unknown, b: unknown, key: string): boolean {
  // A folder, and what is in it.
  if (key === 'path' && typeof a === 'string' && typeof b === 'string') return a === b || isWithin(a, b) || isWithin(b, a)
  if (typeof a === 'number' && typeof b === 'number') return key.endsWith('_bytes') ? near(a, b) : a === b
  return typeof a === 'object' || a === b
}

/** The fields that tell two faults of a kind apart; everything else may be stated by one and not by the other. */
const TELLING: readonly (keyof Facts)[] = [
  ...(['gpu_index', 'requested_bytes', 'total_bytes', 'allocated_bytes', 'pid', 'process', 'xid', 'sxid', 'pci_bus_id', 'library', 'path'] as const),
  ...(['rank', 'status', 'source_line', 'batch_from', 'batch_to', 'exit_code', 'http_status', 'from', 'to', 'client_version', 'cuda_error_code'] as const),
]

const sameFault = (a: Fault, b: Fault): boolean =>
  a.kind === b.kind && TELLING.every((key) => a.facts[key] === undefined || b.facts[key] === undefined || agree(a.facts[key], b.facts[key], key))

const EVIDENCE_LIMIT = 12

function mergeEvidence(a: readonly EvidenceLine[], b: readonly EvidenceLine[]): readonly EvidenceLine[] {
  if (a.length >= EVIDENCE_LIMIT) return a
  const seen = new Set(a.map((line) => line.line))
  return [...a, ...b.filter((line) => !seen.has(line.line))].slice(0, EVIDENCE_LIMIT)
}

const reported = (fault: Fault): number => Object.keys(fault.facts).length

/** Its own line names the cause. */
const namesCause = ({ facts }: Fault): number => (facts.caused_by_xid === undefined ? 0 : 1)

/** Who only guesses says so as a warning. */
const sure = ({ severity }: Fault): number => (severity === 'critical' ? 1 : 0)

/** The one that names the cause speaks, or else that states more, or is surer; figures that only the other has are added. */
function merged(first: Fault, second: Fault): Fault {
  if (first.evidence.length >= EVIDENCE_LIMIT && Object.keys(second.facts).length === 0) return first
  const later = namesCause(second) - namesCause(first) || reported(second) - reported(first) || sure(second) - sure(first)
  const [richer, poorer] = later > 0 ? [second, first] : [first, second]
  return { ...richer, facts: { ...poorer.facts, ...richer.facts }, evidence: mergeEvidence(first.evidence, second.evidence) }
}

/** So many different faults of a kind are told from one text: an endless log stays bounded. */
const PER_KIND = 64

export type FaultCollection = { readonly add: (fault: Fault) => void; readonly ordered: () => readonly Fault[] }

/** Gathers the faults of one text as they are found. */
export function gatherFaults(): FaultCollection {
  const faults: Fault[] = []
  const counts = new Map<LogKind, number>()
  return {
    add(fault) {
      const known = faults.findIndex((other) => sameFault(other, fault))
      const same = faults[known]
      if (same !== undefined) {
        faults[known] = merged(same, fault)
        return
      }
      const count = counts.get(fault.kind) ?? 0
      if (count >= PER_KIND) {
        // The newest of them may be what ended the job: it takes the place of the one before it.
        faults.splice(
          faults.findLastIndex(({ kind }) => kind === fault.kind),
          1,
        )
      } else counts.set(fault.kind, count + 1)
      faults.push(fault)
    },
    ordered: () => rootFirst(repeatedKills(repeatedXids(acrossRanks(faults)))),
  }
}

/** Few that do not report a wait which most others report are the first suspects. Those above the highest are not known. */
function silentBetween({ title }: Fault, ranks: readonly number[]): string {
  const highest = ranks.at(-1) ?? 0
  const silent = highest > 64 ? [] : Array.from({ length: highest }, (_, rank) => rank).filter((rank) => !ranks.includes(rank))
  return title !== WAITED_TOO_LONG || ranks.length >= PER_KIND || silent.length === 0 || silent.length * 2 > ranks.length
    ? ''
    : silent.length === 1
      ? ` Rank ${silent[0]} is not among them: look first at what it did.`
      : ` Ranks ${silent.join(', ')} are not among them: look first at what they did.`
}

/** Ranks that NCCL stops report the same, each for itself: one fault, with the ranks that were named. */
function acrossRanks(faults: readonly Fault[]): readonly Fault[] {
  const groups = Map.groupBy(
    faults.filter(({ kind, facts }) => kind === 'nccl_error' && facts.rank !== undefined),
    ({ title }) => title,
  )
  return faults.flatMap((fault) => {
    const same = fault.kind === 'nccl_error' && fault.facts.rank !== undefined ? groups.get(fault.title) : undefined
    if (same === undefined) return [fault]
    if (same[0] !== fault) return []
    const ranks = [...new Set(same.flatMap(({ facts: { rank } }) => rank ?? []))].toSorted((a, b) => a - b)
    if (ranks.length < 2) return same
    return [
      {
        ...fault,
        title: `${fault.title} (${ranks.length} ranks)`,
        verdict: `${fault.verdict} ${ranks.length} ranks report it: ${ranks.join(', ')}.${silentBetween(fault, ranks)}`,
        evidence: same.map(({ evidence }) => evidence).reduce(mergeEvidence),
      },
    ]
  })
}

const firstLineOf = (fault: Fault): number => Math.min(...fault.evidence.map((line) => line.line), Number.MAX_SAFE_INTEGER)

/** One line may tell of an error and of how the program got round it: the latter is what happened. */
const handled = ({ fault }: { readonly fault: Fault }): number => (logKindOf(fault.kind).handled === true ? 1 : 0)

/** Causes before consequences, else in the order of their lines. */
export function rootFirst(faults: readonly Fault[]): readonly Fault[] {
  const kinds: ReadonlySet<string> = new Set(faults.map((fault) => fault.kind))
  const depth = (kind: LogKind, seen: readonly LogKind[] = []): number => {
    const causes = (logKindOf(kind).afterInText ?? []).filter((cause): cause is LogKind => kinds.has(cause) && !seen.some((one) => one === cause))
    return causes.length === 0 ? 0 : 1 + Math.max(...causes.map((cause) => depth(cause, [...seen, kind])))
  }
  const xids = new Set(faults.map(({ facts }) => facts.xid))
  /** The driver names another of these faults as its cause. */
  const follows = ({ facts: { caused_by_xid: cause, xid } }: Fault): number => (cause !== undefined && cause !== xid && xids.has(cause) ? 0.5 : 0)
  return faults
    .map((fault, index) => ({ fault, index, depth: depth(fault.kind) + follows(fault), line: firstLineOf(fault) }))
    .sort((a, b) => a.depth - b.depth || a.line - b.line || handled(b) - handled(a) || a.index - b.index)
    .map((entry) => entry.fault)
}
