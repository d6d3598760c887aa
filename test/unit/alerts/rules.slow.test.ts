// The rules for Prometheus: every kind has one, and they name only what there is.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import * as z from 'zod'
import { afterAll, describe, expect, test } from 'vitest'
import { catalogue } from '../../../agent/catalogue.ts'
import { defaultRules, judgedNumbers, kindPages } from '../../../agent/cli/rules.ts'
import { DETECTOR_LIST } from '../../../agent/cli/config/detector-settings.ts'
import { alertName, INCIDENT_KINDS } from '../../../agent/model/kinds.ts'
import { readKindPage } from '../../../alerts/prometheus/kind-page.ts'
import { judgeOf, perHost } from '../../../alerts/prometheus/numbers.ts'
import { committed } from '../../../scripts/generators/generator.ts'
import { runCli } from '../cli/run-cli.ts'

const texts = z.record(z.string(), z.string())
const rule = z.object({
  alert: z.optional(z.string()),
  record: z.optional(z.string()),
  expr: z.string(),
  for: z.optional(z.string()),
  labels: z.optional(texts),
  annotations: z.optional(texts),
})
const ruleFile = z.object({ groups: z.array(z.object({ name: z.string(), interval: z.string(), rules: z.array(rule) })) })
type Group = z.infer<typeof ruleFile>['groups'][number]

const groupsOf = (text: string): ReadonlyMap<string, Group> => new Map(ruleFile.parse(parse(text)).groups.map((group) => [group.name, group]))
const alertsOf = (group: Group | undefined): readonly string[] => (group?.rules ?? []).flatMap(({ alert }) => alert ?? [])
const printed = async (...args: readonly string[]): Promise<ReadonlyMap<string, Group>> => {
  const { code, stdout, stderr } = await runCli(['rules', ...args])
  expect([code, stderr]).toEqual([0, ''])
  return groupsOf(stdout)
}
const everyAlert = INCIDENT_KINDS.map(alertName)

test('docs/alerting.md has the table of the kinds', () => {
  const page = committed('docs/alerting.md')
  for (const kind of INCIDENT_KINDS) expect(page).toContain(`| \`${alertName(kind)}\` |`)
})

describe('every kind', () => {
  const groups = groupsOf(defaultRules())
  test('has one alert of its own', () => {
    expect(alertsOf(groups.get('warpwatch-incidents'))).toEqual(everyAlert)
    expect(new Set(everyAlert).size).toBe(INCIDENT_KINDS.length)
  })
  test('has its texts and links', () => {
    for (const [at, { annotations = {} }] of (groups.get('warpwatch-incidents')?.rules ?? []).entries()) {
      const kind = INCIDENT_KINDS[at]
      expect(annotations['runbook_url']).toBe(`http://{{ $labels.instance }}/runbooks/${kind}`)
      expect(annotations['description']).toMatch(/\. First \S/)
      expect(annotations['summary']).toMatch(/^[^{]{8,}\{\{ (?:with|if) .*, on \{\{ \$labels\.instance \}\}$/)
    }
  })
  test('is judged by Prometheus, or it is said why not', () => {
    const judges = INCIDENT_KINDS.map((kind) => ({ kind, judge: judgeOf(kind, judgedNumbers()) }))
    const byPrometheus = judges.flatMap(({ kind, judge }) => (judge.by === 'prometheus' ? [kind] : []))
    expect(byPrometheus.length).toBeGreaterThan(10)
    const reasons = judges.flatMap(({ judge }) => (judge.by === 'agent' ? [judge.why] : []))
    expect(reasons.length).toBe(INCIDENT_KINDS.length - byPrometheus.length)
    for (const why of reasons) expect(why).toMatch(/^\w.{15,}/)
  })
})

describe('expressions', () => {
  test('name metrics that there are', async () => {
    const known = new Set(catalogue.map(({ name }) => name))
    const groups = [...groupsOf(defaultRules()).values(), ...(await printed('--judge', 'prometheus')).values()]
    const names = new Set(groups.flatMap(({ rules }) => rules.flatMap(({ expr }) => expr.match(/(?<![:\w])(?:warpwatch|process)_\w+(?!\w*:)/g) ?? [])))
    expect(names.size).toBeGreaterThan(30)
    expect([...names].filter((name) => !known.has(name))).toEqual([])
  })
  test('of detectors aggregate and match by lists only, which is what makes them ones per host', () => {
    const all = DETECTOR_LIST.flatMap(({ expression }) => ('promql' in expression ? [expression.promql] : []))
    const bare = /\b(?:sum|min|max|avg|count|group|quantile|topk)\s*\(|\b(?:without|ignoring)\b/
    expect(all.filter((promql) => bare.test(promql))).toEqual([])
    expect(perHost('a unless on () b and on(gpu,  uuid) max by (gpu) (c)')).toBe(
      'a unless on (job, instance) b and on (job, instance, gpu,  uuid) max by (job, instance, gpu) (c)',
    )
  })
})

describe('warpwatch rules', () => {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-rules-cli-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const config = join(folder, 'w.yaml')
  writeFileSync(
    config,
    [
      'detectors:',
      '  power-brake: {enabled: false}',
      '  throttling: {load_ratio: 0.5}',
      '  custom:',
      '    - {name: hot, metric: gpu_temperature_celsius, labels: {gpu: "0"}, comparison: ">", value: 80, for: 5m, severity: info, summary: "look at {{ the }} fans"}',
    ].join('\n'),
  )

  test('prints the same as JSON', async () => {
    const [yaml, json] = [await runCli(['rules']), await runCli(['rules', '--json'])]
    expect(JSON.parse(json.stdout)).toEqual(parse(yaml.stdout))
    expect(yaml.stdout).toBe(defaultRules())
  })
  test('lets each kind be judged once, by the agent or by Prometheus', async () => {
    const groups = await printed('--judge', 'prometheus')
    const numbers = alertsOf(groups.get('warpwatch-numbers'))
    expect(numbers).toContain('Throttling')
    expect([...numbers, ...alertsOf(groups.get('warpwatch-incidents'))].sort()).toEqual(everyAlert.toSorted())
  })
  test('knows the thresholds and the detectors of the configuration', async () => {
    const { stdout } = await runCli(['rules', '--judge', 'prometheus', '--config', config])
    expect(stdout).toContain('# The configuration sets options of throttling; the expression has their defaults.')
    const groups = groupsOf(stdout)
    const custom = groups.get('warpwatch-numbers')?.rules.find(({ alert }) => alert === 'Custom')
    expect(custom).toMatchObject({ for: '300s', labels: { severity: 'info', threshold_name: 'hot' } })
    expect(custom?.expr.split('\n')[0]).toBe('warpwatch_gpu_temperature_celsius{gpu="0"} > 80')
    expect(custom?.annotations?.['summary']).toMatch(/^hot: look at \{\{ "\{\{" \}\} the \}\} fans\{\{ with /)
    // What is off is off here too: the agent's rule of the kind stays, and never fires.
    expect(alertsOf(groups.get('warpwatch-numbers'))).not.toContain('PowerBrake')
    expect(alertsOf(groups.get('warpwatch-incidents'))).toContain('PowerBrake')
    expect(alertsOf(groups.get('warpwatch-incidents'))).not.toContain('Custom')
  })
  test('takes the job, the links, and leaves the incidents out', async () => {
    const groups = await printed('--job', 'gpus', '--runbooks', 'https://wiki.example.com/gpu/', '--dashboard', 'https://{{ $labels.instance }}.example.com/')
    expect(groups.get('warpwatch-agent')?.rules[0]?.expr).toContain('up{job="gpus"} == 0')
    expect(groups.get('warpwatch-incidents')?.rules[0]?.annotations).toMatchObject({
      runbook_url: 'https://wiki.example.com/gpu/aborted',
      dashboard: 'https://{{ $labels.instance }}.example.com/',
    })
    expect([...(await printed('--no-incidents')).keys()]).toEqual(['warpwatch-agent', 'warpwatch-recording'])
  })
  test.each([
    [['--judge', 'me'], '--judge: must be agent or prometheus, not "me"'],
    [['--config', config], '--config only goes with --judge prometheus: without it the rules follow the incidents, however they are configured'],
    [['--runbooks', 'wiki'], '--runbooks: must be a URL such as http://{{ $labels.instance }}/runbooks, not "wiki"'],
    [['--no-incidents', '--judge', 'agent'], '--no-incidents and --judge exclude each other: leave out one'],
  ])('refuses %j', async (args, message) => {
    expect(await runCli(['rules', ...args])).toEqual({ code: 2, signal: null, stdout: '', stderr: `warpwatch: ${message}\n` })
  })
  test('reads the page of a kind with a digit', () => {
    expect(readKindPage('nvlink5_errors', '# `nvlink5_errors`: Title\n\nWhat it is.\n')).toEqual({ title: 'Title', lead: 'What it is.' })
  })
  test('says which runbook is not there, or is none', () => {
    expect(() => kindPages('/nonexistent')).toThrow(/the runbooks cannot be read: ENOENT.*aborted\.md/)
    expect(() => readKindPage('xid', '# `xid`: Title\n\n## What it means\n')).toThrow(/runbook of xid: must begin with #/)
  })
})
