// An incident as a page for a terminal: painted only where asked, and nothing of a log drives the terminal.
import { expect, test } from 'vitest'
import { incidentPage } from '../../../agent/cli/incidents/page.ts'
import { painter } from '../../../agent/cli/paint.ts'
import { INCIDENT } from '../http/incident-fixture.ts'

const bare = (text: string): string => text.replace(/\u001b\[[\d;]*m/g, '')

test('colours change nothing but colours', () => {
  const painted = incidentPage(INCIDENT, 'gpu-01', painter(true))
  expect(painted).toContain('\u001b[31;1mCRITICAL')
  expect(bare(painted)).toBe(incidentPage(INCIDENT, 'gpu-01', painter(false)))
})

test('long sentences are wrapped, and control characters are made harmless', () => {
  const page = incidentPage(
    {
      ...INCIDENT,
      title: 'evil \u001b[2J title',
      verdict: 'word '.repeat(60).trim(),
      evidence: { ...INCIDENT.evidence, log_lines: [{ t: 0, stream: 'container', text: '\u001b]0;owned\u0007', matched: true }] },
    },
    'gpu-01',
    painter(false),
  )
  expect(page).not.toMatch(/[\u0000-\u0008\u000b-\u001f]/)
  const verdict = page.split('\n').filter((line) => line.startsWith('word'))
  expect(verdict.length).toBeGreaterThan(2)
  expect(Math.max(...verdict.map((line) => line.length))).toBeLessThanOrEqual(100)
})

test('earlier occurrences stand with their own process', () => {
  const occurrences = [
    { at: INCIDENT.started_at - 200_000, pid: 77, title: 'trainer ran out of memory on GPU 0', verdict: 'v', facts: {}, log_lines: [], series: [] },
  ]
  expect(incidentPage({ ...INCIDENT, occurrences }, 'gpu-01', painter(false))).toMatch(/Earlier occurrences\n {2}\S+ \S+ UTC {2}pid 77 {2}trainer ran out/)
})

test('what actions did stands on the page, and what they printed cannot drive the terminal', () => {
  const actions = [
    { action: 'drain', at: INCIDENT.started_at, state: 'timeout', took_ms: 30_000, text: 'ended after 30000 ms', output: 'one\n\u001b[2Jtwo' },
  ] as const
  const page = incidentPage({ ...INCIDENT, actions }, 'gpu-01', painter(false))
  expect(page).toMatch(/\nActions\n {2}\S+ \S+ UTC {2}drain timed out after 30\.0 s: ended after 30000 ms\n {4}one\n {4}\S*two\n/)
  expect(page).not.toContain('\u001b')
})
