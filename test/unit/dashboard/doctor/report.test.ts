// The doctor's report on its page: what is to be mended first, groups, why something was skipped.
import { describe, expect, test } from 'vitest'
import type { CheckReport, CheckStatus, DoctorReport } from '../../../../agent/model/doctor.ts'
import { complaints, groupsOf, parseReport } from '../../../../dashboard/src/parts/doctor/report.ts'
import { counted, headline, standing } from '../../../../dashboard/src/text/doctor.ts'
import { REPORT } from '../../doctor/report-fixture.ts'

const skipped = (id: string, summary: string): CheckReport => ({
  id,
  group: 'toolkit',
  title: id,
  status: 'skipped',
  duration_ms: 1,
  findings: [{ status: 'skipped', summary }],
})
const of = (...checks: readonly CheckReport[]): DoctorReport => ({ ...REPORT, checks })

test('a report is looked at before it is believed', () => {
  expect(parseReport(REPORT)).toBe(REPORT)
  const [first] = REPORT.checks
  const wrong = [undefined, [], { ...REPORT, version: 2 }, { ...REPORT, checks: [{ ...first, findings: [{}] }] }, { ...REPORT, counts: undefined }]
  for (const value of wrong) expect(() => parseReport(value)).toThrow(/must be a report, not/)
})

describe('what is to be mended', () => {
  test('failures stand before warnings, whatever their groups', () => {
    const turned = { ...REPORT, checks: REPORT.checks.toReversed() }
    expect(complaints(turned).map(({ check, finding }) => [check.id, finding.status])).toEqual([
      ['driver-library-match', 'fail'],
      ['container-memory', 'warn'],
    ])
  })

  test('containers with the same trouble are told once with all their names, others apart; what passed beside them is left out', () => {
    const [memory] = REPORT.checks.filter(({ id }) => id === 'container-memory')
    if (memory === undefined) throw new Error('expected the check of memory in the fixture')
    const { findings } = memory
    const more = [...findings, { ...findings[0], status: 'warn' as const, subject: 'other', summary: 'none at all' }]
    const reported = complaints(of({ ...memory, findings: [...more, { status: 'pass', subject: 'well', summary: 'enough' }] }))
    expect(reported.map(({ subjects, finding }) => [subjects, finding.summary])).toEqual([
      [['trainer', 'server'], 'its memory limit is small'],
      [['other'], 'none at all'],
    ])
    expect(reported[0]?.finding.remedies).toEqual([{ text: 'Raise it.' }])
  })
})

describe('groups', () => {
  test('keep the report’s order and say how many of each there are; in each what is wrong stands first', () => {
    const groups = groupsOf(REPORT)
    expect(groups.map(({ group }) => group)).toEqual(['host', 'container', 'wsl2'])
    expect(groups[0]?.checks.map(({ id }) => id)).toEqual(['driver-library-match', 'gpu-on-bus', 'nouveau'])
    expect(groups[0]?.counts).toEqual({ fail: 1, warn: 0, pass: 2, skipped: 0 })
  })

  test('say why checks were skipped: one reason for all, one for most, or how many there are', () => {
    const because = (...reasons: readonly string[]) => groupsOf(of(...reasons.map((reason, i) => skipped(`check-${i}`, reason))))[0]?.skippedBecause
    expect(because('no engine', 'no engine')).toEqual({ reason: 'no engine', all: true })
    expect(because('no GPU', 'no engine', 'no engine')).toEqual({ reason: 'no engine', all: false })
    expect(because('no GPU', 'no engine')).toEqual({ reasons: 2 })
    expect(groupsOf(REPORT)[0]?.skippedBecause).toBeUndefined()
  })
})

test.each<readonly [number, CheckStatus, string]>([
  [1, 'warn', '1 warning'],
  [2, 'warn', '2 warnings'],
  [2, 'fail', '2 failed'],
])('%i %s reads %s', (count, status, text) => expect(counted(count, status)).toBe(text))

test.each<readonly [counts: Readonly<Record<CheckStatus, number>>, text: string, stands: CheckStatus]>([
  [{ fail: 1, warn: 2, pass: 0, skipped: 40 }, '1 failed, 2 warnings', 'fail'],
  [{ fail: 0, warn: 2, pass: 1, skipped: 40 }, '2 warnings', 'warn'],
  [{ fail: 0, warn: 0, pass: 30, skipped: 13 }, 'Nothing found to correct', 'pass'],
  [{ fail: 0, warn: 0, pass: 15, skipped: 28 }, 'Nothing found in the 15 of 43 checks that ran', 'skipped'],
  [{ fail: 0, warn: 0, pass: 1, skipped: 42 }, 'Only 1 of 43 checks could run', 'skipped'],
  [{ fail: 0, warn: 0, pass: 0, skipped: 43 }, 'Nothing could be checked', 'skipped'],
])('the headline of %o is %s: what was skipped is not praised', (counts, text, stands) => {
  const status = counts.fail > 0 ? 'fail' : counts.warn > 0 ? 'warn' : 'pass'
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const report = { ...of(...Array.from({ length: total }, (_, i) => skipped(`check-${i}`, 'no engine'))), counts, status } as const
  expect([headline(report), standing(report)]).toEqual([text, stands])
})
