// The detectors and their Prometheus expressions judge the same host alike: the same seconds go through the detector and, as metrics, through promtool's rule
// tests. Away from the turns (two evaluations) both say the same of the same subjects.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { DetectorDefinition } from '../../agent/diagnosis/detectors/definition.ts'
import * as detectors from '../../agent/diagnosis/detectors/index.ts'
import { evaluationOf, judge, ruleTest } from '../setup/rule-parity.ts'
import { driverScenes } from '../setup/rule-scenes/driver.ts'
import { hardwareScenes } from '../setup/rule-scenes/hardware.ts'
import { memoryScenes } from '../setup/rule-scenes/memory.ts'
import { serverScenes } from '../setup/rule-scenes/servers.ts'

const promtool = spawnSync('promtool', ['--version'], { stdio: 'ignore' }).status === 0
const scenes = [...hardwareScenes, ...driverScenes, ...memoryScenes, ...serverScenes].filter(({ detector }) => 'promql' in detector.expression)
const definitions: readonly DetectorDefinition[] = Object.values(detectors)
const ruled = definitions.flatMap(({ id, expression }) => ('promql' in expression ? [{ id, expression }] : []))

test('every detector with an expression has a scene that fires and one that is quiet', () => {
  const ids = (fires: boolean): readonly string[] => [...new Set(scenes.flatMap((scene) => (scene.fires === fires ? [scene.detector.id] : [])))].sort()
  const wanted = ruled.map(({ id }) => id).sort()
  expect(ids(true)).toEqual(wanted)
  expect(ids(false)).toEqual(wanted)
})

describe.skipIf(!promtool)('detectors and their rules (needs promtool)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-rules-'))
  const writeRules = (file: string, every: number, of: typeof ruled): void => {
    const rules = of.map(({ id, expression }) => ({ alert: id, expr: expression.promql, for: expression.for ?? '0s' }))
    writeFileSync(join(folder, file), JSON.stringify({ groups: [{ name: 'detectors', interval: `${every}s`, rules }] }))
  }
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('the rules are valid', () => {
    writeRules('all.json', 15, ruled)
    expect(execFileSync('promtool', ['check', 'rules', 'all.json'], { cwd: folder, encoding: 'utf8' })).toContain(`${ruled.length} rules found`)
  })

  test.each(scenes.map((scene) => [scene.detector.id, scene.name, scene] as const))('%s: %s', (id, _, scene) => {
    const judged = judge(scene)
    expect(judged.failures).toEqual([])
    expect(judged.turns.some(({ firing }) => firing.length > 0)).toBe(scene.fires)
    // Healed at the end.
    expect(judged.turns.at(-1)?.firing ?? []).toEqual([])
    const every = evaluationOf(scene)
    const tests = [ruleTest(scene, id, judged)]
    // Its own rule alone: promtool evaluates all that it is given, which takes ten times as long.
    writeRules(
      'rule.json',
      every,
      ruled.filter((one) => one.id === id),
    )
    writeFileSync(join(folder, 'test.json'), JSON.stringify({ rule_files: ['rule.json'], evaluation_interval: `${every}s`, tests }))
    const run = spawnSync('promtool', ['test', 'rules', 'test.json'], { cwd: folder, encoding: 'utf8' })
    expect((run.stdout + run.stderr).slice(-3_000).trim()).toMatch(/SUCCESS$/)
  })
})
