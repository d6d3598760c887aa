// Random histories of the allocator simulator: the figures of the snapshot are the simulator's exact state, and the answer to a request is what it does.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { analyse } from '../../agent/allocator/snapshot/analyse.ts'
import { readSnapshot } from '../../agent/allocator/snapshot/file.ts'

const SIMULATOR = join(import.meta.dirname, '../../../shared/tools/allocator-sim')
const SCRIPT = join(import.meta.dirname, '../fakes/allocator/histories.py')
const HISTORIES = 120
const missing = !existsSync(join(SIMULATOR, 'allocator.py'))
  ? 'no allocator simulator'
  : spawnSync('python3', ['--version']).status === 0
    ? undefined
    : 'no python3'

const bytes = z.number()
const index = z.array(
  z.object({
    file: z.string(),
    expandable: z.boolean(),
    device_free: bytes,
    reserved: bytes,
    allocated: bytes,
    requested: bytes,
    releasable: bytes,
    stranded: bytes,
    inactive_split: bytes,
    largest_small: bytes,
    largest_large: bytes,
    requests: z.array(z.object({ bytes, would_fit: z.boolean(), succeeds: z.boolean() })),
  }),
)
type History = z.infer<typeof index>[number]

describe.skipIf(missing !== undefined)(`a snapshot of the simulator${missing === undefined ? '' : ` (${missing})`}`, () => {
  let folder = ''
  let histories: readonly History[] = []
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'warpwatch-histories-'))
    const done = spawnSync('python3', [SCRIPT, SIMULATOR, folder, '1', String(HISTORIES)], { encoding: 'utf8' })
    if (done.status !== 0) throw new Error(`histories.py: expected exit 0, came ${done.status}: ${done.stderr}`)
    histories = index.parse(JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('has the simulator’s figures, to the byte', () => {
    expect(histories).toHaveLength(HISTORIES)
    expect(new Set(histories.map((one) => one.expandable)).size).toBe(2)
    for (const history of histories) {
      const { analysis } = analyse(readSnapshot(readFileSync(history.file)))
      const [device] = analysis.devices
      const largest = (kind: string): number =>
        Math.max(0, ...(device?.pools ?? []).filter((pool) => pool.kind === kind).map((pool) => pool.largest_free_bytes))
      expect({
        file: history.file,
        reserved: device?.reserved_bytes ?? 0,
        allocated: device?.allocated_bytes ?? 0,
        requested: device?.internal?.requested_bytes ?? 0,
        releasable: device?.releasable_bytes ?? 0,
        stranded: device?.stranded_bytes ?? 0,
        // For native segments, what is stranded is what PyTorch counts as inactive_split_bytes.
        inactive_split: history.expandable ? 0 : (device?.stranded_bytes ?? 0),
        largest: [largest('small'), largest('large')],
      }).toEqual({
        file: history.file,
        reserved: history.reserved,
        allocated: history.allocated,
        requested: history.requested,
        releasable: history.releasable,
        stranded: history.stranded,
        inactive_split: history.inactive_split,
        largest: [history.largest_small, history.largest_large],
      })
    }
  })

  test('answers each request as the simulator does', () => {
    const counts = new Map<string, number>()
    const wrong: string[] = []
    for (const history of histories) {
      const snapshot = readSnapshot(readFileSync(history.file))
      for (const { bytes, would_fit: wouldFit, succeeds } of history.requests) {
        const answer = analyse(snapshot, { requestBytes: bytes, deviceFreeBytes: history.device_free }).analysis.request
        const outcome = answer?.outcome ?? 'none'
        counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
        const fits = ['free_block', 'device', 'after_flush'].includes(outcome)
        // Without the device's free memory, the figure that is asked for must decide the same.
        const needs = analyse(snapshot, { requestBytes: bytes }).analysis.request?.needs_free_after_flush_bytes ?? Infinity
        const right = history.expandable
          ? outcome === 'maybe' || (fits === succeeds && (fits || !wouldFit))
          : outcome !== 'maybe' && fits === wouldFit && fits === succeeds && history.device_free >= needs === succeeds
        if (!right) wrong.push(`${history.file}: ${bytes} bytes, would fit ${wouldFit}, succeeds ${succeeds}: ${JSON.stringify(answer)}`)
      }
    }
    expect(wrong).toEqual([])
    // Every kind of answer must have been put to the test.
    for (const outcome of ['free_block', 'device', 'after_flush', 'fails']) expect([outcome, (counts.get(outcome) ?? 0) > 20]).toEqual([outcome, true])
    const all = [...counts.values()].reduce((sum, count) => sum + count, 0)
    expect((counts.get('maybe') ?? 0) / all, 'expandable segments leave few answers open').toBeLessThan(0.15)
  })
})
