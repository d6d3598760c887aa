// The hardware detectors and their Prometheus expressions judge the same host alike: the same seconds go through the detector and, as metrics, through
// promtool's rule tests. Away from the turns (two evaluations of 15 s) both say the same.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DetectorDefinition } from '../../agent/diagnosis/detectors/definition.ts'
import { eccUncorrected, nvlinkErrors, pcieDegraded, powerBrake, recoveryAction, rowRemapFailure, throttling } from '../../agent/diagnosis/detectors/index.ts'
import { IDLE, reason, watch, WELL, type Values } from '../unit/detectors/hardware-scene.ts'

const promtool = spawnSync('promtool', ['--version'], { stdio: 'ignore' }).status === 0
const [FROM, TO, END, EVALUATION, SLACK] = [60, 150, 420, 15, 30]

type Case = readonly [name: string, detector: DetectorDefinition, fires: boolean, during: Values, always?: Values]
const SLOW = { 'gpu_clock_hertz domain=sm': 900e6 }
const HW = reason('hw_slowdown')
const ECC = 'gpu_ecc_errors_total type=uncorrected scope=volatile'
const CASES: readonly Case[] = [
  ['thermal slowdown', throttling, true, { [reason('hw_thermal_slowdown')]: 1, [HW]: 1, ...SLOW }],
  ['thermal slowdown of an idle card', throttling, false, { [reason('hw_thermal_slowdown')]: 1 }, IDLE],
  ['hardware slowdown alone', throttling, true, { [HW]: 1 }],
  ['power brake, as throttling', throttling, false, { [HW]: 1, [reason('hw_power_brake_slowdown')]: 1, ...SLOW }],
  ['power brake', powerBrake, true, { [HW]: 1, [reason('hw_power_brake_slowdown')]: 1 }],
  ['power cap at the default limit', throttling, false, SLOW],
  ['power cap at a lowered limit', throttling, true, SLOW, { gpu_power_limit_watts: 300 }],
  ['power cap below any base clock', throttling, true, { 'gpu_clock_hertz domain=sm': 500e6 }],
  ['memory at its limit', throttling, true, { gpu_memory_temperature_celsius: 95 }],
  ['memory below its limit', throttling, false, { gpu_memory_temperature_celsius: 94 }],
  [
    'memory without a limit from the driver',
    throttling,
    true,
    { gpu_memory_temperature_celsius: 96 },
    { 'gpu_temperature_threshold_celsius threshold=memory_max': undefined },
  ],
  ['errors, then a reset', eccUncorrected, true, { [ECC]: 3 }],
  ['errors from before', eccUncorrected, false, {}, { [ECC]: 3 }],
  ['a row waits', rowRemapFailure, true, { gpu_row_remap_pending: 1 }],
  ['a page waits', rowRemapFailure, true, { gpu_retired_pages_pending: 1 }, { gpu_retired_pages_pending: 0 }],
  ['a recovery', recoveryAction, true, { gpu_recovery_action: 2 }],
  ['fewer lanes', pcieDegraded, true, { gpu_pcie_link_width: 4 }],
  ['a lower generation', pcieDegraded, true, { gpu_pcie_link_generation: 3 }],
  ['a lower generation at rest', pcieDegraded, false, { gpu_pcie_link_generation: 1 }, IDLE],
  ['a lower generation in P8', pcieDegraded, false, { gpu_pcie_link_generation: 1 }, { gpu_performance_state: 8 }],
  ['a link down', nvlinkErrors, true, { 'gpu_nvlink_active link=2': 0 }],
  ['replays on NVLink', nvlinkErrors, true, { 'gpu_nvlink_errors_total type=replay': 2 }, { 'gpu_nvlink_errors_total type=replay': 0 }],
  ['one CRC error', nvlinkErrors, false, { 'gpu_nvlink_errors_total type=crc_data': 1 }],
]

/** `gpu_x a=b` as promtool writes a series. */
function seriesName(key: string): string {
  const [name = '', ...labels] = key.split(' ')
  const pairs = ['gpu="0"', 'uuid="A"', ...labels.map((label) => label.replace('=', '="') + '"')]
  return `warpwatch_${name}{${pairs.join(',')}}`
}

describe.skipIf(!promtool)('hardware detectors and their rules (needs promtool)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-rules-'))
  let answer = ''
  const expected: string[] = []
  beforeAll(() => {
    const definitions: readonly DetectorDefinition[] = [throttling, powerBrake, eccUncorrected, rowRemapFailure, recoveryAction, pcieDegraded, nvlinkErrors]
    const rules = definitions.map(({ id, expression }) => {
      if ('none' in expression) throw new Error(`${id}: expected an expression, came: ${expression.none}`)
      return { alert: id, expr: expression.promql, for: expression.for ?? '0s' }
    })
    writeFileSync(join(folder, 'rules.json'), JSON.stringify({ groups: [{ name: 'hardware', interval: `${EVALUATION}s`, rules }] }))
    const tests = CASES.map(([name, detector, , during, always = {}]) => {
      const turns = watch(detector, END, (second) => [{ ...always, ...(second >= FROM && second < TO ? during : {}) }])
      const firing = (second: number): boolean => turns.findLast((turn) => turn.second <= second)?.state === 'faulty'
      const settled = (second: number): boolean => !turns.some((turn) => Math.abs(turn.second - second) <= SLACK)
      const keys = [...new Set([...Object.keys(WELL), ...Object.keys(always), ...Object.keys(during)])]
      const input_series = keys.flatMap((key) => {
        const usual = { ...WELL, ...always }[key]
        if (usual === undefined) return []
        const [before, faulty] = [usual, during[key] ?? usual]
        return [{ series: seriesName(key), values: `${before}x${FROM - 1} ${faulty}x${TO - FROM - 1} ${before}x${END - TO}` }]
      })
      const times = Array.from({ length: END / EVALUATION - 1 }, (_, n) => (n + 1) * EVALUATION).filter(settled)
      if (times.some((second) => firing(second))) expected.push(name)
      return {
        name,
        interval: '1s',
        input_series,
        promql_expr_test: times.map((second) => ({
          expr: `count(ALERTS{alertname="${detector.id}",alertstate="firing"}) or vector(0)`,
          eval_time: `${second}s`,
          exp_samples: [{ labels: '{}', value: firing(second) ? 1 : 0 }],
        })),
      }
    })
    writeFileSync(join(folder, 'test.json'), JSON.stringify({ rule_files: ['rules.json'], evaluation_interval: `${EVALUATION}s`, tests }))
    const run = spawnSync('promtool', ['test', 'rules', 'test.json'], { cwd: folder, encoding: 'utf8' })
    answer = run.stdout + run.stderr
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('the rules are valid', () => {
    expect(execFileSync('promtool', ['check', 'rules', 'rules.json'], { cwd: folder, encoding: 'utf8' })).toContain('7 rules found')
  })

  test('the detectors fire where they should', () => {
    expect(expected).toEqual(CASES.flatMap(([name, , fires]) => (fires ? [name] : [])))
  })

  test('and the rules agree at every evaluation away from a turn', () => {
    expect(answer.slice(-4_000).trim()).toMatch(/SUCCESS$/)
  })
})
