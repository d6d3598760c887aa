// Texts that took seconds or did not end, found by `npm run abuse -- mutated-inputs`: each is long enough to run into the test's own limit again.
import { expect, test } from 'vitest'
import { parseCgroupLines } from '../../../agent/attribution/cgroup-path.ts'
import { readFileSettings } from '../../../agent/config/file.ts'
import { parseComposeFile } from '../../../agent/doctor/compose/file.ts'
import { parseAllocConf } from '../../../agent/doctor/parts/alloc-conf.ts'
import { parseCdiSpec } from '../../../agent/doctor/parts/cdi.ts'
import { readCsv } from '../../../agent/sources/nvidia-smi/csv.ts'
import { readTable } from '../../../agent/sources/nvidia-smi/table.ts'

const DEEP = `devices: ${'{'.repeat(60_000)}`
const KEYS = `devices:\n  ${'? '.repeat(30_000)}`

test.each([
  ['braces', DEEP, /line 1: (?:not valid YAML: )?more than 200 levels/],
  ['keys', KEYS, /line 2: (?:not valid YAML: )?50 times "\?" in a row/],
])('deep YAML is refused with its line: %s', (_, text, words) => {
  expect(parseCdiSpec('/etc/cdi/nvidia.yaml', text).problem).toMatch(words)
  const { problem } = parseComposeFile('compose.yaml', text)
  expect(`line ${problem?.line}: ${problem?.message}`).toMatch(words)
  expect(readFileSettings(text, 'warpwatch.yaml').problems.map(({ text: said }) => said)).toEqual([
    expect.stringMatching(/^not valid YAML: (?:more than|50 times)/),
  ])
})

test('nvidia-smi: a cell full of blanks, a row without an end', () => {
  expect(readCsv(`index, memory.used [MiB], name [${' '.repeat(400_000)}\n0, 3, x`)).toMatchObject({
    columns: ['index', 'memory.used', 'name ['],
    units: ['', 'MiB', ''],
  })
  const row = (name: string): string => `|   0  ${name}     On  | 00000000:01:00.0 Off |                    0 |`
  expect(readTable(`${row('x '.repeat(200_000))}\n${row('NVIDIA L40S')}`).gpus.map(({ name }) => name)).toEqual(['NVIDIA L40S'])
})

test('cgroup paths and allocator options beyond what can be real are left alone', () => {
  expect(parseCgroupLines(`0::/${'kubepods'.repeat(400_000)}\n1:cpu:/a`)).toEqual([{ controllers: ['cpu'], path: '/a' }])
  expect(parseAllocConf(Array.from({ length: 20_000 }, (_, at) => `expandable_segment${at}:True`).join(','))).toBeDefined()
})
