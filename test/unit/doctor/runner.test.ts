// The runner: a check that throws, hangs, or waits for what all share costs the others nothing; and what the operator reads.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defineCheck, type CheckDefinition, type Finding, type Surroundings } from '../../../agent/doctor/definition.ts'
import { reportText } from '../../../agent/doctor/report-text.ts'
import { runChecks } from '../../../agent/doctor/runner.ts'
import { selectChecks } from '../../../agent/doctor/select.ts'
import { REPORT } from './report-fixture.ts'
import { buildScene, nvmlFacts, type BuiltScene } from './scene.ts'

let built: BuiltScene
beforeAll(async () => (built = await buildScene({})))
afterAll(() => built.remove())

const check = (id: string, run: CheckDefinition['run'], own: Partial<CheckDefinition> = {}): CheckDefinition =>
  defineCheck({ id, group: 'host', title: 'x', covers: [], run, ...own })
const saying =
  (...findings: readonly Finding[]) =>
  async (): Promise<readonly Finding[]> =>
    await Promise.resolve(findings)
const report = async (checks: readonly CheckDefinition[], own: Partial<Surroundings> = {}) =>
  await runChecks({ checks, around: { ...built.around, ...own }, host: 'h', now: () => 5 })
const never = new Promise<never>(() => {})

describe('a check', () => {
  test('that throws is skipped with its words, at once or later', async () => {
    const { checks, status } = await report([
      check('later', async () => await Promise.reject(new Error('/x: no permission'))),
      check('once', () => {
        throw new Error('at once')
      }),
      check('well', saying({ status: 'pass', summary: 'fine' })),
    ])
    expect(checks.map(({ status: own, findings }) => [own, findings[0]?.summary])).toEqual([
      ['skipped', '/x: no permission'],
      ['skipped', 'at once'],
      ['pass', 'fine'],
    ])
    expect(status).toBe('pass')
  })
  test('that hangs is skipped, and the others are told', async () => {
    const hanging = Array.from({ length: 20 }, (_, at) => check(`hangs-${at}`, async () => await never, { timeoutMs: 20 }))
    const { checks, counts } = await report([...hanging, check('last', saying({ status: 'fail', summary: 'bad', remedies: [{ text: 'x' }] }))])
    expect(counts).toEqual({ pass: 0, warn: 0, fail: 1, skipped: 20 })
    expect(checks[0]?.findings[0]?.summary).toMatch(/no answer within 0\.02 s/)
  })
  test('does not pay for waiting for what all share', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiting = check('waits', async ({ nvml }) => [{ status: 'pass', summary: (await nvml())?.driverVersion ?? 'none' }], { timeoutMs: 20 })
    const asked = report([waiting], {
      nvml: async () => {
        await promise
        return nvmlFacts()
      },
    })
    // This one is given up after longer than the waiting one would have had.
    await report([check('slow', async () => await never, { timeoutMs: 60 })])
    resolve()
    expect((await asked).checks[0]?.findings).toEqual([{ status: 'pass', summary: '580.65.06' }])
  })
  test('leaks no secret, says no more than can be read, and tells the worst first', async () => {
    const many = Array.from({ length: 500 }, (_, at): Finding => ({
      status: at === 400 ? 'fail' : 'pass',
      subject: `c${at}`,
      summary: 'token=abcdef1234567890',
      detail: 'z'.repeat(100_000),
    }))
    const { checks } = await report([check('many', saying(...many))])
    expect(checks[0]?.findings).toHaveLength(200)
    expect(checks[0]?.findings[0]?.subject).toBe('c400')
    expect(JSON.stringify(checks)).not.toContain('abcdef1234567890')
    expect(checks[0]?.findings[0]?.detail?.length).toBeLessThan(2_100)
  })
  test('that finds nothing has nothing to look at', async () => {
    expect((await report([check('none', saying())])).checks[0]).toMatchObject({ status: 'skipped', findings: [{ summary: 'nothing to look at' }] })
  })
})

describe('the text', () => {
  test('tells failures first, with commands to paste, and one line for what is well', () => {
    expect(reportText(REPORT, { verbose: false })).toBe(`FAIL  expected one version, came two  [driver-library-match]
      The packages were updated.
      → Drain the machine and reboot.
          sudo reboot
      → Exchange the module.
          sudo rmmod nvidia
          sudo modprobe nvidia

WARN  trainer, server: its memory limit is small  [container-memory]
      → Raise it.

ok    host: gpu-on-bus, nouveau
skip  wsl2: wsl-version, wsl-dxg (this is not WSL)

1 failed, 1 warning, 2 passed, 2 skipped in 0.6 s on gpu-01; all that was found: warpwatch doctor -v
`)
  })
  test('a notice is printed though its check passed', async () => {
    const passes = { status: 'pass', summary: 'well' } as const
    const notice = { status: 'pass', subject: 'drain', summary: 'on gpu_lost: /usr/bin/drain', notice: true } as const
    const found = await report([check('own-actions', saying(notice)), check('nouveau', saying(passes))])
    expect(reportText(found, { verbose: false }).split('\n').slice(0, 2)).toEqual([
      'ok    drain: on gpu_lost: /usr/bin/drain  [own-actions]',
      'ok    host: nouveau',
    ])
  })
  test('tells everything when asked', () => {
    const text = reportText(REPORT, { verbose: true })
    expect(text).toContain('ok    8 NVIDIA GPUs on the bus  [gpu-on-bus]')
    expect(text).toContain('skip  this is not WSL  [wsl-dxg]')
  })
})

describe('the choice', () => {
  const all = [check('a-one', saying()), check('a-two', saying()), check('b', saying(), { group: 'wsl2' })]
  const ids = (only?: string, skip?: string): unknown => {
    const chosen = selectChecks(all, only, skip)
    return 'problem' in chosen ? chosen.problem : chosen.checks.map(({ id }) => id)
  }
  test('by id and by group', () => {
    expect(ids()).toEqual(['a-one', 'a-two', 'b'])
    expect(ids('host')).toEqual(['a-one', 'a-two'])
    expect(ids('a-one, wsl2')).toEqual(['a-one', 'b'])
    expect(ids(undefined, 'host')).toEqual(['b'])
    expect(ids('host', 'a-two')).toEqual(['a-one'])
  })
  test('of what is not there, or of nothing, is refused', () => {
    expect(ids('a-onne')).toBe('"a-onne" is not a check or a group; did you mean a-one?')
    expect(ids('b', 'wsl2')).toMatch(/none is left/)
  })
})
