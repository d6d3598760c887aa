// A report of the doctor, taken apart for its page: what is to be mended, and how each group of checks stands. Pure.
import type { CheckGroup, CheckReport, CheckStatus, DoctorReport, Finding } from '../../../../agent/model/doctor.ts'
import { isObject } from '../connection/api.ts'

const isFinding = (value: unknown): value is Finding => isObject(value) && typeof value['status'] === 'string' && typeof value['summary'] === 'string'
const isCheck = (value: unknown): value is CheckReport =>
  isObject(value) &&
  ['id', 'group', 'title', 'status'].every((key) => typeof value[key] === 'string') &&
  Array.isArray(value['findings']) &&
  value['findings'].every(isFinding)
const isReport = (value: unknown): value is DoctorReport =>
  isObject(value) &&
  value['version'] === 1 &&
  ['t', 'duration_ms'].every((key) => typeof value[key] === 'number') &&
  isObject(value['counts']) &&
  Array.isArray(value['checks']) &&
  value['checks'].every(isCheck)

export function parseReport(value: unknown): DoctorReport {
  if (!isReport(value)) throw new Error(`doctor: must be a report, not ${JSON.stringify(value)?.slice(0, 80)}`)
  return value
}

/** What one check complains of; several containers or GPUs with the same trouble are told once, with all their names. */
export type Complaint = { readonly check: CheckReport; readonly finding: Finding; readonly subjects: readonly string[] }

function merged(check: CheckReport, status: CheckStatus): readonly Complaint[] {
  const bySaying = new Map<string, { readonly finding: Finding; readonly subjects: string[] }>()
  for (const finding of check.findings) {
    if (finding.status !== status) continue
    const { subject, ...saying } = finding
    const key = JSON.stringify(saying)
    const known = bySaying.get(key)
    if (known === undefined) bySaying.set(key, { finding, subjects: subject === undefined ? [] : [subject] })
    else if (subject !== undefined) known.subjects.push(subject)
  }
  return [...bySaying.values()].map(({ finding, subjects }) => ({ check, finding, subjects }))
}

/** All that is to be mended: what failed, then what is odd, each in the order of the groups. */
export const complaints = ({ checks }: DoctorReport): readonly Complaint[] =>
  (['fail', 'warn'] as const).flatMap((status) => checks.flatMap((check) => merged(check, status)))

export type GroupView = {
  readonly group: CheckGroup
  readonly checks: readonly CheckReport[]
  readonly counts: Readonly<Record<CheckStatus, number>>
  /** Why most that was skipped was, and whether that holds for all of it; without one that holds for most, how many reasons there are. */
  readonly skippedBecause: { readonly reason: string; readonly all: boolean } | { readonly reasons: number } | undefined
}

const RANK: Readonly<Record<CheckStatus, number>> = { fail: 0, warn: 1, pass: 2, skipped: 3 }

function commonReason(checks: readonly CheckReport[]): GroupView['skippedBecause'] {
  const skipped = checks.filter(({ status }) => status === 'skipped')
  const byReason = Map.groupBy(skipped, ({ findings }) => findings[0]?.summary ?? '')
  const found = [...byReason].find(([, own]) => own.length * 2 > skipped.length)
  if (found !== undefined) return { reason: found[0], all: byReason.size === 1 }
  return byReason.size === 0 ? undefined : { reasons: byReason.size }
}

/** In the report's order; in each what is wrong is first. */
export function groupsOf({ checks }: DoctorReport): readonly GroupView[] {
  return [...Map.groupBy(checks, ({ group }) => group)].map(([group, own]) => {
    const count = (status: CheckStatus): number => own.filter((check) => check.status === status).length
    return {
      group,
      checks: own.toSorted((a, b) => RANK[a.status] - RANK[b.status]),
      counts: { fail: count('fail'), warn: count('warn'), pass: count('pass'), skipped: count('skipped') },
      skippedBecause: commonReason(own),
    }
  })
}
