// A service is down after several failed checks, and up after several good ones; what nobody could ask says nothing.
import { describe, expect, test } from 'vitest'
import { createDetection } from '../../../agent/diagnosis/detection.ts'
import { targetDown } from '../../../agent/diagnosis/detectors/target-down.ts'
import type { Finding } from '../../../agent/model/finding.ts'
import type { Incident } from '../../../agent/model/incident.ts'
import { createScene } from '../incidents/scene.ts'
import { at, checked, info, type Check } from './target-scene.ts'

const WORD: Readonly<Record<string, Check>> = { '+': 'well', '-': 'refused', s: 'status', '?': 'unknown' }

/** One check each ten seconds, `+` or `-`; `.` = none came. Gives a letter after each: F faulty, H healthy, nothing otherwise. */
function story(checks: string, options: Readonly<Record<string, number>> = {}): { readonly states: string; readonly findings: readonly Finding[] } {
  const detection = createDetection({ definitions: [targetDown], settings: { 'target-down': { options } } })
  const findings: Finding[] = []
  detection.ingest(info(0))
  const states = checks.split('').map((letter, n) => {
    const check = WORD[letter]
    if (check !== undefined) detection.ingest(checked(10 * n, check))
    const found = detection.judge(at(10 * n))
    findings.push(...found)
    return found.map(({ state }) => (state === 'faulty' ? 'F' : 'H')).join('')
  })
  return { states: states.map((said) => (said === '' ? '.' : said)).join(''), findings }
}

describe('says', () => {
  test.each([
    ['nothing of one that is well, but once that it is', '+++++', '.H...'],
    ['nothing of single failures', '++-+-+--+-+', '.H.........'],
    ['nothing of two of three', '--+--+--+', '.........'],
    ['down from the third failure on', '++---', '.H..F'],
    ['down until two checks went well', '---+-++++', '..F.F.H..'],
    ['nothing where the agent could not ask', '?????', '.....'],
    ['down over checks of which nobody knows', '--?-??+?+', '...FFF..H'],
    ['down while no checks come: silence is no health', '---...', '..FFFF'],
    ['nothing of a row that has not gone on', '--....', '......'],
    ['down again later', '---++---', '..F.H..F'],
  ])('%s', (_, checks, states) => expect(story(checks).states).toBe(states))

  test('as its options want', () => {
    expect(story('-+-', { failures: 1, successes: 1 }).states).toBe('FHF')
    expect(story('----++++', { failures: 4, successes: 4 }).states).toBe('...F...H')
  })
})

test('its verdict has name, place, figures and reason; its remedies fit the reason', () => {
  const fault = story('s--').findings.find(({ state }) => state === 'faulty')
  expect(fault).toMatchObject({
    kind: 'target_down',
    severity: 'critical',
    title: 'Service ui is down: connection refused',
    verdict: 'Service ui (http://127.0.0.1:7860/api/health) has failed 3 checks in a row, for 20 s: nothing listens there (connect ECONNREFUSED).',
    facts: { target: 'ui', reason: 'refused', failed_checks: 3, since_ms: at(0) },
  })
  expect(JSON.stringify(fault)).toContain("ss -ltnp 'sport = :7860'")
  const status = story('--s').findings.find(({ state }) => state === 'faulty')
  expect(status).toMatchObject({ title: 'Service ui is down: unexpected status 500', facts: { reason: 'status', http_status: 500 } })
})

describe('its incident', () => {
  /** Two services, of which `b` goes down too. */
  const host = (restored: readonly Incident[] = []) => {
    const scene = createScene({ detection: createDetection({ definitions: [targetDown] }) })
    scene.diagnosis.restore(restored)
    return {
      scene,
      pass: (from: number, checks: Readonly<Record<string, string>>): void => {
        for (const target of Object.keys(checks)) scene.feed(info(from, target))
        const count = Math.max(...Object.values(checks).map(({ length }) => length))
        for (let n = 0; n < count; n++)
          for (const [target, row] of Object.entries(checks)) {
            const check = WORD[row[n] ?? '.']
            if (check !== undefined) scene.feed(checked(from + 10 * n, check, target), { ...checked(from + 10 * n + 1, 'well', 'clock') })
          }
      },
      firing: () => scene.diagnosis.firing().map(({ facts }) => facts.target),
    }
  }

  test('is one for each service, and ends with the service that is up again', () => {
    const { scene, pass, firing } = host()
    pass(0, { a: '----', b: '----' })
    expect(firing()).toEqual(['a', 'b'])
    pass(40, { a: '++', b: '--' })
    expect(firing()).toEqual(['b'])
    expect(scene.incidents().map(({ status, subject }) => [status, subject])).toEqual([
      ['resolved', { host: { name: 'gpu-01' } }],
      ['firing', { host: { name: 'gpu-01' } }],
    ])
  })

  test('ends when its target is taken out of the configuration, and no other does', () => {
    const { scene, pass, firing } = host()
    pass(0, { a: '----', b: '----' })
    scene.feed({ ...checked(40, 'unknown', 'a'), gaps: [] }, checked(41, 'well', 'clock'))
    expect(firing()).toEqual(['b'])
    expect(scene.incidents()[0]).toMatchObject({ status: 'resolved', resolution: 'removed or changed in the configuration' })
  })

  test('is found again after a restart of the agent, each its own', () => {
    const before = host()
    before.pass(0, { a: '----', b: '----' })
    const kept = before.scene.diagnosis.firing()
    expect(kept).toHaveLength(2)
    const after = host(kept)
    after.pass(100, { b: '+++', a: '---' })
    expect(after.scene.diagnosis.firing().map(({ id, facts }) => [id, facts.target])).toEqual([[kept.find(({ facts }) => facts.target === 'a')?.id, 'a']])
  })
})
