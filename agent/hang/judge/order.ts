// Ranks whose sequence of operations over all groups differs from that of the ranks with the same part in the job: a collective
// under a condition, or two in another order. Compared by the number that the recorder gives each operation of a process.
import type { Op } from '../model.ts'
import type { Job } from './job.ts'
import { minority, sidesBy } from './signature.ts'
import { comparable } from '../evidence/ops.ts'

/** Without peers and group names: what every rank of the same part does alike. */
function step(job: Job, op: Op): string {
  const { inputs, outputs } = comparable(op.name)
  return [job.group(op.group)?.desc ?? op.group, op.name, inputs ? op.elements.inputs : '', outputs ? op.elements.outputs : '', op.dtypes].join(' ')
}

type Program = ReadonlyMap<number, string>

/** Ranks with the same part: their programs agree from the first operation that all recorders hold to half of the way to the stop. */
function parts(programs: ReadonlyMap<number, Program>, from: number, to: number): number[][] {
  const key = (program: Program): string => {
    let text = ''
    for (let record = from; record < to; record += 1) text += `${program.get(record) ?? ''}\n`
    return text
  }
  return [...sidesBy([...programs.keys()], (rank) => key(programs.get(rank) ?? new Map())).values()]
}

export type Deviation = { readonly ranks: readonly number[]; readonly record: number }

export function deviatingRanks(job: Job): Deviation | undefined {
  const programs = new Map<number, Program>()
  for (const rank of job.ranks) {
    const ops = job.of(rank)?.ops ?? []
    if (ops.length > 0) programs.set(rank, new Map(ops.map((op) => [op.record, step(job, op)])))
  }
  if (programs.size < 3) return undefined
  const firsts = [...programs.values()].map((program) => Math.min(...program.keys()))
  const from = Math.max(...firsts)
  const heads = [...programs.keys()].map((rank) => job.head(rank)?.record ?? Math.max(...(programs.get(rank)?.keys() ?? [0])) + 1)
  const middle = from + Math.floor((Math.min(...heads) - from) / 2)
  if (middle <= from) return undefined
  const found: Deviation[] = []
  for (const part of parts(programs, from, middle)) {
    const wrong = new Set<number>()
    let first: number | undefined
    const last = Math.max(...part.map((rank) => Math.max(...(programs.get(rank)?.keys() ?? [0]))))
    for (let record = middle; record <= last; record += 1) {
      const left = part.filter((rank) => !wrong.has(rank))
      const few = minority(sidesBy(left, (rank) => programs.get(rank)?.get(record)))
      for (const rank of few ?? []) wrong.add(rank)
      if (few !== undefined) first ??= record
    }
    if (first !== undefined && wrong.size * 2 < part.length) found.push({ ranks: [...wrong].toSorted((a, b) => a - b), record: first })
  }
  return found.length === 0
    ? undefined
    : { ranks: found.flatMap(({ ranks }) => ranks).toSorted((a, b) => a - b), record: Math.min(...found.map(({ record }) => record)) }
}
