// The words about an incident's story and what people said of it, in the list of the command line and in the report.
import { expect, test } from 'vitest'
import { listText } from '../../../agent/cli/incidents/incidents.ts'
import { incidentReport } from '../../../agent/diagnosis/incidents/report.ts'
import { incidentContext } from '../../../agent/diagnosis/incidents/incident-context.ts'
import { summaryOf, type Incident } from '../../../agent/model/incident.ts'
import { INCIDENT } from '../http/incident-fixture.ts'

test('all of it', () => {
  expect(incidentContext(INCIDENT)).toEqual([
    ['Part of', 'memory_leak bbbbbbbbbbbbbbbb; the chain began with aaaaaaaaaaaaaaaa'],
    ['Led to', 'target_down cccccccccccccccc'],
    ['Silenced', 'until 2025-11-20 01:53:20 UTC (0a0b0c0d0e0f)'],
    ['Acknowledged', 'by kim, 2025-11-20 00:54:20 UTC: looking'],
    ['Over because', 'set healthy by kim'],
  ])
  const list = listText([summaryOf(INCIDENT)], { from: 'a test' })
  expect(list).toContain('\n  part of: memory_leak bbbbbbbbbbbbbbbb; the chain began with aaaaaaaaaaaaaaaa\n  led to: target_down cccccccccccccccc\n')
  expect(incidentReport(INCIDENT, 'h')).toContain('| Led to | `target_down cccccccccccccccc` |')
})

test('nothing where there is nothing, and the beginning once', () => {
  const { story, part_of: _part, led_to: _led, silenced: _silenced, acknowledged: _acknowledged, resolution: _resolution, ...bare } = INCIDENT
  const alone: Incident = bare
  expect(incidentContext(alone)).toEqual([])
  const second: Incident = { ...bare, story: story ?? '', part_of: { id: story ?? '', kind: 'throttling' }, acknowledged: { at: 0 } }
  expect(incidentContext(second)).toEqual([
    ['Part of', 'throttling aaaaaaaaaaaaaaaa'],
    ['Acknowledged', '1970-01-01 00:00:00 UTC'],
  ])
})

test('a note cannot become markup', () => {
  const evil: Incident = { ...INCIDENT, acknowledged: { at: 0, note: '`<img src=x>` | **b**' } }
  expect(incidentReport(evil, 'h')).toContain('`` 1970-01-01 00:00:00 UTC: `<img src=x>` \\| **b** ``')
})
