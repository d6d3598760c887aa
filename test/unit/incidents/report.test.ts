// The report that is pasted into a ticket: whole, and nothing from outside becomes markup.
import { expect, test } from 'vitest'
import { incidentReport } from '../../../agent/diagnosis/incidents/report.ts'
import { code } from '../../../agent/text/markdown.ts'
import { alertName, INCIDENT_KINDS } from '../../../agent/model/kinds.ts'
import { box, createScene, happened, line, ncclText, oomText, only, T, uuid } from './scene.ts'

test('tells what, whom, what to do, and shows what was seen', () => {
  const scene = createScene()
  const trainer = box('trainer', [1], { pids: [77], limit: 2 ** 34 })
  const t = scene.pass(T, 130, [trainer])
  scene.feed(line(t, trainer, oomText()), line(t + 1, trainer, ncclText(3)), happened(t + 2, 'die', trainer, 1))
  scene.pass(t, 40, [trainer])
  const text = incidentReport(only(scene), 'gpu-01')
  for (const part of [
    '# trainer ran out of memory on GPU 1: ',
    'CudaOom',
    '`/runbooks/cuda_oom`',
    '## What to do',
    '## Figures',
    '## What followed from it',
    '## Log',
    '## Processes on the GPU',
    '## Readings',
    '## Container settings',
  ])
    expect(text).toContain(part)
  expect(text).toContain(uuid(1))
  expect(text).toContain('16 GiB')
  expect(text).toContain('| `exit_code` | `1` |')
  expect(text).toContain("| `gpu_index` | `0` (the program's own count; GPU 1 of the host) |")
  expect(text).toMatch(/> 2025-11-20T00:\S+ trainer: torch\.OutOfMemoryError/)
})

test('a log cannot break out of its block, a name not out of its cell', () => {
  const scene = createScene()
  const evil = box('a|b`<script>', [])
  scene.feed(line(T, evil, `\`\`\`\n# forged heading\n![x](http://evil.example/)\n${oomText()}`))
  const text = incidentReport(only(scene), 'gpu|01')
  const outside = text.replace(/(`{3,})[^\n]*\n[\s\S]*?\n\1/g, '').replace(/(`+)(?!`)[^\n]*?(?<!`)\1(?!`)/g, '')
  expect(outside).not.toMatch(/forged|<script>|!\[x\]/)
  for (const row of text.split('\n').filter((found) => found.startsWith('| Hit'))) expect(row.replaceAll('\\|', '').split('|')).toHaveLength(4)
})

test.each([
  ['plain', '`plain`'],
  ['with `ticks`', '`` with `ticks` ``'],
  ['two\nlines', '`two lines`'],
])('code(%j)', (given, expected) => expect(code(given)).toBe(expected))

test('each kind has an alert name of its own', () => {
  expect([alertName('cuda_oom'), alertName('nvml_driver_mismatch'), alertName('xid')]).toEqual(['CudaOom', 'NvmlDriverMismatch', 'Xid'])
  expect(new Set(INCIDENT_KINDS.map(alertName)).size).toBe(INCIDENT_KINDS.length)
})

test('says what actions did about it, with the end of what they printed', () => {
  const scene = createScene()
  const evil = box('trainer', [])
  scene.feed(line(T, evil, oomText()))
  const actions = [
    { action: 'drain', at: T, state: 'failed', took_ms: 420, exit_code: 1, text: 'exit code 1', output: '```\n# forged' },
    { action: 'ask', at: T, state: 'skipped', text: 'not done: the incident names no pid' },
  ] as const
  const text = incidentReport({ ...only(scene), actions }, 'gpu-01')
  expect(text).toContain('## Actions')
  expect(text).toMatch(/^- 2025-11-20T\S+ `drain` failed after 420 ms: exit code 1\n\n`{4}\n```\n# forged\n`{4}$/m)
  expect(text).toMatch(/`ask` skipped: not done: the incident names no pid/)
  expect(incidentReport(only(scene), 'gpu-01')).not.toContain('## Actions')
})
