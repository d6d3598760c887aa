// What the built agent records and what replay reads of it: the same events, in the form that the contract promises.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { describe, expect, onTestFinished, test } from 'vitest'
import { compiler } from '../fakes/nvml/build.ts'
import { eightH100, fakeUuid, withGpu } from '../fakes/nvml/scenario.ts'
import { WITH_CONTAINERS, runToEnd, startAgent } from '../setup/agent.ts'
import { ALL, powerOf } from '../setup/agent-scenes.ts'
import { poll } from '../setup/poll.ts'

const labels = z.record(z.string(), z.string())
const GAP_REASONS = ['not_supported', 'no_permission', 'gpu_lost', 'reset_required', 'timeout', 'driver_error', 'parse_error'] as const
const t = z.int().min(1_700_000_000_000)
/** The lines as published; further fields may be beside. */
const line = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('meta'), format: z.literal('warpwatch-recording'), version: z.literal(1), host: z.string() }),
  z.looseObject({
    type: z.literal('scrape'),
    t,
    source: z.string(),
    duration_ms: z.number().min(0),
    readings: z.array(z.tuple([z.string().regex(/^(warpwatch|process)_[a-z0-9_]+$/), labels, z.number()])),
    gaps: z.array(z.looseObject({ metric: z.string(), labels, reason: z.enum(GAP_REASONS), code: z.int().optional() })),
  }),
  z.looseObject({ type: z.literal('container'), t, action: z.string(), container: z.string(), container_id: z.string().regex(/^[0-9a-f]{12}$/) }),
])

describe.skipIf(compiler === undefined)('a recording of the built agent (needs a C compiler)', () => {
  test('every line has the published form, replay counts the same, and its readings are those of the page', async () => {
    const home = mkdtempSync(join(tmpdir(), 'warpwatch-record-'))
    onTestFinished(() => rmSync(home, { recursive: true, force: true }))
    const file = join(home, 'r.jsonl')
    const scene = eightH100()
    await using agent = await startAgent({ scenario: scene, args: ['run', '--record', file], env: { ...WITH_CONTAINERS, WARPWATCH_HOST_NAME: 'gpu-09' } })
    await poll(async () => ALL.every((gpu) => readFileSync(file, 'utf8').includes(`"warpwatch_gpu_power_watts",{"gpu":"${gpu}"`)), {
      what: 'all GPUs in the recording',
      everyMs: 50,
    })
    agent.tell(withGpu(scene, 6, { power: 123_000, lost: undefined }))
    await poll(async () => powerOf(await agent.metrics(), 6) === 123, { what: 'the new power', everyMs: 50 })
    agent.tell(withGpu(scene, 6, { lost: 1 }))
    await poll(async () => powerOf(await agent.metrics(), 6) === undefined, { what: 'GPU 6 to be lost', everyMs: 50 })
    // Others speak only each ten seconds.
    const sources = ['gpu', 'host', 'agent', 'containers', 'incidents', 'container-logs']
    await poll(() => sources.every((source) => readFileSync(file, 'utf8').includes(`"source":"${source}"`)), { what: `${sources.join()} in the recording` })
    const seen = (await agent.metrics()).value('warpwatch_agent_events_total', { type: 'scrape' }) ?? 0
    expect((await agent.terminate()).code).toBe(0)

    const text = readFileSync(file, 'utf8')
    expect(text.endsWith('\n')).toBe(true)
    const lines = text
      .slice(0, -1)
      .split('\n')
      .map((one) => line.parse(JSON.parse(one)))
    expect(lines[0]).toMatchObject({ type: 'meta', host: 'gpu-09' })
    expect(lines.filter(({ type }) => type === 'meta')).toHaveLength(1)
    const scrapes = lines.flatMap((one) => (one.type === 'scrape' ? [one] : []))
    expect(scrapes.length, 'all that passed through the pipeline').toBeGreaterThanOrEqual(seen)
    expect([...new Set(scrapes.map(({ source }) => source))]).toEqual(expect.arrayContaining(sources))
    const power = (gpu: number) =>
      scrapes.flatMap(({ readings }) => readings).filter(([metric, of]) => metric === 'warpwatch_gpu_power_watts' && of['uuid'] === fakeUuid(gpu))
    expect(new Set(power(5).map(([, , value]) => value))).toEqual(new Set([505]))
    expect(new Set(power(6).map(([, , value]) => value))).toEqual(new Set([506, 123]))
    expect(scrapes.flatMap(({ gaps }) => gaps).some((gap) => gap.reason === 'gpu_lost' && gap.labels['uuid'] === fakeUuid(6) && gap.code === 15)).toBe(true)

    const replayed = await runToEnd({ args: ['replay', file] })
    expect([replayed.code, replayed.stderr]).toEqual([0, ''])
    const of = (word: string): string => new RegExp(`^${word} +(.*)$`, 'm').exec(replayed.stdout)?.[1] ?? ''
    expect(of('Host')).toBe('gpu-09')
    expect(of('Events')).toBe(`${scrapes.length} scrape`)
    const [readings, gaps] = [scrapes.reduce((sum, one) => sum + one.readings.length, 0), scrapes.reduce((sum, one) => sum + one.gaps.length, 0)]
    expect(of('Readings')).toBe(`${readings}, gaps ${gaps}`)
    expect(of('GPUs')).toBe('8')
    const asJson = await runToEnd({ args: ['replay', file, '--json'] })
    // The lost GPU may have become an incident before the agent ended.
    const judged = z.object({ incidents: z.array(z.looseObject({ kind: z.string() })), forecasts: z.array(z.unknown()) }).parse(JSON.parse(asJson.stdout))
    expect([asJson.code, judged.incidents.filter(({ kind }) => kind !== 'gpu_missing'), judged.forecasts]).toEqual([0, [], []])
  })
})
