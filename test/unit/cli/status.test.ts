// `warpwatch status`: what counts as a problem, and one screen that says it first.
import { describe, expect, test } from 'vitest'
import { problemsOf, statusPage } from '../../../agent/cli/status/page.ts'
import type { Look } from '../../../agent/cli/status/look.ts'
import { painter } from '../../../agent/cli/paint.ts'
import type { IncidentSummary } from '../../../agent/model/incident.ts'

const GIB = 2 ** 30
const NOW = 1_795_000_000_000
const gpu = (index: number, more: object = {}) => ({
  uuid: `GPU-${index}`,
  index,
  memory_used_bytes: 10 * GIB,
  memory_total_bytes: 80 * GIB,
  utilization_ratio: 0.9,
  sample_age_seconds: 0.2,
  ...more,
})
const incident = (more: Partial<IncidentSummary>): IncidentSummary => ({
  id: 'a1',
  kind: 'cuda_oom',
  severity: 'critical',
  title: 'train ran out of memory on GPU 1',
  verdict: 'It asked for 2 GiB.',
  facts: {},
  remedies: [],
  status: 'firing',
  subject: { gpu: { index: 1, uuid: 'GPU-1' } },
  started_at: NOW - 90_000,
  last_seen_at: NOW,
  count: 1,
  consequences: [],
  evidence: { log_lines: [] },
  ...more,
})
const healthy: Look = {
  host: 'gpu-01',
  url: 'http://127.0.0.1:9839',
  gpus: [gpu(0), gpu(1, { utilization_ratio: 0 })],
  running: 2,
  firing: [],
  notifiers: [],
  sampleAgeMs: 300,
}
const page = (look: Look): string => statusPage(look, NOW, painter(false))

describe('status', () => {
  test('a healthy host', () => {
    expect(problemsOf(healthy)).toEqual([])
    expect(page(healthy)).toBe(`gpu-01: all is well

  agent      http://127.0.0.1:9839, sampling, newest sample 0.3 s old
  GPUs       2, 20.0 GiB of 160.0 GiB used, 1 busy, all answering
  jobs       2 running
  notifiers  none
`)
  })

  test('the worst first; what is silenced or only a note does not make it unwell', () => {
    const firing = [incident({ id: 'n', severity: 'info' }), incident({ id: 'w', severity: 'warning' }), incident({ id: 'c' })]
    const look = { ...healthy, firing }
    expect(problemsOf(look)).toEqual(['1 critical incident firing', '1 warning incident firing'])
    expect(page(look).match(/^ {2}(critical|warning|info) /gm)).toEqual(['  critical ', '  warning ', '  info '])
    expect(problemsOf({ ...healthy, firing: [incident({ silenced: { id: 's', until: NOW + 1 } }), incident({ severity: 'info' })] })).toEqual([])
  })

  test('an agent that does not sample, a GPU that does not answer, a notifier that fails', () => {
    const look: Look = {
      ...healthy,
      notReady: 'the newest sample is 9.0 s old; at most 5 s are allowed',
      gpus: [gpu(0), gpu(1, { sample_age_seconds: 60 })],
      notifiers: [{ name: 'ops', type: 'slack', host: 'hooks', status: 'failing', waiting: 3, delivered: 0, failed_tries: 9, expired: 0, set_aside: 0 }],
    }
    expect(problemsOf(look)).toEqual(['the agent does not sample: the newest sample is 9.0 s old; at most 5 s are allowed', 'notifier ops: failing'])
    expect(page(look)).toContain('not answering: GPU 1')
  })

  test('text from outside does not drive the terminal', () => {
    expect(page({ ...healthy, host: 'a\u001b[2Jb', firing: [incident({ title: '\u001b]0;x\u0007' })] })).not.toMatch(/[\u001b\u0007]/)
  })
})
