// The files that a Slurm prolog writes for dcgm-exporter: one file a GPU or MIG instance, one job a line.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createJobMapping } from '../../../agent/attribution/job-mapping.ts'

let folder = ''
let clock = 0
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'warpwatch-jobs-'))
  clock = 0
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))
const later = (): number => (clock += 5_000)

test('reads GPUs and MIG instances, several jobs, and nothing else', () => {
  writeFileSync(join(folder, '0'), '48213\n')
  writeFileSync(join(folder, '3.7'), '1\n2\r\n\n')
  writeFileSync(join(folder, '2'), '')
  writeFileSync(join(folder, 'readme.txt'), '9')
  mkdirSync(join(folder, '4'))
  expect([...createJobMapping(folder, () => clock)()]).toEqual([
    ['0', ['48213']],
    ['3.7', ['1', '2']],
  ])
})

test('follows prolog and epilog, and gives the same object while nothing changes', () => {
  const read = createJobMapping(join(folder, 'map'), () => clock)
  expect([...read()]).toEqual([])
  mkdirSync(join(folder, 'map'))
  writeFileSync(join(folder, 'map/1'), 'a')
  later()
  const first = read()
  expect([...first]).toEqual([['1', ['a']]])
  later()
  expect(read()).toBe(first)
  rmSync(join(folder, 'map/1'))
  expect(read()).toBe(first)
  later()
  expect([...read()]).toEqual([])
})

test('is bounded, whatever is written there', () => {
  writeFileSync(join(folder, '0'), `${'x'.repeat(10_000)}\n${'job\n'.repeat(10_000)}`)
  const jobs = createJobMapping(folder, () => clock)().get('0')
  expect(jobs?.length).toBe(32)
  expect(jobs?.[0]?.length).toBe(128)
})
