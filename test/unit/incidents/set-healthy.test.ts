// An operator declares a fault repaired: it is over, and what stays unchanged until a reset is no new incident; what is new is.
import { describe, expect, test } from 'vitest'
import { createDetection } from '../../../agent/diagnosis/detection.ts'
import { defineDetector } from '../../../agent/diagnosis/detectors/definition.ts'
import type { Facts } from '../../../agent/model/facts.ts'
import type { Severity } from '../../../agent/model/severity.ts'
import type { About, Finding } from '../../../agent/model/finding.ts'
import type { Incident } from '../../../agent/model/incident.ts'
import type { DetectedKind } from '../../../agent/model/kinds.ts'
import type { BaselineEntry } from '../../../agent/model/maintenance.ts'
import { createScene, line, T, uuid, xidText } from './scene.ts'

type Shown = { readonly kind: DetectedKind; readonly facts: Facts; readonly severity?: Severity; readonly about?: About } | 'healthy' | 'unknown'
const ABOUT: About = { uuid: uuid(0) }

/** A host with one detector that says what the test shows it. */
function createHost(restored: readonly Incident[] = [], standing: readonly BaselineEntry[] = []) {
  let shown: Shown = 'unknown'
  let last: { readonly kind: DetectedKind; readonly about: About } = { kind: 'ecc_uncorrected', about: ABOUT }
  const detector = defineDetector({
    id: 'shown',
    kinds: ['ecc_uncorrected'],
    title: 'shown',
    severity: 'critical',
    watches: [],
    everyMs: 1_000,
    options: {},
    expression: { none: 'a test' },
    create: () => ({
      judge(): readonly Finding[] {
        if (shown === 'unknown') return []
        if (shown === 'healthy') return [{ ...last, key: 'k', state: 'healthy' }]
        const { kind, facts, severity = 'warning', about = ABOUT } = shown
        last = { kind, about }
        return [{ kind, key: 'k', about, state: 'faulty', severity, title: 'shown', verdict: 'so it is', facts, remedies: [] }]
      },
    }),
  })
  let accepted: readonly BaselineEntry[] = standing
  const scene = createScene({ detection: createDetection({ definitions: [detector] }), onBaseline: (all) => (accepted = all) })
  scene.diagnosis.restore(restored, standing)
  let t = T
  return {
    scene,
    show: (next: Shown) => {
      shown = next
      t = scene.pass(t, 2, [])
    },
    now: () => t,
    accepted: () => accepted,
    repaired: (id = scene.diagnosis.firing()[0]?.id ?? 'none', more: { readonly by?: string; readonly note?: string } = {}) =>
      scene.feed({ type: 'operator', t: t + 1, action: 'set_healthy', incident: id, ...more }),
    firing: () => scene.diagnosis.firing(),
    total: (kind: DetectedKind) => scene.diagnosis.figures().totals.get(kind) ?? 0,
  }
}

const ecc = (count: number): Shown => ({ kind: 'ecc_uncorrected', facts: { ecc_uncorrected_volatile: count, new_errors: count } })

describe('set healthy', () => {
  test('resolves with who and why, and the same counter stays quiet', () => {
    const host = createHost()
    host.show(ecc(3))
    const [before] = host.firing()
    host.repaired(before?.id, { by: 'kim', note: 'board tested' })
    expect(host.firing()).toEqual([])
    const [reported] = host.scene.incidents()
    expect(reported).toMatchObject({ status: 'resolved', resolution: 'set healthy by kim: board tested', resolved_at: host.now() + 1 })
    host.show(ecc(3))
    host.show('unknown')
    host.show(ecc(3))
    expect([host.firing().length, host.total('ecc_uncorrected')]).toEqual([0, 1])
    host.show(ecc(4))
    expect(host.firing()).toHaveLength(1)
    expect(host.total('ecc_uncorrected')).toBe(2)
    expect(host.accepted()).toEqual([])
  })

  test('is over with a reset: the same count after it is new', () => {
    const host = createHost()
    host.show(ecc(3))
    host.repaired()
    host.show('healthy')
    expect(host.accepted()).toEqual([])
    host.show(ecc(3))
    expect(host.firing()).toHaveLength(1)
  })

  test('outlives a restart of the agent', () => {
    const host = createHost()
    host.show(ecc(3))
    host.repaired()
    const again = createHost([], host.accepted())
    again.show(ecc(3))
    expect(again.firing()).toEqual([])
    again.show(ecc(5))
    expect(again.firing()).toHaveLength(1)
  })

  test('works on an incident from before a restart, of which its detector has not spoken yet', () => {
    const host = createHost()
    host.show(ecc(3))
    const again = createHost(host.firing())
    again.repaired()
    expect(again.firing()).toEqual([])
    again.show(ecc(3))
    expect(again.firing()).toEqual([])
  })

  test.each<readonly [string, Shown & object, Shown & object]>([
    ['another row', { kind: 'row_remap_failure', facts: { remapped_rows: 1 } }, { kind: 'row_remap_failure', facts: { remapped_rows: 2 } }],
    [
      'a pending remap that failed',
      { kind: 'row_remap_failure', facts: { remapped_rows: 1 } },
      { kind: 'row_remap_failure', facts: { remapped_rows: 1 }, severity: 'critical' },
    ],
    [
      'a narrower link',
      { kind: 'pcie_degraded', facts: { pcie_width: 8, pcie_generation: 4 } },
      { kind: 'pcie_degraded', facts: { pcie_width: 4, pcie_generation: 4 } },
    ],
    ['another link down', { kind: 'nvlink_errors', facts: { links_down: ['1'] } }, { kind: 'nvlink_errors', facts: { links_down: ['1', '3'] } }],
    ['one card fewer', { kind: 'gpu_missing', facts: { gpus_present: 7 }, about: {} }, { kind: 'gpu_missing', facts: { gpus_present: 6 }, about: {} }],
    [
      'another driver',
      { kind: 'nvml_driver_mismatch', facts: { library_version: '1' }, about: {} },
      { kind: 'nvml_driver_mismatch', facts: { library_version: '2' }, about: {} },
    ],
    [
      'one more GPU taken away',
      { kind: 'container_lost_gpu', facts: { gpus_lost: ['0'] }, about: { container: 'a', containerId: 'aaaaaaaaaaaa' } },
      { kind: 'container_lost_gpu', facts: { gpus_lost: ['0', '1'] }, about: { container: 'a', containerId: 'aaaaaaaaaaaa' } },
    ],
    [
      'another recovery',
      { kind: 'xid', facts: { xid: 154, recovery_action: 'GPU reset' } },
      { kind: 'xid', facts: { xid: 154, recovery_action: 'node reboot' } },
    ],
  ])('%s is new', (_, first, second) => {
    const host = createHost()
    host.show(first)
    expect(host.firing()).toHaveLength(1)
    host.repaired()
    host.show(first)
    expect(host.firing()).toEqual([])
    host.show(second)
    expect(host.firing()).toHaveLength(1)
  })

  test('the same on another GPU is new', () => {
    const host = createHost()
    host.show(ecc(3))
    host.repaired()
    host.show({ kind: 'ecc_uncorrected', facts: { ecc_uncorrected_volatile: 3 }, about: { uuid: uuid(1) } })
    expect(host.firing()).toHaveLength(1)
  })

  test('what is measured again each second fires again while it lasts', () => {
    const host = createHost()
    host.show({ kind: 'throttling', facts: { temperature_celsius: 90 } })
    host.repaired()
    expect(host.firing()).toEqual([])
    host.show({ kind: 'throttling', facts: { temperature_celsius: 90 } })
    expect(host.firing()).toHaveLength(1)
    expect(host.accepted()).toEqual([])
  })

  test('a new line of a log is a new incident', () => {
    const host = createHost()
    host.show('unknown')
    host.scene.feed(line(host.now(), 'kernel', xidText(0, 79)))
    host.repaired()
    expect(host.firing()).toEqual([])
    host.scene.feed(line(host.now() + 2, 'kernel', xidText(0, 79)))
    expect(host.firing()).toHaveLength(1)
  })

  test('says nothing of incidents that it does not know, or that are over', () => {
    const host = createHost()
    host.show(ecc(3))
    host.repaired('ffffffffffffffff')
    expect(host.firing()).toHaveLength(1)
    const id = host.firing()[0]?.id
    host.repaired(id)
    const reported = host.scene.reported.length
    host.repaired(id)
    expect(host.scene.reported).toHaveLength(reported)
  })
})
