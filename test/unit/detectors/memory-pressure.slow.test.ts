// Whatever the probe, the driver and the engine say, in whatever order: the detectors of memory pressure never throw, say only finite figures, and say the same twice.
import * as fc from '../../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import { createDetection } from '../../../agent/diagnosis/detection.ts'
import { allocatorRetryStorm } from '../../../agent/diagnosis/detectors/allocator-retry-storm.ts'
import { batchHalving } from '../../../agent/diagnosis/detectors/batch-halving/batch-halving.ts'
import { fragmentationPressure } from '../../../agent/diagnosis/detectors/fragmentation-pressure/fragmentation-pressure.ts'
import { neighbourPressure } from '../../../agent/diagnosis/detectors/neighbour-pressure/neighbour-pressure.ts'
import { oomRestartLoop } from '../../../agent/diagnosis/detectors/oom-restart-loop/oom-restart-loop.ts'
import type { Finding } from '../../../agent/model/finding.ts'
import { T } from '../incidents/scene.ts'
import { containerEvent, eventsOf, logLine, oomOf, type Moment, type Process } from './memory-scene.ts'

const gib = fc.double({ min: 0, max: 80, noNaN: true })
const probe = fc.record(
  {
    active: gib,
    reserved: gib,
    split: gib,
    retries: fc.nat(20),
    ooms: fc.nat(5),
    expandable: fc.boolean(),
    backend: fc.constantFrom('native' as const, 'cudaMallocAsync' as const, 'other' as const),
    limit: gib,
  },
  { requiredKeys: ['active', 'reserved'] },
)
const process = fc.record(
  { pid: fc.integer({ min: 1, max: 4 }), name: fc.constantFrom('python3', 'train'), container: fc.constantFrom('trainer', 'notebook'), holds: gib, probe },
  { requiredKeys: ['pid'] },
) satisfies fc.Arbitrary<Process>
const step = fc.record({
  /** The clock may stand still, jump or go back. */
  seconds: fc.constantFrom(0, 1, 1, 5, 60, 600, -30),
  processes: fc.array(process, { maxLength: 4 }),
  blind: fc.boolean(),
  event: fc.constantFrom('none', 'none', 'start', 'die', 'oom', 'log', 'failed'),
})
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

function run(steps: readonly Step[]): readonly Finding[] {
  const failures: unknown[] = []
  const detection = createDetection({
    definitions: [allocatorRetryStorm, batchHalving, fragmentationPressure, neighbourPressure, oomRestartLoop],
    onFailure: (_, error) => void failures.push(error),
  })
  const found: Finding[] = []
  let second = 0
  for (const { seconds, processes, blind, event } of steps) {
    second += seconds
    const [first] = processes
    const events =
      event === 'none'
        ? []
        : event === 'log'
          ? [logLine(second, 'trainer', 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.')]
          : event === 'failed'
            ? [oomOf(second, first?.pid ?? 1, 2, first?.probe ?? { active: 1, reserved: 1 }, first?.container)]
            : [containerEvent(second, event, 'trainer', event === 'die' ? 1 : undefined)]
    const moment: Moment = { processes, events, ...(blind ? { blind } : {}) }
    for (const one of eventsOf(second, moment)) detection.ingest(one)
    found.push(...detection.judge(T + second * 1_000))
  }
  if (failures.length > 0) throw new Error('a detector threw', { cause: failures[0] })
  return found
}

describe('detectors of memory pressure', () => {
  test('never throw, and say finite figures and the same twice', () => {
    const kinds = new Set<string>()
    fc.assert(
      fc.property(fc.array(step, { minLength: 20, maxLength: 120 }), (steps) => {
        const found = run(steps)
        expect(JSON.stringify(run(steps))).toBe(JSON.stringify(found))
        for (const finding of found) {
          if (finding.state !== 'faulty') continue
          kinds.add(finding.kind)
          expect(`${finding.title} ${finding.verdict}`).not.toMatch(/NaN|Infinity|undefined|-\d+\.\d\d GiB/)
          expect(Object.values(finding.facts).every((value) => typeof value !== 'number' || Number.isFinite(value))).toBe(true)
        }
      }),
      { numRuns: 500, seed: 4 },
    )
    // Else nothing was tested.
    expect([...kinds]).toEqual(expect.arrayContaining(['allocator_retry_storm', 'oom_restart_loop']))
  })
})
