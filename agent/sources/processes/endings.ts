// Processes with which a job began and that have gone: whoever started the job is asked how it ended before its end is reported.
import type { JobRoot } from '../../model/job.ts'
import { askSlurm } from './slurm.ts'
import { askSystemd } from './systemd.ts'
import type { Answer, Ask, ReportedEnd } from './reported-end.ts'

export type Endings = {
  /** Those that have gone and of which nothing more will be known. Each is given once. */
  readonly settled: (gone: readonly JobRoot[], t: number) => readonly { readonly root: JobRoot; readonly reported?: ReportedEnd }[]
}

/** Of a Slurm job that goes on with other steps. */
const AGAIN_MS = 5_000
/** A state that changes does so within a moment. */
const OFTEN_MS = 10_000
/** A service that does not get to an end is told without it. */
const MAX_UNIT_MS = 10_000
/** One who does not answer is asked for so long. */
const MAX_SILENT_MS = 60_000
const MAX_OPEN = 500

type Open = { readonly root: JobRoot; readonly since: number; askedAt: number; isAsking: boolean; answer: Answer; isAnswered: boolean }
const keyOf = ({ pid, startTicks }: JobRoot): string => `${pid}:${startTicks}`

export function createEndings(ask: Ask | undefined): Endings {
  const open = new Map<string, Open>()
  let last: Promise<unknown> = Promise.resolve()
  /** One at a time: jobs end in swarms. */
  const inTurn: Ask = (command, args) => {
    const next = last.then(() => (ask === undefined ? { kind: 'absent' as const, errno: 'not asked' } : ask(command, args)))
    last = next
    return next
  }
  const askFor = async (one: Open): Promise<void> => {
    const { slurmJob, unit, pid } = one.root
    one.isAsking = true
    one.answer = slurmJob !== undefined ? await askSlurm(inTurn, slurmJob) : unit !== undefined ? await askSystemd(inTurn, unit, pid) : undefined
    one.isAsking = false
    one.isAnswered = true
  }
  const isAwaited = ({ root, since, isAnswered, answer }: Open, t: number): boolean =>
    !isAnswered || (answer === 'silent' && t - since < MAX_SILENT_MS) || (answer === 'running' && (root.slurmJob !== undefined || t - since < MAX_UNIT_MS))
  return {
    settled(gone, t) {
      const found: { readonly root: JobRoot; readonly reported?: ReportedEnd }[] = []
      const keys = new Set(gone.map(keyOf))
      // The run was closed otherwise meanwhile.
      for (const key of open.keys()) if (!keys.has(key)) open.delete(key)
      for (const root of gone) {
        if (ask === undefined || (root.slurmJob === undefined && root.unit === undefined) || (open.size >= MAX_OPEN && !open.has(keyOf(root)))) {
          found.push({ root })
          continue
        }
        const one = open.get(keyOf(root)) ?? { root, since: t, askedAt: Number.NEGATIVE_INFINITY, isAsking: false, answer: undefined, isAnswered: false }
        open.set(keyOf(root), one)
        if (!one.isAsking && !isAwaited(one, t)) {
          open.delete(keyOf(root))
          found.push({ root, ...(typeof one.answer === 'object' ? { reported: one.answer } : {}) })
        } else if (!one.isAsking && t - one.askedAt >= (t - one.since < OFTEN_MS ? 0 : AGAIN_MS)) {
          one.askedAt = t
          void askFor(one)
        }
      }
      return found
    },
  }
}
