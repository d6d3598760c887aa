// The doctor's words: groups and verdicts of checks as a person reads them.
import type { CheckGroup, CheckStatus, DoctorReport } from '../../../agent/model/doctor.ts'

export const GROUPS: Readonly<Record<CheckGroup, string>> = {
  host: 'Host and driver',
  toolkit: 'Container toolkit',
  container: 'Containers',
  wsl2: 'WSL2',
  compose: 'Compose files',
  warpwatch: 'Warpwatch itself',
}
/** A shape beside the word: never told by colour alone. */
export const STATUSES: Readonly<Record<CheckStatus, { readonly word: string; readonly shape: string }>> = {
  fail: { word: 'failed', shape: '▲' },
  warn: { word: 'warning', shape: '◆' },
  pass: { word: 'passed', shape: '✓' },
  skipped: { word: 'skipped', shape: '○' },
}

export const counted = (count: number, status: CheckStatus): string => `${count} ${STATUSES[status].word}${status === 'warn' && count !== 1 ? 's' : ''}`

/** A host of which hardly anything could be looked at gets no clean bill. */
export const standing = ({ status, counts }: DoctorReport): CheckStatus => (status === 'pass' && counts.skipped > counts.pass ? 'skipped' : status)

/** Below this share of the checks nothing is said of what they found: it would read as praise. */
const HARDLY = 0.25

export function headline(report: DoctorReport): string {
  const { counts, checks } = report
  const complaints = (['fail', 'warn'] as const).filter((status) => counts[status] > 0).map((status) => counted(counts[status], status))
  if (complaints.length > 0) return complaints.join(', ')
  if (standing(report) === 'pass') return 'Nothing found to correct'
  if (counts.pass === 0) return 'Nothing could be checked'
  return counts.pass < HARDLY * checks.length
    ? `Only ${counts.pass} of ${checks.length} checks could run`
    : `Nothing found in the ${counts.pass} of ${checks.length} checks that ran`
}
