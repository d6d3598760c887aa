// The contract of every detector of the registry: what it declares, that it says nothing of nothing, never throws, and ends a fault when it heals, not when data stops.
import * as fc from '../setup/fast-check.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { metricNamed } from '../../agent/catalogue.ts'
import { createDetection } from '../../agent/diagnosis/detection.ts'
import type { DetectorDefinition } from '../../agent/diagnosis/detectors/definition.ts'
import * as registry from '../../agent/diagnosis/detectors/index.ts'
import { factsOf, INCIDENT_KINDS, type LogKind } from '../../agent/model/kinds.ts'
import { SEVERITIES } from '../../agent/model/severity.ts'
import type { Finding } from '../../agent/model/finding.ts'
import { driverScenes } from '../setup/rule-scenes/driver.ts'
import { hardwareScenes } from '../setup/rule-scenes/hardware.ts'
import { memoryScenes } from '../setup/rule-scenes/memory.ts'
import { serverScenes } from '../setup/rule-scenes/servers.ts'
import { scrapeOf, timeOf, type RuleScene } from '../setup/rule-scenes/scene.ts'
import { unruledScenes } from '../setup/rule-scenes/unruled.ts'
import { randomSeconds } from '../setup/random-events.ts'
import { rounds } from '../setup/rounds.ts'

const definitions: readonly DetectorDefinition[] = Object.values(registry)
const each = definitions.map((definition) => [definition.id, definition] as const)
const scenes = [...hardwareScenes, ...driverScenes, ...memoryScenes, ...unruledScenes, ...serverScenes]
const firing = definitions.flatMap((definition) => {
  const scene = scenes.find(({ detector, fires }) => fires && detector.id === definition.id)
  return scene === undefined ? [] : [[definition.id, scene] as const]
})
/** What a log may tell too ends with the log's incident: such a detector says only that it was. */
const MOMENTARY: ReadonlySet<string> = new Set<LogKind>(['batch_halving'])

type Said = { readonly second: number; readonly finding: Finding }
/** All that is said; `until`: nothing is told any more from that second on. */
function listen({ detector, seconds, tell }: RuleScene, until = Infinity, options: Readonly<Record<string, number>> = {}): readonly Said[] {
  const failures: unknown[] = []
  const detection = createDetection({
    definitions: [detector],
    settings: { [detector.id]: { options } },
    onFailure: (_, error) => void failures.push(error),
  })
  const said: Said[] = []
  for (let second = 0; second < seconds; second++) {
    if (second < until) for (const event of tell(second)) detection.ingest(event)
    else detection.ingest(scrapeOf(second, 'someone-else', {}))
    for (const finding of detection.judge(timeOf(second))) said.push({ second, finding })
  }
  if (failures.length > 0) throw new Error(`the detector ${detector.id} threw`, { cause: failures[0] })
  return said
}
const isFaulty = ({ finding }: Said): boolean => finding.state === 'faulty'

/** What is wrong with a finding in itself. */
function problemsOf({ kinds }: DetectorDefinition, finding: Finding): readonly string[] {
  const problems = [...(kinds.includes(finding.kind) ? [] : [`kind ${finding.kind} is not declared`]), ...(finding.key === '' ? ['no key'] : [])]
  if (finding.state !== 'faulty') return problems
  const { severity, title, verdict, remedies, facts } = finding
  const texts = [title, verdict, ...remedies.flatMap(({ text, command = 'none' }) => [text, command])]
  return [
    ...problems,
    ...(SEVERITIES.includes(severity) ? [] : [`severity ${severity}`]),
    ...(remedies.length === 0 ? ['no remedy'] : []),
    ...texts.filter((text) => text.trim() === '' || /undefined|NaN|Infinity|\[object/.test(text)),
    ...Object.keys(facts).flatMap((name) => (factsOf(finding.kind).has(name) ? [] : [`${finding.kind} does not declare the fact ${name}`])),
    ...Object.entries(facts).flatMap(([name, fact]) => (typeof fact === 'number' && !Number.isFinite(fact) ? [`${name} is ${fact}`] : [])),
  ]
}
function expressionProblems({ expression }: DetectorDefinition): readonly string[] {
  if ('none' in expression) return expression.none.length > 20 ? [] : ['no reason for having no expression']
  const { promql, for: lasts = '0s' } = expression
  const unknown = (promql.match(/warpwatch_\w+/g) ?? []).filter((name) => metricNamed(name) === undefined)
  return [...unknown.map((name) => `${name} is no metric`), ...(/^\d+[smh]$/.test(lasts) ? [] : [`for: ${lasts}`])]
}

describe('declarations', () => {
  test.each(each)('%s', (id, definition) => {
    const { kinds, title, watches, everyMs, options } = definition
    expect(id).toMatch(/^[a-z][a-z0-9-]*$/)
    expect(title).toMatch(/^\S.*[^.]$/)
    expect(kinds.length).toBeGreaterThan(0)
    for (const kind of kinds) {
      expect(INCIDENT_KINDS).toContain(kind)
      expect(existsSync(join(import.meta.dirname, `../../alerts/runbooks/${kind}.md`)), `runbook of ${kind}`).toBe(true)
    }
    expect(watches.filter((name) => metricNamed(name) === undefined)).toEqual([])
    expect(new Set(watches).size).toBe(watches.length)
    expect(everyMs).toBeGreaterThanOrEqual(1_000)
    for (const [name, option] of Object.entries(options)) {
      expect(name).toMatch(/^[a-z][a-z0-9_]*$/)
      expect(option.help).toMatch(/\S/)
      expect(option.min).toBeLessThanOrEqual(option.default)
      expect(option.max).toBeGreaterThanOrEqual(option.default)
    }
    expect(expressionProblems(definition)).toEqual([])
  })
  test('no id is declared twice, and each has a scene', () => {
    expect(new Set(definitions.map(({ id }) => id)).size).toBe(definitions.length)
    expect(definitions.map(({ id }) => id).filter((id) => !firing.some(([known]) => known === id))).toEqual([])
  })
})

describe('no data is neither a fault nor health', () => {
  test.each(each)('%s', (_, definition) => {
    const said = listen({
      name: '',
      detector: definition,
      fires: false,
      seconds: 600,
      tell: (second) => (second % 2 === 0 ? [] : [scrapeOf(second, 'gpu', {})]),
    })
    expect(said.filter(({ finding }) => finding.state !== 'unknown')).toEqual([])
  })
})

describe('whatever comes, it does not throw, and what it says is sound', () => {
  test.each(each)('%s', (_, definition) => {
    const bounds = fc.constantFrom('default' as const, 'min' as const, 'max' as const)
    fc.assert(
      fc.property(randomSeconds(definition.watches), bounds, (seconds, bound) => {
        const failures: unknown[] = []
        const problems: string[] = []
        const options = Object.fromEntries(Object.entries(definition.options).map(([name, option]) => [name, option[bound]]))
        const detection = createDetection({
          definitions: [definition],
          settings: { [definition.id]: { options } },
          onFailure: (_id, error) => void failures.push(error),
        })
        for (const { t, events } of seconds) {
          for (const event of events) detection.ingest(event)
          for (const finding of detection.judge(t)) problems.push(...problemsOf(definition, finding))
        }
        expect(failures).toEqual([])
        expect(problems).toEqual([])
      }),
      { numRuns: rounds({ full: 100, quick: 40 }) },
    )
  })
})

describe.each(firing)('%s', (_, scene) => {
  const said = listen(scene)
  const first = said.find(isFaulty)

  test('tells its fault soundly', () => {
    expect(first).toBeDefined()
    expect(said.flatMap(({ finding }) => problemsOf(scene.detector, finding))).toEqual([])
  })
  test('says that it is over when it has healed', () => {
    if (said.some(({ finding }) => MOMENTARY.has(finding.kind))) return
    const last = said.findLast(isFaulty)
    const healthy = said.filter(({ second, finding }) => finding.state === 'healthy' && second > (last?.second ?? 0)).map(({ finding }) => finding.key)
    expect(healthy).toContain(first?.finding.key)
    expect(healthy).toContain(last?.finding.key)
  })
  test('does not say so when data stops', () => {
    const from = (first?.second ?? 0) + 1
    const silent = listen({ ...scene, seconds: from + 4_000 }, from)
    const faulty = new Set(silent.filter(isFaulty).map(({ finding }) => finding.key))
    expect(faulty.size).toBeGreaterThan(0)
    expect(silent.filter(({ second, finding }) => second >= from && finding.state === 'healthy' && faulty.has(finding.key))).toEqual([])
  })
  test('honours the bounds of its options', () => {
    const bounds = Object.entries(scene.detector.options).flatMap(([name, { min, max }]) => [{ [name]: min }, { [name]: max }])
    const short = { ...scene, seconds: Math.min(scene.seconds, 900) }
    for (const options of bounds) expect(() => listen(short, Infinity, options)).not.toThrow()
  })
})
