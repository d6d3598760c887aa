// A host in one row: what counts, and what is believed of another agent's answer.
import { describe, expect, test } from 'vitest'
import * as fc from '../../setup/fast-check.ts'
import { parseSummary, summaryOf } from '../../../agent/hosts/summary.ts'
import { sshArguments } from '../../../agent/hosts/tunnel.ts'
import { isHostUrl } from '../../../agent/config/sections/hosts.ts'
import { hostsNamed } from '../../../agent/cli/top/feeds/targets.ts'
import { INCIDENT } from '../http/incident-fixture.ts'
import { summaryOf as incidentSummary } from '../../../agent/model/incident.ts'

const gpu = (index: number, more: object = {}) => ({
  uuid: `GPU-${index}`,
  index,
  memory_used_bytes: 10,
  memory_total_bytes: 80,
  sample_age_seconds: 0.1,
  ...more,
})
const { silenced: _silenced, ...known } = incidentSummary(INCIDENT)
const incident = { ...known, status: 'firing' as const, severity: 'critical' as const }

describe('a host in one row', () => {
  test('sums what is known, and leaves out what nobody says', () => {
    const row = summaryOf(
      {
        host: 'a',
        version: '1',
        simulated: false,
        gpus: [gpu(0, { utilization_ratio: 0.5 }), gpu(1, { sample_age_seconds: 60 })],
        firing: [incident, { ...incident, silenced: { until: 1, id: 's' } }],
        running: 3,
      },
      7,
    )
    expect(row).toMatchObject({
      gpus: 2,
      memory_used_bytes: 20,
      memory_total_bytes: 160,
      utilization_ratio: 0.5,
      silent: [1],
      jobs_running: 3,
      firing: { info: 0, warning: 0, critical: 1 },
      worst: { id: incident.id },
    })
    expect(row).not.toHaveProperty('power_watts')
    expect(parseSummary(JSON.parse(JSON.stringify(row)))).toEqual(row)
  })
  test('of anything else that another host sends nothing is kept', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => parseSummary(value) === undefined))
    const row = { ...summaryOf({ host: 'a', version: '1', simulated: false, gpus: [], firing: [], running: 0 }, 7) }
    const parsed = parseSummary({ ...row, host: 'x'.repeat(9_999), firing: { critical: -1, warning: 'x' }, worst: { id: 1 }, silent: ['x', -1, 3], extra: 'y' })
    expect(parsed?.host).toHaveLength(300)
    expect(parsed).toMatchObject({ firing: { info: 0, warning: 0, critical: 0 }, silent: [3] })
    expect(parsed).not.toHaveProperty('extra')
    expect(parsed).not.toHaveProperty('worst')
  })
})

describe('ways to a host', () => {
  test.each([
    'http://10.0.0.7:9839',
    'https://gpu.example.org/agent',
    'ssh://ops@gpu-07',
    'ssh://gpu-07:2222',
    'ssh://ops@[fe80::1]',
    'ssh://ops@gpu-07?agent=9840',
  ])('%s', (url) => expect(isHostUrl(url)).toBe(true))
  test.each([
    '',
    'gpu-07',
    'ftp://a',
    'ssh://-oProxyCommand=x',
    'ssh://a b',
    'ssh://-l@host',
    'ssh://user@-host',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'ssh://a;b',
    'ssh://a?agent=1:evil:2',
    'ssh://a?other=1',
  ])('not %j', (url) => expect(isHostUrl(url)).toBe(false))
  test('ssh gets words, never a shell, and nothing that it could take for a flag', () => {
    const words = sshArguments('ssh://ops@gpu-07:2222', '/tmp/x/s')
    expect(words.slice(-6)).toEqual(['-p', '2222', '-L', '/tmp/x/s:127.0.0.1:9839', '--', 'ops@gpu-07'])
    expect(sshArguments('ssh://ops@gpu-07?agent=9840', '/tmp/x/s').slice(-4)).toEqual(['-L', '/tmp/x/s:127.0.0.1:9840', '--', 'ops@gpu-07'])
  })
  test('--hosts takes names of the configuration and addresses', () => {
    const known = [{ name: 'gpu-07', url: 'https://gpu-07.example', token: 't' }]
    expect(hostsNamed('gpu-07, 10.0.0.8,10.0.0.9:1,ssh://ops@b', known)).toEqual([
      known[0],
      { name: '10.0.0.8', url: 'http://10.0.0.8:9839', token: '' },
      { name: '10.0.0.9:1', url: 'http://10.0.0.9:1', token: '' },
      { name: 'b', url: 'ssh://ops@b', token: '' },
    ])
    expect(hostsNamed('all', known)).toEqual(known)
    expect(() => hostsNamed('all', [])).toThrow('no hosts are configured')
    expect(() => hostsNamed('-x', known)).toThrow(/must be names of hosts/)
  })
})
