// The doctor's report for a person who is tired: what is broken first, with commands to paste, then what is odd, then one line a group for the rest.
import { CHECK_GROUPS, type CheckReport, type CheckStatus, type DoctorReport, type Finding } from '../model/doctor.ts'
import { plural } from '../text/grammar.ts'

export type TextOptions = {
  /** All that was found, also what is well. */
  readonly verbose: boolean
}

const MARK: Readonly<Record<CheckStatus, string>> = { fail: 'FAIL', warn: 'WARN', pass: 'ok', skipped: 'skip' }
const INDENT = '      '

const below = (text: string, indent = INDENT): string[] => text.split('\n').map((line) => `${indent}${line}`)

function findingLines({ status, subject, summary, detail, remedies = [] }: Finding, id: string): readonly string[] {
  return [
    `${MARK[status].padEnd(5)} ${subject === undefined ? '' : `${subject}: `}${summary}  [${id}]`,
    ...(detail === undefined ? [] : below(detail)),
    ...remedies.flatMap(({ text, command }) => [`${INDENT}→ ${text}`, ...(command === undefined ? [] : below(command, `${INDENT}    `))]),
  ]
}

/** Several containers with the same problem are reported once, with all their names. */
function merged(findings: readonly Finding[]): readonly Finding[] {
  const bySaying = new Map<string, { readonly finding: Finding; readonly subjects: string[] }>()
  for (const finding of findings) {
    const { subject, ...saying } = finding
    const key = JSON.stringify(saying)
    const known = bySaying.get(key)
    if (known === undefined) bySaying.set(key, { finding, subjects: subject === undefined ? [] : [subject] })
    else if (subject !== undefined) known.subjects.push(subject)
  }
  return [...bySaying.values()].map(({ finding, subjects }) => (subjects.length < 2 ? finding : { ...finding, subject: subjects.join(', ') }))
}

const block = (checks: readonly CheckReport[], wanted: CheckStatus): readonly string[] =>
  checks.flatMap(({ id, findings }) => merged(findings.filter(({ status }) => status === wanted)).flatMap((finding) => [...findingLines(finding, id), '']))

/** `skip  host: ecc-remap, persistence (no NVIDIA driver)`: one line for each reason. */
function skippedLines(checks: readonly CheckReport[]): readonly string[] {
  const byReason = new Map<string, string[]>()
  for (const { id, group, findings } of checks) {
    const key = `${group}\n${findings[0]?.summary ?? ''}`
    byReason.set(key, [...(byReason.get(key) ?? []), id])
  }
  return [...byReason].map(([key, ids]) => {
    const [group = '', reason = ''] = key.split('\n')
    return `skip  ${group}: ${ids.join(', ')} (${reason})`
  })
}

const times = (count: number, word: string): string => `${count} ${word}`

export function reportText(report: DoctorReport, { verbose }: TextOptions): string {
  const { checks, counts } = report
  const lines = [...block(checks, 'fail'), ...block(checks, 'warn')]
  if (verbose) {
    lines.push(
      ...checks.flatMap(({ id, findings }) =>
        findings.filter(({ status }) => status === 'pass' || status === 'skipped').flatMap((finding) => findingLines(finding, id)),
      ),
    )
  } else {
    const isNotice = ({ status, notice }: Finding): boolean => status === 'pass' && notice === true
    lines.push(...checks.flatMap(({ id, findings }) => findings.filter(isNotice).flatMap((finding) => findingLines(finding, id))))
    for (const group of CHECK_GROUPS) {
      const passed = checks.filter((check) => check.group === group && check.status === 'pass' && !check.findings.some(isNotice))
      if (passed.length > 0) lines.push(`ok    ${group}: ${passed.map(({ id }) => id).join(', ')}`)
    }
    lines.push(...skippedLines(checks.filter(({ status }) => status === 'skipped')))
  }
  const parts = [
    times(counts.fail, 'failed'),
    times(counts.warn, plural(counts.warn, 'warning')),
    times(counts.pass, 'passed'),
    times(counts.skipped, 'skipped'),
  ]
  lines.push(
    '',
    `${parts.join(', ')} in ${(report.duration_ms / 1_000).toFixed(1)} s on ${report.host}${verbose ? '' : '; all that was found: warpwatch doctor -v'}`,
  )
  return `${lines.join('\n')}\n`
}
