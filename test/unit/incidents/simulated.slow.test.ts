// The simulated host's scenarios give the incidents that their stories tell, with kind, container and the host's GPU.
import { expect, test } from 'vitest'
import { createLogJudge } from '../../../agent/diagnosis/live-judge.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'
import type { Incident } from '../../../agent/model/incident.ts'
import { createHeardDiagnosis } from '../../setup/heard-diagnosis.ts'
import { simulate } from '../simulated/simulate.ts'

function incidentsOf(scenario: string, seconds: number): readonly Incident[] {
  const found = new Map<string, Incident>()
  const diagnosis = createHeardDiagnosis({
    judge: createLogJudge(logScanner()).judge,
    hostname: 'gpu-host',
    onChange: (incident) => found.set(incident.id, incident),
  })
  for (const { events } of simulate(scenario, seconds)) events.forEach(diagnosis.ingest)
  diagnosis.flush()
  return [...found.values()].sort((a, b) => a.started_at - b.started_at)
}
const inShort = ({ kind, subject, status, count }: Incident) => ({ kind, container: subject.container?.name, gpu: subject.gpu?.index, status, count })

test('oom-leak: one incident, counting up with each restart', () => {
  const [first, ...others] = incidentsOf('oom-leak', 430)
  expect(others).toEqual([])
  if (first === undefined) throw new Error('expected an incident, came none')
  expect(inShort(first)).toMatchObject({ kind: 'cuda_oom', container: 'finetune-lora', gpu: 6, status: 'firing' })
  expect(first.count).toBeGreaterThan(1)
  expect(first.facts.causes?.[0]).toBe('capacity')
  // At the second crash as at the first: what grew, who, and no batch that would have fitted.
  const said = [first, ...(first.occurrences ?? [])]
  expect(said).toHaveLength(2)
  expect(new Set(said.map(({ facts }) => facts.pid)).size).toBe(2)
  for (const { title, verdict } of said) {
    expect(title).toMatch(/^finetune-lora ran out of memory on GPU 6 at finetune\.py:131: its memory grew by \d+\.\d GiB/)
    expect(verdict).toContain('What the job has in use grew by')
  }
  expect(first.remedies.map(({ text }) => text).join(' ')).not.toContain('would have fitted')
  expect(first.facts.exit_code).toBe(1)
  const used = first.evidence.series.find(({ metric, labels }) => metric === 'warpwatch_gpu_memory_used_bytes' && labels['gpu'] === '6')
  expect(used?.t.length).toBe(151)
})

test.each([
  ['oom-neighbour', 160, 'other_process'],
  ['oom-fragmentation', 400, 'fragmentation'],
])('%s: the cause comes first', (scenario, seconds, cause) => {
  const [first] = incidentsOf(scenario, seconds)
  expect(first).toMatchObject({ kind: 'cuda_oom' })
  expect(first?.subject.gpu?.uuid).toBeDefined()
  expect(first?.facts.causes).toContain(cause)
})

test('xid: each Xid is an incident of its GPU, the crash its consequence', () => {
  const [access, remap, ...others] = incidentsOf('xid', 150)
  expect(others).toEqual([])
  expect(access).toMatchObject({ kind: 'xid', facts: { xid: 31 }, subject: { gpu: { index: 6 }, container: { name: 'finetune-lora' } } })
  expect(access?.consequences.map(({ kind }) => kind)).toEqual(['illegal_memory_access'])
  expect(remap).toMatchObject({ kind: 'xid', facts: { xid: 63 }, subject: { gpu: { index: 2 } }, consequences: [] })
})

test('lost-gpu: one incident for the GPU, with the containers that died of it', () => {
  const [lost, ...others] = incidentsOf('lost-gpu', 100)
  expect(others).toEqual([])
  expect(lost).toMatchObject({ subject: { gpu: { index: 5 } } })
  expect(['xid', 'gpu_lost']).toContain(lost?.kind)
  expect(new Set(lost?.consequences.flatMap(({ container }) => container ?? []))).toEqual(new Set(['search-embedder-1', 'search-reranker-1']))
})

test('healthy: none', () => expect(incidentsOf('healthy', 300)).toEqual([]))
