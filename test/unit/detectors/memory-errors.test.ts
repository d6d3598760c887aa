// Uncorrected errors, rows that cannot be or wait to be replaced, and the recovery that the driver asks for.
import { describe, expect, test } from 'vitest'
import { eccUncorrected } from '../../../agent/diagnosis/detectors/ecc-uncorrected.ts'
import { recoveryAction } from '../../../agent/diagnosis/detectors/recovery-action.ts'
import { rowRemapFailure } from '../../../agent/diagnosis/detectors/row-remap-failure.ts'
import { faults, story, watch, type Values } from './hardware-scene.ts'

const errors = (count: number | undefined, ever = count): Values => ({
  'gpu_ecc_errors_total type=uncorrected scope=volatile': count,
  'gpu_ecc_errors_total type=uncorrected scope=aggregate': ever,
})

describe('uncorrected memory errors', () => {
  test('a rise is told at once, counts on, and is over when the counter starts over: a reset or a reboot', () => {
    const counts = (second: number): Values => (second < 10 ? errors(2, 9) : second < 20 ? errors(3, 10) : second < 30 ? errors(7, 14) : errors(0, 14))
    const turns = watch(eccUncorrected, 60, (second) => [counts(second)])
    expect(story(turns)).toEqual(['10 faulty critical', '30 healthy'])
    expect(faults(turns)[0]).toMatchObject({
      title: 'GPU 0: an uncorrected memory error',
      facts: { new_errors: 1, ecc_uncorrected_volatile: 3, ecc_uncorrected_aggregate: 10, affected: ['process python (4242) of container trainer'] },
    })
    expect(turns.at(-1)?.why).toContain('reset')
    const grown = watch(eccUncorrected, 25, (second) => [second < 10 ? errors(2) : errors(7)])
    expect(faults(grown)[0]?.title).toBe('GPU 0: 5 uncorrected memory errors')
  })

  test('errors that come again after the reset are new ones', () => {
    const turns = watch(eccUncorrected, 60, (second) => [second < 10 ? errors(1) : second < 20 ? errors(4) : second < 30 ? errors(0, 4) : errors(1, 5)])
    expect(story(turns)).toEqual(['10 faulty critical', '20 healthy', '30 faulty critical'])
    expect(faults(turns)[1]?.facts).toMatchObject({ new_errors: 1 })
  })

  test('a counter that fell but is not 0 started over: what it holds is new', () => {
    const turns = watch(eccUncorrected, 30, (second) => [errors(second < 10 ? 5 : 2)])
    expect(faults(turns)[0]).toMatchObject({ second: 10, facts: { new_errors: 2 } })
  })

  test('a day without a further one ends it', () => {
    const turns = watch(eccUncorrected, 5_000, (second) => [errors(second < 10 ? 0 : 1)], { quiet_hours: 1 })
    expect(story(turns)).toEqual(['10 faulty critical', '3610 healthy'])
  })

  test.each<[name: string, tell: (second: number) => readonly (Values | 'gone')[]]>([
    ['errors from before the agent looked', () => [errors(17)]],
    ['only the history of the board', () => [errors(0, 40)]],
    ['corrected errors', (second) => [{ 'gpu_ecc_errors_total type=corrected scope=volatile': second * 100 }]],
    ['ECC that cannot be read', () => [errors(undefined)]],
    ['a counter that comes back after a silence as it was', (second) => [second % 20 < 10 ? errors(3) : 'gone']],
  ])('quiet: %s', (_, tell) => {
    expect(faults(watch(eccUncorrected, 100, tell))).toEqual([])
  })

  test('silence does not heal it, and what was counted before a restart of the agent is no health', () => {
    expect(story(watch(eccUncorrected, 3_600, (second) => [second < 10 ? errors(0) : second < 20 ? errors(1) : 'gone']))).toEqual(['10 faulty critical'])
    expect(watch(eccUncorrected, 3_600, () => [errors(1)])).toEqual([])
    // After a reboot the counter is 0: then it is.
    expect(watch(eccUncorrected, 10, () => [errors(0, 1)])).toMatchObject([{ second: 0, state: 'healthy' }])
  })
})

describe('rows and pages', () => {
  test('a failed remapping is critical, one that waits a warning; each is told at once, also when it was there before', () => {
    expect(story(watch(rowRemapFailure, 10, () => [{ gpu_row_remap_failure: 1 }]))).toEqual(['0 faulty critical'])
    const turns = watch(rowRemapFailure, 40, (second) => [
      second < 10 ? {} : second < 20 ? { gpu_row_remap_pending: 1, 'gpu_remapped_rows type=uncorrected': 2 } : second < 30 ? { gpu_row_remap_failure: 1 } : {},
    ])
    expect(story(turns)).toEqual(['10 faulty warning', '20 faulty critical', '30 healthy'])
    expect(faults(turns)[0]).toMatchObject({ title: 'GPU 0: row remap pending, GPU reset required', facts: { remapped_rows: 2 } })
    expect(faults(turns)[1]?.verdict).toContain('replacing the board')
  })

  test('pages of an older GPU that wait for a reset', () => {
    const old: Values = { gpu_row_remap_pending: undefined, gpu_row_remap_failure: undefined, 'gpu_remapped_rows type=uncorrected': undefined }
    const pages = (pending: number): Values => ({ ...old, gpu_retired_pages_pending: pending, 'gpu_retired_pages cause=double_bit': 3 })
    const turns = watch(rowRemapFailure, 30, (second) => [pages(second >= 10 && second < 20 ? 1 : 0)])
    expect(story(turns)).toEqual(['10 faulty warning', '20 healthy'])
    expect(faults(turns)[0]).toMatchObject({ title: 'GPU 0: page retirement pending, GPU reset required', facts: { retired_pages: 3 } })
  })

  test('quiet: rows that were replaced, and nothing to read', () => {
    expect(faults(watch(rowRemapFailure, 20, () => [{ 'gpu_remapped_rows type=uncorrected': 8 }]))).toEqual([])
    expect(watch(rowRemapFailure, 20, () => [{ gpu_row_remap_pending: undefined, gpu_row_remap_failure: undefined }])).toEqual([])
  })

  test('neither silence nor the loss of one flag heals', () => {
    expect(story(watch(rowRemapFailure, 100, (second) => [second < 5 ? { gpu_row_remap_pending: 1 } : 'gone']))).toEqual(['0 faulty warning'])
    expect(story(watch(rowRemapFailure, 100, (second) => [{ gpu_row_remap_failure: second < 5 ? 1 : undefined }]))).toEqual(['0 faulty critical'])
  })
})

describe('the recovery that the driver asks for', () => {
  test('is Xid 154 for as long as it asks', () => {
    const turns = watch(recoveryAction, 30, (second) => [{ gpu_recovery_action: second < 5 ? 0 : second < 20 ? 1 : 0 }])
    expect(story(turns)).toEqual(['5 faulty critical', '20 healthy'])
    expect(faults(turns)[0]).toMatchObject({
      title: 'Xid 154: the driver asks for a recovery of GPU 0: GPU Reset',
      facts: { xid: 154, recovery_action: 'GPU Reset' },
    })
  })

  test.each([
    [2, 'Node Reboot'],
    [3, 'Drain P2P'],
    [4, 'Drain and Reset'],
    [5, 'Recover IMEX domain'],
    [6, 'Bus Reset'],
    [7, 'System Reboot'],
    [11, 'action 11'],
  ])('%i is %s', (action, words) => {
    expect(faults(watch(recoveryAction, 3, () => [{ gpu_recovery_action: action }]))[0]).toMatchObject({
      severity: 'critical',
      facts: { recovery_action: words },
    })
  })

  test('quiet without the field (drivers before R565); silence does not heal', () => {
    expect(watch(recoveryAction, 10, () => [{ gpu_recovery_action: undefined }])).toEqual([])
    expect(story(watch(recoveryAction, 100, (second) => [second < 5 ? { gpu_recovery_action: 2 } : 'gone']))).toEqual(['0 faulty critical'])
  })
})
