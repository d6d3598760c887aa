// The built agent and an OTLP receiver, over HTTP and gRPC: the same values as on /metrics, an incident as a record, and nothing of the agent's own lost to a bad receiver.
// Long: about 65 s.
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { liveBytes, observed } from '../setup/heap.ts'
import type { SentMetrics } from '../setup/otlp-decode.ts'
import { otlpReceiver, type OtlpReceiver } from '../setup/otlp-receiver.ts'
import { poll } from '../setup/poll.ts'
import { parseExposition } from '../unit/http/parse-exposition.ts'
import { sentSeries, toldSeries } from '../unit/otlp/equal.ts'

const MIB = 1024 ** 2
const PROTOCOLS = ['http/protobuf', 'grpc'] as const

const start = (to: OtlpReceiver, scenario: string, config = '', env: Readonly<Record<string, string>> = {}): Promise<RunningAgent> =>
  startAgent({
    args: ['run', `--simulate=${scenario}`],
    env: { WARPWATCH_METRICS__DCGM: 'off', ...env },
    config: `otlp:\n  endpoint: ${to.endpoint}\n  protocol: ${to.protocol}\n  interval_ms: 1000\n  headers: {Authorization: Bearer hf_0123456789abcdefghij}\n${config}`,
  })

/** What /metrics says beside an export; undefined when the next second has already told something else. */
async function different(agent: RunningAgent, sent: SentMetrics): Promise<Readonly<Record<string, unknown>>> {
  const page = toldSeries(parseExposition((await agent.get('/metrics')).text, 'text'))
  const over = sentSeries(sent)
  const keys = new Set([...page.keys(), ...over.keys()])
  return Object.fromEntries([...keys].filter((key) => page.get(key) !== over.get(key)).map((key) => [key, [page.get(key), over.get(key)]]))
}

const seriesAnswer = z.tuple([z.object({ step_ms: z.literal(1_000), t: z.array(z.number()), mean: z.array(z.number().nullable()) })])
/** Of the seconds since `from`, but for the newest two, the share for which history has no reading of GPU 0. */
async function missingShare(agent: RunningAgent, from: number): Promise<number> {
  const [first, last] = [Math.ceil(from / 1_000), Math.floor(Date.now() / 1_000) - 2]
  const query = `metric=warpwatch_gpu_power_watts&gpu=0&from=${first * 1_000}&to=${last * 1_000}&points=1000`
  const [{ mean }] = seriesAnswer.parse(await agent.json(`/api/v1/series?${query}`))
  const seconds = last - first + 1
  return (seconds - mean.filter((value) => value !== null).length) / seconds
}

// Side by side: most of their time they wait for the next try.
describe.concurrent.each(PROTOCOLS)('the agent to a receiver over %s', (protocol) => {
  test('sends what /metrics shows, and tells an incident once', async () => {
    await using to = await otlpReceiver({ protocol })
    await using agent = await start(to, 'xid', '  resource_attributes: {deployment.environment.name: lab}\n', { WARPWATCH_SIMULATE__SPEED: '5' })
    // A page is of the export's second unless the next one began between the two.
    let seen = 0
    await poll(
      async () => {
        if (to.metrics.length === seen) return false
        seen = to.metrics.length
        const sent = to.metrics.at(-1)
        return sent !== undefined && seen > 5 && Object.keys(await different(agent, sent)).length === 0
      },
      { what: () => `an export that equals /metrics; there were ${seen}`, deadlineMs: 40_000, everyMs: 5 },
    )
    expect(to.metrics.at(-1)?.resource).toMatchObject({ 'service.name': 'warpwatch', 'deployment.environment.name': 'lab' })
    const records = await poll(() => to.logs.flatMap((logs) => logs.records).length > 0 && to.logs.flatMap((logs) => logs.records), {
      what: 'an incident',
      deadlineMs: 60_000,
      everyMs: 100,
    })
    expect(records[0]).toMatchObject({
      eventName: 'warpwatch.incident.firing',
      attributes: { 'warpwatch.incident.status': 'firing', 'hw.id': expect.stringMatching(/^GPU-/) as unknown },
    })
    const before = to.metrics.length
    await to.taken(before + 3)
    const ids = to.logs.flatMap((logs) => logs.records).map(({ attributes, eventName }) => `${String(attributes['warpwatch.incident.id'])} ${eventName}`)
    expect(new Set(ids).size).toBe(ids.length)
    // A tick that finds the export of the one before on its way drops its own; on a busy machine that happens, but most are delivered.
    await poll(
      async () => {
        const page = await agent.metrics()
        const delivered = page.value('warpwatch_agent_otlp_requests_total', { signal: 'metrics', result: 'delivered' }) ?? 0
        return delivered > 3 && (page.value('warpwatch_agent_sink_dropped_total', { sink: 'otlp' }) ?? Infinity) < delivered
      },
      { what: 'most exports to be delivered', everyMs: 200 },
    )
    expect(agent.stderr()).not.toContain('hf_')
  })

  test('goes on as before while it hangs, refuses or is gone, in bounded memory, and recovers', async () => {
    await using heap = observed()
    await using to = await otlpReceiver({ protocol })
    await using agent = await start(to, 'healthy', '  timeout_ms: 2000\n', heap.env)
    await to.taken(3)
    const before = await liveBytes(agent, heap.folder)
    const troubleBegan = Date.now()
    to.reply('hang')
    await to.requested(to.requests.length + 3)
    to.reply(protocol === 'grpc' ? { code: 14, details: 'not now' } : { status: 503 })
    await to.requested(to.requests.length + 2)
    await to.close()
    const retries = async (): Promise<number> =>
      (await agent.metrics()).value('warpwatch_agent_otlp_requests_total', { signal: 'metrics', result: 'retry' }) ?? 0
    const failed = await retries()
    await poll(async () => (await retries()) > failed, { what: 'a try that finds nobody', deadlineMs: 60_000, everyMs: 500 })
    // A busy machine may miss a second; who waits for the receiver misses most.
    expect(await missingShare(agent, troubleBegan)).toBeLessThan(0.2)
    const during = await liveBytes(agent, heap.folder)
    // What the agent keeps of its first minutes, trouble or not, is in it: 4.1 MiB on a busy machine.
    expect((during - before) / MIB, 'MiB that trouble cost').toBeLessThan(8)
    await using back = await otlpReceiver({ protocol, port: Number(new URL(to.endpoint).port) })
    await back.taken(2)
    const dropped = (await agent.metrics()).value('warpwatch_agent_sink_dropped_total', { sink: 'otlp' }) ?? 0
    expect(dropped).toBeGreaterThan(3)
    expect(agent.stderr()).toMatch(/metrics do not reach 127\.0\.0\.1:\d+: /)
    expect(agent.stderr()).toMatch(/metrics reach 127\.0\.0\.1:\d+ again/)
  })
})

test('OpenTelemetry’s own variables are enough; without any the agent loads nothing of it', async () => {
  await using to = await otlpReceiver({})
  await using agent = await startAgent({
    args: ['run', '--simulate'],
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: to.endpoint, OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=a' },
  })
  await to.taken(1)
  expect(to.requests[0]?.headers).toMatchObject({ 'x-tenant': 'a' })
  expect(agent.stderr()).not.toContain('otlp')
  await using plain = await startAgent({ args: ['run', '--simulate'] })
  const page = await poll(
    async () => {
      const shown = await plain.metrics()
      return shown.value('warpwatch_agent_sink_dropped_total', { sink: 'live' }) !== undefined && shown
    },
    { what: 'the agent’s own figures' },
  )
  expect(page.value('warpwatch_agent_sink_dropped_total', { sink: 'otlp' })).toBeUndefined()
})

test('a file of certificates that is not there ends the start with its name', async () => {
  await using to = await otlpReceiver({})
  await expect(start(to, 'healthy', '  ca_file: /no/such.pem\n')).rejects.toThrow(/otlp\.ca_file: cannot read the CA certificates: ENOENT/)
})
