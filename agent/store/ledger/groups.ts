// What groups of jobs used, of two stores: the jobs know how many runs there were and how they ended, the ledger what was used within the time asked for.
import type { JobGroup, JobGroupRow } from '../../model/job.ts'
import type { UseSum } from './file.ts'

const MIB = 2 ** 20

function withUse(row: JobGroupRow, { use }: UseSum): JobGroupRow {
  const { heldMs, activeMs, idleMs, mibSeconds, joules, tokens } = use
  return {
    ...row,
    gpu_seconds: { active: activeMs / 1_000, idle: idleMs / 1_000, lost: row.gpu_seconds.lost },
    energy_joules: joules,
    held_seconds: heldMs / 1_000,
    memory_byte_seconds: mibSeconds * MIB,
    ...(tokens === 0 ? {} : { tokens }),
  }
}

/** `runs`: of the jobs' store, whose use counts where the ledger has none: of before there was one. */
export function groupsWithUse(by: JobGroup, runs: readonly JobGroupRow[], sums: readonly UseSum[]): readonly JobGroupRow[] {
  if (sums.length === 0) return runs
  const left = new Map(sums.map((sum) => [`${sum.unheld ? 1 : 0}${sum.key ?? ''}`, sum]))
  const rows = runs.map((row) => {
    const sum = left.get(`0${row.key ?? ''}`)
    left.delete(`0${row.key ?? ''}`)
    return sum === undefined ? row : withUse(row, sum)
  })
  for (const sum of left.values()) {
    const { key, unheld } = sum
    const row = {
      by,
      ...(key === undefined ? {} : { key }),
      ...(unheld ? { unheld: true as const } : {}),
      runs: 0,
      running: 0,
      outcomes: {},
      gpu_seconds: { active: 0, idle: 0, lost: 0 },
    }
    rows.push(withUse(row, sum))
  }
  const used = ({ gpu_seconds: { active, idle } }: JobGroupRow): number => active + idle
  const first = (row: JobGroupRow): number => (row.unheld === true ? 1 : 0)
  return rows.toSorted((a, b) =>
    by === 'gpu' ? Number(a.key ?? Infinity) - Number(b.key ?? Infinity) : first(a) - first(b) || used(b) - used(a) || b.runs - a.runs,
  )
}
