// The rule files before Prometheus' own engine: each kind fires, stays while the agent is away, and ends when it says so; hosts do not touch each other.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { judgedNumbers, kindPages } from '../../agent/cli/rules.ts'
import { alertName, INCIDENT_KINDS, type IncidentKind } from '../../agent/model/kinds.ts'
import { judgeOf } from '../../alerts/prometheus/numbers.ts'
import { ruleData, ruleGroups } from '../../alerts/prometheus/rule-file.ts'
import { RULES } from '../../scripts/generators/rules.ts'
import { IS_LONG } from '../setup/rounds.ts'
import { judge, ruleTest } from '../setup/rule-parity.ts'
import { driverScenes } from '../setup/rule-scenes/driver.ts'
import { hardwareScenes } from '../setup/rule-scenes/hardware.ts'
import { serverScenes } from '../setup/rule-scenes/servers.ts'
import { memoryScenes } from '../setup/rule-scenes/memory.ts'
import type { RuleScene } from '../setup/rule-scenes/scene.ts'

const promtool = spawnSync('promtool', ['--version'], { stdio: 'ignore' }).status === 0
const folder = mkdtempSync(join(tmpdir(), 'warpwatch-rule-files-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** The last words of promtool. */
function ask(args: readonly string[], cwd = folder): string {
  const { stdout, stderr } = spawnSync('promtool', args, { cwd, encoding: 'utf8' })
  return (stdout + stderr).slice(-3_000).trim()
}
function run(rules: string, tests: readonly object[]): string {
  writeFileSync(join(folder, 'tests.json'), JSON.stringify({ rule_files: [rules], evaluation_interval: '15s', tests }))
  return ask(['test', 'rules', 'tests.json'])
}
const groups = ruleGroups({ pages: kindPages(), numbers: judgedNumbers() })
writeFileSync(join(folder, 'numbers.json'), JSON.stringify(ruleData(groups)))
/** The alerts of one name alone: promtool evaluates all that it is given, which takes ten times as long. */
function writeAlerts(name: string): string {
  const own = groups
    .map((group) => ({ ...group, rules: group.rules.filter((rule) => 'alert' in rule && rule.alert === name) }))
    .filter(({ rules }) => rules.length > 0)
  writeFileSync(join(folder, 'alerts.json'), JSON.stringify(ruleData(own)))
  return 'alerts.json'
}

const HOST = 'job="warpwatch",instance="gpu-01:9839"'
const SUBJECT = 'gpu="0",uuid="GPU-1",container="trainer"'
/** A value for each 15 s, as `[how many, value]`. */
const timeline = (...parts: readonly (readonly [number, string])[]): string =>
  parts.map(([count, value]) => Array.from({ length: count }, () => value).join(' ')).join(' ')
const at = (scrape: number): string => `${scrape * 15}s`

/**
 * By scrapes: 8 quiet; 8 firing; 8 down; 2 up and not yet telling; 4 firing again; 8 over; 8 down again.
 */
function lifeOf(kind: IncidentKind): { readonly input_series: readonly object[]; readonly promql_expr_test: readonly object[] } {
  const firing = `group by (kind, severity, gpu, uuid, container, instance) (ALERTS{alertname="${alertName(kind)}",alertstate="firing"})`
  const alert = { labels: `{kind="${kind}",severity="critical",instance="gpu-01:9839",${SUBJECT}}`, value: 1 }
  const when = (scrape: number, isFiring: boolean): object => ({ expr: firing, eval_time: at(scrape), exp_samples: isFiring ? [alert] : [] })
  return {
    input_series: [
      { series: `warpwatch_incidents_total{${HOST},kind="${kind}"}`, values: timeline([8, '0'], [8, '1'], [1, 'stale'], [9, '_'], [12, '0'], [1, 'stale']) },
      {
        series: `warpwatch_incident_active{${HOST},kind="${kind}",severity="critical",${SUBJECT}}`,
        values: timeline([8, '_'], [8, '1'], [1, 'stale'], [9, '_'], [4, '1'], [1, 'stale']),
      },
    ],
    promql_expr_test: [
      when(7, false),
      // At the first evaluation that can see it.
      when(8, true),
      when(15, true),
      when(16, true),
      when(23, true),
      when(25, true),
      when(28, true),
      // Its end, at the first scrape that tells it, and no return of it when the agent goes down later.
      when(30, false),
      when(37, false),
      when(44, false),
    ],
  }
}

describe.skipIf(!promtool)('the rule file (needs promtool)', () => {
  test('is valid', () => {
    expect(ask(['check', 'rules', RULES])).toMatch(/SUCCESS: \d+ rules found$/)
    expect(ask(['check', 'rules', 'numbers.json'])).toMatch(/SUCCESS: \d+ rules found$/)
  })
  test(`passes the tests beside it${IS_LONG ? '' : ', those rules that they name (npm run test:long: all)'}`, () => {
    const beside = 'warpwatch.tests.yml'
    const tests = readFileSync(join(dirname(RULES), beside), 'utf8')
    const named = new Set(tests.match(/\w+/g))
    // promtool evaluates every rule at each step of each test; no alert reads another.
    const kept = ruleGroups({ pages: kindPages() }).map((group) => ({
      ...group,
      rules: group.rules.filter((rule) => !('alert' in rule) || named.has(rule.alert)),
    }))
    expect(kept.flatMap(({ rules }) => rules).length).toBeGreaterThan(20)
    writeFileSync(join(folder, basename(RULES)), JSON.stringify(ruleData(kept)))
    writeFileSync(join(folder, beside), tests)
    expect(ask(['test', 'rules', beside], IS_LONG ? dirname(RULES) : folder)).toMatch(/SUCCESS$/)
  })
  test('has each kind quiet, firing, held while the agent is away, and over when it says so', () => {
    const lives = INCIDENT_KINDS.map(lifeOf)
    const up = { series: `up{${HOST}}`, values: timeline([16, '1'], [8, '0'], [14, '1'], [8, '0']) }
    const all = {
      name: 'lives',
      interval: '15s',
      input_series: [up, ...lives.flatMap((life) => life.input_series)],
      promql_expr_test: lives.flatMap((life) => life.promql_expr_test),
    }
    expect(run(RULES, [all])).toMatch(/SUCCESS$/)
  })
})

const scenes: readonly RuleScene[] = [...hardwareScenes, ...driverScenes, ...memoryScenes, ...serverScenes]
const byPrometheus = INCIDENT_KINDS.flatMap((kind) => {
  const judged = judgeOf(kind, judgedNumbers())
  return judged.by === 'prometheus' ? judged.detectors.map(({ id }) => ({ kind, id })) : []
})

describe.skipIf(!promtool)('rules that judge numbers, over two hosts (needs promtool)', () => {
  test('there are some', () => expect(byPrometheus.length).toBeGreaterThan(10))

  test.each(byPrometheus)('$kind', ({ kind, id }) => {
    const of = (fires: boolean): RuleScene => {
      const found = scenes.find((scene) => scene.detector.id === id && scene.fires === fires)
      if (found === undefined) throw new Error(`expected a scene of ${id} that ${fires ? 'fires' : 'is quiet'}, came none`)
      return found
    }
    // The cards of both have the same names: only job and instance tell them apart.
    const ill = ruleTest(of(true), alertName(kind), judge(of(true)), 'ill')
    const well = ruleTest(of(false), alertName(kind), judge(of(false)), 'well')
    expect(ill.promql_expr_test.length).toBeGreaterThan(5)
    const both = { ...ill, input_series: [...ill.input_series, ...well.input_series], promql_expr_test: [...ill.promql_expr_test, ...well.promql_expr_test] }
    expect(run(writeAlerts(alertName(kind)), [both])).toMatch(/SUCCESS$/)
  })

  test('what fired goes on firing while the agent is down, each subject once', () => {
    const series = (uuid: string): object => ({
      series: `warpwatch_gpu_throttle_active{${HOST},gpu="0",uuid="${uuid}",reason="hw_power_brake_slowdown"}`,
      values: timeline([8, '1'], [1, 'stale'], [15, '_'], [8, '0']),
    })
    const firing = 'count(ALERTS{alertname="PowerBrake",alertstate="firing",severity="critical",kind="power_brake"})'
    const when = (scrape: number, count: number): object => ({
      expr: firing,
      eval_time: at(scrape),
      exp_samples: count === 0 ? [] : [{ labels: '{}', value: count }],
    })
    const tests = [
      {
        name: 'down',
        interval: '15s',
        input_series: [{ series: `up{${HOST}}`, values: timeline([8, '1'], [16, '0'], [8, '1']) }, series('GPU-1'), series('GPU-2')],
        promql_expr_test: [when(4, 2), when(8, 2), when(23, 2), when(26, 0)],
      },
    ]
    expect(run(writeAlerts('PowerBrake'), tests)).toMatch(/SUCCESS$/)
  })
})
