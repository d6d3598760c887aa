// A sampler child that ends while the agent is busy: Node reports its end before the agent has read its last message. The call in flight, or the reason for its end, is reported all the same.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openCallRecord } from '../../../agent/sampler/call-record.ts'
import { startChild, type ChildEnd } from '../../../agent/sampler/child-handle.ts'
import { formatCardCall, formatInFlightCall } from '../../../agent/sampler/protocol.ts'
import { createSeriesInterner } from '../../../agent/sampler/series-table.ts'
import { createUnkillableChildren } from '../../../agent/sampler/unkillable-children.ts'

const folder = mkdtempSync(join(tmpdir(), 'warpwatch-child-crash-'))
afterAll(() => rmSync(folder, { recursive: true }))

const agent = new URL('../../../agent/', import.meta.url).href
const HEAD = `import { existsSync } from 'node:fs'\nimport koffi from ${JSON.stringify(import.meta.resolve('koffi'))}\n`
const MARKS = {
  // As of NVML.
  nvml: `import { createCallMarker } from '${agent}nvml/in-flight-call.ts'
const mark = (fd) => createCallMarker(koffi, (gpu, ordinal) => 'nvml:' + gpu + ':' + ordinal, fd)(5, 12)`,
  card: `import { showInFlight } from '${agent}drm/card-set.ts'
const mark = (fd) => showInFlight(${JSON.stringify(formatCardCall(1, 'power'))}, fd)`,
  refused: 'const mark = () => {}',
}
const REFUSED = { type: 'failed', reason: 'gpu_lost', code: 15, detail: 'GPU is lost' } as const
const CRASHES = `process.kill(process.pid, 'SIGSEGV')`
const GOES = { nvml: CRASHES, card: CRASHES, refused: `process.send(${JSON.stringify(REFUSED)}, () => process.exit(1))` }
const entryOf = (how: keyof typeof MARKS): string => {
  const entry = join(folder, `${how}.mjs`)
  writeFileSync(
    entry,
    `${HEAD}${MARKS[how]}
process.once('message', ({ callFd }) => {
  mark(callFd)
  process.send({ type: 'hello', driverVersion: '', library: '', gpus: [], lost: [] })
  const timer = setInterval(() => {
    if (!existsSync(${JSON.stringify(join(folder, how))})) return
    clearInterval(timer)
    ${GOES[how]}
  }, 5)
})
`,
  )
  return entry
}
const isZombie = (pid: number): boolean => / Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\)/, ''))

test.for([
  ['nvml', 'its call is named', { kind: 'crash', call: { gpu: 5, functionOrdinal: 12 } }],
  ['card', 'its call is named', { kind: 'crash', call: { gpu: 1, part: 'power' } }],
  ['refused', 'it is no crash', { kind: 'failed', failed: REFUSED }],
] as const)('reaped beside another child, %s: %s', async ([how, , expected]) => {
  const ended = Promise.withResolvers<ChildEnd>()
  const marked = Promise.withResolvers<void>()
  const child = startChild(
    {
      entry: entryOf(how),
      execArgv: ['--no-warnings'],
      env: process.env,
      start: { libraries: [], leaveOut: [], peakHz: 0 },
      deadlineMs: 60_000,
      startDeadlineMs: 60_000,
      interner: createSeriesInterner([]),
      unkillable: createUnkillableChildren(() => {}),
    },
    { hello: () => marked.resolve(), sample() {}, done() {}, complain: (problem) => marked.reject(new Error(problem)), end: ended.resolve },
  )
  const { pid = 0 } = child
  await marked.promise
  const other = spawn('sh', ['-c', 'echo x'], { stdio: ['ignore', 'pipe', 'ignore'] })
  other.stdout.on('data', () => {
    // All in one turn of the event loop: the other one is dead, then the sampler dies, then both are reaped.
    while (!isZombie(other.pid ?? 0));
    writeFileSync(join(folder, how), '')
    while (!isZombie(pid));
  })
  expect(await ended.promise).toMatchObject(expected)
})

test('what is in the record outlives its writer, and leaves no file behind', () => {
  const record = openCallRecord([join(folder, 'missing'), folder])
  if (record === undefined) throw new Error('no record')
  expect(record.read()).toBe('')
  writeFileSync(record.fd, `${formatInFlightCall(3, 40)}\0`)
  expect(record.read()).toBe('nvml:3:40')
  record.close()
  expect(openCallRecord([join(folder, 'missing')])).toBeUndefined()
})
