// Services and thresholds, and their Prometheus expressions: the same seconds through the detectors and, as metrics, through promtool's rule tests.
// Away from the turns (two evaluations of 15 s) both say the same; for a service that is asked more rarely than that, one check later: its rule ends with the
// first good check, the detector with the second.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { customThresholds } from '../../agent/diagnosis/custom-thresholds.ts'
import { createDetection } from '../../agent/diagnosis/detection.ts'
import type { DetectorDefinition } from '../../agent/diagnosis/detectors/definition.ts'
import { targetDown } from '../../agent/diagnosis/detectors/target-down.ts'
import type { CustomThreshold } from '../../agent/model/detector-settings.ts'
import type { Reading } from '../../agent/model/reading.ts'
import { reading, scrape, T, uuid } from '../unit/incidents/scene.ts'

const promtool = spawnSync('promtool', ['--version'], { stdio: 'ignore' }).status === 0
const [END, EVALUATION, SLACK] = [600, 15, 30]

const HOT: CustomThreshold = {
  name: 'hot',
  metric: 'warpwatch_gpu_temperature_celsius',
  labels: { gpu: '0' },
  comparison: '>=',
  value: 85,
  forMs: 60_000,
  clearMs: 0,
  severity: 'warning',
}
const [hot = targetDown] = customThresholds([HOT])
const heat = (celsius: number, gpu = 0): readonly Reading[] => [reading('gpu_temperature_celsius', { gpu: String(gpu), uuid: uuid(gpu) }, celsius)]
/** What the source says in this second of a service that is asked each `everyS`, and fails from 100 s to `until`. */
const service = (everyS: number, until: number) => {
  const fails = (second: number): boolean => second >= 100 && second < until
  return (second: number): readonly Reading[] => {
    const newest = Math.floor(second / everyS) * everyS
    let failed = 0
    for (let check = newest; check >= 0 && fails(check); check -= everyS) failed++
    return [reading('target_up', { target: 'ui' }, failed > 0 ? 0 : 1), reading('target_failed_checks', { target: 'ui' }, failed)]
  }
}

type Case = readonly [name: string, detector: DetectorDefinition, fires: boolean, tell: (second: number) => readonly Reading[], scrapeEveryS: number]
const CASES: readonly Case[] = [
  ['a service that is well', targetDown, false, service(10, 0), 10],
  ['a service that fails twice', targetDown, false, service(10, 120), 10],
  ['a service that is down', targetDown, true, service(10, 300), 10],
  ['a service that is asked each second', targetDown, true, service(1, 300), 1],
  ['a service that is asked each minute', targetDown, true, service(60, 400), 60],
  ['a threshold that is passed', hot, true, (second) => heat(second >= 100 && second < 300 ? 85 : 80), 1],
  ['a threshold that is passed for too short', hot, false, (second) => heat(second % 100 < 50 ? 90 : 80), 1],
  ['a threshold on another GPU', hot, false, () => [...heat(90, 1), ...heat(60)], 1],
]

/** Whether anything is faulty at the end of each second. A check is told once; what is read holds until the next. */
function judged(detector: DetectorDefinition, tell: (second: number) => readonly Reading[], everyS: number): readonly boolean[] {
  const detection = createDetection({ definitions: [detector] })
  let faulty = false
  return Array.from({ length: END }, (_, second) => {
    const t = T + second * 1_000
    if (second % everyS === 0) detection.ingest({ ...scrape(t, 'targets', tell(second)), ttlMs: 3_000 * everyS })
    for (const { state } of detection.judge(t)) faulty = state === 'faulty' || (state === 'unknown' && faulty)
    return faulty
  })
}

describe.skipIf(!promtool)('services and thresholds, and their rules (needs promtool)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-rules-'))
  const fired: string[] = []
  let answer = ''
  beforeAll(() => {
    const rules = [targetDown, hot].map(({ id, expression }) => {
      if ('none' in expression) throw new Error(`${id}: expected an expression, came: ${expression.none}`)
      return { alert: id, expr: expression.promql, for: expression.for ?? '0s' }
    })
    writeFileSync(join(folder, 'rules.json'), JSON.stringify({ groups: [{ name: 'targets', interval: `${EVALUATION}s`, rules }] }))
    const tests = CASES.map(([name, detector, , tell, everyS]) => {
      const states = judged(detector, tell, everyS)
      if (states.includes(true)) fired.push(name)
      const turns = states.flatMap((state, second) => (second > 0 && state !== states[second - 1] ? [second] : []))
      const keys = tell(0).map(({ series }) => series.key)
      const seconds = Array.from({ length: END }, (_, second) => tell(second))
      const input_series = keys.map((key, n) => ({ series: key, values: seconds.map((reported) => reported[n]?.value ?? '_').join(' ') }))
      const slack = everyS > SLACK ? SLACK + everyS : SLACK
      const times = Array.from({ length: END / EVALUATION - 1 }, (_, n) => (n + 1) * EVALUATION).filter(
        (at) => !turns.some((turn) => Math.abs(turn - at) <= slack),
      )
      const exprs = times.map((at) => ({
        expr: `count(ALERTS{alertname="${detector.id}",alertstate="firing"}) or vector(0)`,
        eval_time: `${at}s`,
        exp_samples: [{ labels: '{}', value: states[at] === true ? 1 : 0 }],
      }))
      return { name, interval: '1s', input_series, promql_expr_test: exprs }
    })
    writeFileSync(join(folder, 'test.json'), JSON.stringify({ rule_files: ['rules.json'], evaluation_interval: `${EVALUATION}s`, tests }))
    const run = spawnSync('promtool', ['test', 'rules', 'test.json'], { cwd: folder, encoding: 'utf8' })
    answer = run.stdout + run.stderr
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('the detectors fire where they should', () => {
    expect(fired).toEqual(CASES.flatMap(([name, , fires]) => (fires ? [name] : [])))
  })

  test('and the rules agree at every evaluation away from a turn', () => {
    expect(answer.slice(-4_000).trim()).toMatch(/SUCCESS$/)
  })
})
