// Hardware incidents over a restart of the agent and a reboot of the host: what was counted before is no health and no new fault; a counter that starts over is health.
import { describe, expect, test } from 'vitest'
import { createDetection } from '../../../agent/diagnosis/detection.ts'
import { eccUncorrected, rowRemapFailure } from '../../../agent/diagnosis/detectors/index.ts'
import type { Incident } from '../../../agent/model/incident.ts'
import { createScene, reading, scrape, secondOf, T, uuid } from './scene.ts'

/** A host whose GPU 0 tells these; undefined = it does not answer. */
type ErrorCounts = { readonly errors: number; readonly pending: number } | undefined
function host(restored: readonly Incident[] = []) {
  const scene = createScene({ detection: createDetection({ definitions: [eccUncorrected, rowRemapFailure] }) })
  scene.diagnosis.restore(restored)
  return {
    firing: () => scene.diagnosis.firing(),
    pass(from: number, seconds: number, reported: ErrorCounts, stepS = 1): void {
      const place = { gpu: '0', uuid: uuid(0) }
      for (let second = from; second < from + seconds; second += stepS) {
        const t = T + second * 1_000
        const readings =
          reported === undefined
            ? []
            : [
                reading('gpu_ecc_errors_total', { ...place, type: 'uncorrected', scope: 'volatile' }, reported.errors),
                reading('gpu_row_remap_pending', place, reported.pending),
              ]
        scene.feed({ ...scrape(t, 'gpu', readings), group: 'slow' }, ...secondOf(t, [], reported === undefined ? [0] : []))
      }
    },
  }
}
function crashed(): readonly Incident[] {
  const before = host()
  before.pass(0, 5, { errors: 1, pending: 0 })
  before.pass(5, 5, { errors: 3, pending: 1 })
  return before.firing()
}
const kinds = (incidents: readonly Incident[]): readonly string[] => incidents.map(({ kind }) => kind).sort()
const BOTH = ['ecc_uncorrected', 'row_remap_failure']

describe('hardware incidents after', () => {
  test('a restart of the agent: the same two, for as long as the GPU says the same', () => {
    const before = crashed()
    expect(kinds(before)).toEqual(BOTH)
    const after = host(before)
    after.pass(100, 7_200, { errors: 3, pending: 1 }, 10)
    expect(after.firing().map(({ id }) => id)).toEqual(before.map(({ id }) => id))
  })

  test('a reboot that mended it: none', () => {
    const after = host(crashed())
    after.pass(100, 3, { errors: 0, pending: 0 })
    expect(after.firing()).toEqual([])
  })

  test('a reboot that mended the errors, while a row still waits; and new errors after it are new', () => {
    const before = crashed()
    const after = host(before)
    after.pass(100, 3, { errors: 0, pending: 1 })
    expect(kinds(after.firing())).toEqual(['row_remap_failure'])
    after.pass(103, 3, { errors: 1, pending: 1 })
    expect(kinds(after.firing())).toEqual(BOTH)
    expect(before.map(({ id }) => id)).not.toContain(after.firing().find(({ kind }) => kind === 'ecc_uncorrected')?.id)
  })

  test('a reboot after which the GPU does not answer: both, also after days', () => {
    const after = host(crashed())
    after.pass(100, 3 * 86_400, undefined, 20)
    expect(kinds(after.firing())).toEqual(BOTH)
  })
})
