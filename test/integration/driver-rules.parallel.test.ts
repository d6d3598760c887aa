// The detectors of driver and access and their Prometheus expressions judge the same host alike: the same story goes through the detectors and, as the metrics
// that the agent serves in it, through promtool's rule tests. Away from the turns (two evaluations of 15 s) both say the same.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { DetectorDefinition } from '../../agent/diagnosis/detectors/definition.ts'
import { containerLostGpu, driverHung, gpuMissing, nvmlDriverMismatch, telemetryStale } from '../../agent/diagnosis/detectors/index.ts'
import { cards, group, watch, type Second } from '../unit/detectors/driver-scene.ts'
import { reading, T } from '../unit/incidents/scene.ts'

const promtool = spawnSync('promtool', ['--version'], { stdio: 'ignore' }).status === 0
const [FROM, TO, END, EVALUATION, SLACK] = [60, 240, 480, 15, 30]
const BOX = { container: 'trainer', container_id: '0123456789ab', gpu: '0', uuid: 'A' }

/** What /metrics shows of a series in a second; undefined = it is not there. */
type Shown = Readonly<Record<string, (second: number) => number | undefined>>
type Case = {
  readonly name: string
  readonly detector: DetectorDefinition
  readonly fires: boolean
  readonly tell: (second: number) => Second
  readonly shown: Shown
}

const during = (second: number): boolean => second >= FROM && second < TO
const of = (metric: string, gpu: number): string => `warpwatch_${metric}{gpu="${gpu}",uuid="${gpu}"}`
const WELL: Second = { cards: cards(2), listed: [1, 1], present: 2, expected: 2, versions: ['550.90.07', '550.90.07'] }
const SHOWN: Shown = {
  [of('gpu_present', 0)]: () => 1,
  [of('gpu_present', 1)]: () => 1,
  [of('gpu_memory_used_bytes', 0)]: () => 1e9,
  [of('gpu_memory_used_bytes', 1)]: () => 1e9,
  [of('gpu_sample_age_seconds', 0)]: () => 0,
  [of('gpu_sample_age_seconds', 1)]: () => 0,
  warpwatch_gpus_present: () => 2,
  warpwatch_gpus_expected: () => 2,
  'warpwatch_agent_sampler_restarts_total{reason="hang"}': () => 0,
  'warpwatch_agent_source_up{source="host"}': () => 1,
  'warpwatch_driver_library_mismatch{kernel_version="550.90.07",library_version="550.90.07"}': () => 0,
}
const gone = (second: number): undefined | 1e9 => (during(second) ? undefined : 1e9)
const one =
  (card: 'gpu_lost' | 'timeout' | 'driver_error', more: Second = {}) =>
  (second: number): Second =>
    during(second) ? { ...WELL, cards: cards(2, { 1: card }), ...more } : WELL
const none: Second = { cards: cards(2, { 0: 'silent', 1: 'silent' }), expected: 2 }
const LOST: Shown = {
  [of('gpu_present', 1)]: (second) => (during(second) ? 0 : 1),
  [of('gpu_memory_used_bytes', 1)]: gone,
  [of('gpu_sample_age_seconds', 1)]: (second) => (during(second) ? undefined : 0),
  warpwatch_gpus_present: (second) => (during(second) ? 1 : 2),
}
/** A probe of the agent each minute hangs too. */
const HUNG: Shown = {
  [of('gpu_memory_used_bytes', 1)]: gone,
  [of('gpu_sample_age_seconds', 1)]: (second) => (during(second) ? second - FROM : 0),
  'warpwatch_agent_sampler_hangs_total{gpu="1",uuid="1",function="nvmlDeviceGetPowerUsage"}': (second) =>
    second < FROM + 3 ? undefined : second < FROM + 6 ? 1 : 2 + Math.floor((Math.min(second, TO) - FROM) / 60),
  'warpwatch_agent_sampler_restarts_total{reason="hang"}': (second) => (second < FROM + 3 ? 0 : second < FROM + 6 ? 1 : 2),
}
const SILENT: Shown = { [of('gpu_memory_used_bytes', 1)]: gone }
const DOWN: Shown = {
  ...Object.fromEntries(['gpu_present', 'gpu_memory_used_bytes'].flatMap((metric) => [0, 1].map((gpu) => [of(metric, gpu), gone] as const))),
  warpwatch_gpus_present: (second) => (during(second) ? undefined : 2),
}
const ACCESS: Shown = { 'warpwatch_container_gpu_accessible{container="trainer",gpu="0",uuid="A"}': (second) => (during(second) ? 0 : 1) }
const UPDATED: Shown = {
  'warpwatch_driver_library_mismatch{kernel_version="550.90.07",library_version="550.90.07"}': (second) => (during(second) ? undefined : 0),
  'warpwatch_driver_library_mismatch{kernel_version="550.90.07",library_version="560.35.03"}': (second) => (during(second) ? 1 : undefined),
}
const updated = (second: number): Second => (during(second) ? { ...WELL, versions: ['550.90.07', '560.35.03'] } : WELL)
const access = (second: number): Second => ({
  ...WELL,
  more: [{ ...group(T + second * 1_000, '', [reading('container_gpu_accessible', BOX, during(second) ? 0 : 1)], [], 'device-access') }],
})
const hostSilent = (second: number): Second => ({ ...WELL, more: during(second) ? [] : [group(T + second * 1_000, 'fast', [], [], 'host')] })

const lost = one('gpu_lost', { listed: [1, 0], present: 1 })
const CASES: readonly Case[] = [
  { name: 'a lost card', detector: gpuMissing, fires: true, tell: lost, shown: LOST },
  { name: 'a lost card, as silence', detector: telemetryStale, fires: false, tell: lost, shown: LOST },
  { name: 'a lost card, as a hang', detector: driverHung, fires: false, tell: lost, shown: LOST },
  {
    name: 'fewer than configured',
    detector: gpuMissing,
    fires: true,
    tell: (second) => ({ ...WELL, expected: during(second) ? 4 : 2 }),
    shown: { warpwatch_gpus_expected: (second) => (during(second) ? 4 : 2) },
  },
  { name: 'a hang', detector: driverHung, fires: true, tell: one('timeout'), shown: HUNG },
  { name: 'a hang, as a missing card', detector: gpuMissing, fires: false, tell: one('timeout'), shown: HUNG },
  { name: 'a hang, as silence', detector: telemetryStale, fires: false, tell: one('timeout'), shown: HUNG },
  { name: 'a card that gives errors', detector: telemetryStale, fires: true, tell: one('driver_error'), shown: SILENT },
  { name: 'a card that gives errors, as a hang', detector: driverHung, fires: false, tell: one('driver_error'), shown: SILENT },
  {
    name: 'no driver any more',
    detector: telemetryStale,
    fires: true,
    tell: (second) => (during(second) ? { ...none, wide: { reason: 'driver_error', code: 9 } } : WELL),
    shown: DOWN,
  },
  {
    name: 'a driver of another version, as silence',
    detector: telemetryStale,
    fires: false,
    tell: (second) => (during(second) ? { ...none, wide: { reason: 'driver_error', code: 18 }, versions: ['550.90.07', '560.35.03'] } : WELL),
    shown: { ...DOWN, ...UPDATED },
  },
  {
    name: 'the source of the host',
    detector: telemetryStale,
    fires: true,
    tell: hostSilent,
    shown: { 'warpwatch_agent_source_up{source="host"}': (second) => (second >= FROM + 15 && second < TO ? 0 : 1) },
  },
  { name: 'an update', detector: nvmlDriverMismatch, fires: true, tell: updated, shown: UPDATED },
  { name: 'versions that fit', detector: nvmlDriverMismatch, fires: false, tell: () => WELL, shown: {} },
  { name: 'a container without access', detector: containerLostGpu, fires: true, tell: access, shown: ACCESS },
  { name: 'a host that is well', detector: containerLostGpu, fires: false, tell: () => WELL, shown: {} },
]

function testOf({ name, detector, tell, shown }: Case) {
  const turns = watch(END, tell, { definitions: [detector] })
  const firing = (second: number): boolean => {
    const last = turns.findLast((turn) => turn.second <= second)
    return last !== undefined && last.fault !== undefined
  }
  const settled = (second: number): boolean =>
    !turns.some((turn) => Math.abs(turn.second - second) <= SLACK) && Math.abs(second - FROM) > SLACK && Math.abs(second - TO) > SLACK
  const times = Array.from({ length: END / EVALUATION - 1 }, (_, n) => (n + 1) * EVALUATION).filter(settled)
  return {
    fired: times.some(firing),
    rules: {
      name,
      interval: '1s',
      input_series: Object.entries({ ...SHOWN, ...shown }).map(([series, value]) => ({
        series,
        // A series that leaves the page is marked stale by Prometheus.
        values: Array.from({ length: END }, (_, second) => value(second) ?? (second > 0 && value(second - 1) !== undefined ? 'stale' : '_')).join(' '),
      })),
      promql_expr_test: times.map((second) => ({
        expr: `count(ALERTS{alertname="${detector.id}",alertstate="firing"}) > bool 0 or vector(0)`,
        eval_time: `${second}s`,
        exp_samples: [{ labels: '{}', value: firing(second) ? 1 : 0 }],
      })),
    },
  }
}

describe.skipIf(!promtool)('detectors of driver and access and their rules (needs promtool)', () => {
  test('agree at every evaluation away from a turn', () => {
    const folder = mkdtempSync(join(tmpdir(), 'warpwatch-rules-'))
    const definitions: readonly DetectorDefinition[] = [gpuMissing, driverHung, telemetryStale, nvmlDriverMismatch, containerLostGpu]
    const rules = definitions.map(({ id, expression }) => {
      if ('none' in expression) throw new Error(`${id}: expected an expression, came: ${expression.none}`)
      return { alert: id, expr: expression.promql, for: expression.for ?? '0s' }
    })
    const tests = CASES.map(testOf)
    expect(CASES.filter((_, n) => tests[n]?.fired === true).map(({ name }) => name)).toEqual(CASES.filter(({ fires }) => fires).map(({ name }) => name))
    writeFileSync(join(folder, 'rules.json'), JSON.stringify({ groups: [{ name: 'driver', interval: `${EVALUATION}s`, rules }] }))
    writeFileSync(
      join(folder, 'test.json'),
      JSON.stringify({ rule_files: ['rules.json'], evaluation_interval: `${EVALUATION}s`, tests: tests.map((entry) => entry.rules) }),
    )
    const run = spawnSync('promtool', ['test', 'rules', 'test.json'], { cwd: folder, encoding: 'utf8' })
    rmSync(folder, { recursive: true, force: true })
    expect((run.stdout + run.stderr).slice(-4_000).trim()).toMatch(/SUCCESS$/)
  })
})
