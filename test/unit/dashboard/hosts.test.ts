// The rows of all hosts on the page: what is taken for a row, and which comes first.
import { describe, expect, test } from 'vitest'
import type { HostEntry, HostSummary } from '../../../agent/model/hosts.ts'
import { inOrder, parseEntries, trouble } from '../../../dashboard/src/features/hosts/entries.ts'

const summary = (more: Partial<HostSummary> = {}): HostSummary => ({
  host: 'gpu-01',
  t: 1,
  version: '1',
  simulated: false,
  gpus: 8,
  memory_used_bytes: 1,
  memory_total_bytes: 2,
  silent: [],
  jobs_running: 0,
  firing: { info: 0, warning: 0, critical: 0 },
  ...more,
})

describe('hosts', () => {
  test('this one first, then what does not answer, then what fires; the rest as configured', () => {
    const entries: readonly HostEntry[] = [
      { name: 'well', summary: summary() },
      { name: 'warns', summary: summary({ firing: { info: 0, warning: 1, critical: 0 } }) },
      { name: 'silent', summary: summary({ silent: [3] }) },
      { name: 'asked' },
      { name: 'dead', problem: 'no agent runs there' },
      { name: 'here', self: true, summary: summary() },
    ]
    expect(inOrder(entries).map(({ name }) => name)).toEqual(['here', 'dead', 'silent', 'warns', 'well', 'asked'])
    expect(entries.map(trouble)).toEqual([0, 1, 2, 0, 3, 0])
  })
  test('anything else is no list of hosts', () => {
    expect(parseEntries([{ name: 'a', summary: summary() }, { name: 'b' }])).toHaveLength(2)
    for (const wrong of [undefined, {}, [1], [{ name: 1 }], [{ name: 'a', summary: { host: 'x' } }]]) expect(() => parseEntries(wrong)).toThrow('list of hosts')
  })
})
