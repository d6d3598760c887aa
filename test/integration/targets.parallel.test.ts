// Services, thresholds and switched detectors through the whole agent: real HTTP and TLS servers, the fake NVML library, incidents on the API.
import { join } from 'node:path'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { incidentSummary } from '../../agent/http/api/incident-schemas.ts'
import { eightH100 } from '../fakes/nvml/scenario.ts'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { selfSigned } from '../setup/certificate.ts'
import { poll } from '../setup/poll.ts'
import { tlsServer, webServer, type Listening } from '../setup/web-server.ts'

/** One certificate with the right name, one for another host; the agent trusts both. */
const [right, wrong] = [selfSigned('IP:127.0.0.1'), selfSigned('DNS:elsewhere.example')]
const scenario = (celsius: number) => eightH100((index) => ({ temp: index === 2 ? celsius : 60 }))

describe.skipIf(right === undefined || wrong === undefined)('targets and thresholds (needs openssl)', () => {
  let agent: RunningAgent
  let [status, asked] = [200, 0]
  const servers: Listening[] = []
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-targets-'))
  const authorities = join(folder, 'authorities.pem')

  beforeAll(async () => {
    if (right === undefined || wrong === undefined) return
    writeFileSync(authorities, right.cert + wrong.cert)
    const ui = await webServer((_, answer) => {
      asked++
      answer.writeHead(status).end('ok')
    })
    const good = await tlsServer(right, (_, answer) => answer.end('ok'))
    const bad = await tlsServer(wrong, (_, answer) => answer.end('ok'))
    servers.push(ui, good, bad)
    const target = (name: string, url: string, more = ''): string => `  - {name: ${name}, url: "${url}", interval_ms: 1000${more}}\n`
    const config = `targets:
${target('ui', `http://ann:s3cret@127.0.0.1:${ui.port}/health?token=s3cret`, ', headers: {X-Api-Key: s3cret}')}${target('good', good.url)}${target('bad', bad.url)}
detectors:
  throttling:
    enabled: false
  custom:
    - {name: hot, metric: gpu_temperature_celsius, comparison: ">", value: 80, for: 1s, clear_for: 1s, severity: warning, summary: Look after the fans}
`
    agent = await startAgent({ scenario: scenario(60), config, env: { NODE_EXTRA_CA_CERTS: authorities } })
  })
  afterAll(async () => {
    await agent?.[Symbol.asyncDispose]()
    for (const server of servers) await server.close()
    right?.remove()
    wrong?.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  const list = async () => z.array(incidentSummary).parse(await agent.json('/api/v1/incidents?limit=100'))
  const incidentOf = async (fits: (found: z.infer<typeof incidentSummary>) => boolean, what: string) => {
    let last = ''
    return poll(
      async () => {
        const found = await list()
        last = JSON.stringify(found.map(({ kind, status: now, title, facts }) => ({ kind, now, title, facts })))
        return found.find(fits)
      },
      { what: () => `${what}; the agent tells ${last}`, deadlineMs: 20_000, everyMs: 100 },
    )
  }

  test('each target has its metrics', async () => {
    await poll(async () => (await agent.metrics()).value('warpwatch_target_up', { target: 'ui' }) === 1, { what: 'the service to be up' })
    const page = await agent.metrics()
    expect(page.value('warpwatch_target_status', { target: 'ui' })).toBe(200)
    expect(page.value('warpwatch_target_latency_seconds', { target: 'ui' })).toBeGreaterThan(0)
    expect(page.value('warpwatch_target_failing', { target: 'ui' })).toBeUndefined()
    expect(page.value('warpwatch_agent_source_up', { source: 'targets' })).not.toBe(0)
  })

  test('a certificate of another host is told; one that its authority vouches for is well', async () => {
    expect(await incidentOf(({ kind, facts }) => kind === 'target_down' && facts['target'] === 'bad', 'an incident of bad')).toMatchObject({
      status: 'firing',
      severity: 'critical',
      title: 'Service bad is down: TLS failed',
      facts: { reason: 'tls' },
    })
    const page = await agent.metrics()
    expect([page.value('warpwatch_target_up', { target: 'good' }), page.value('warpwatch_target_failing', { target: 'bad', reason: 'tls' })]).toEqual([1, 1])
  })

  test('a service that fails is told within three checks, and over after two good ones', async () => {
    status = 503
    const from = asked
    const down = await incidentOf(({ kind, facts }) => kind === 'target_down' && facts['target'] === 'ui', 'an incident of ui')
    expect(down).toMatchObject({ status: 'firing', title: 'Service ui is down: unexpected status 503', facts: { reason: 'status', http_status: 503 } })
    expect(asked - from).toBeGreaterThanOrEqual(3)
    status = 200
    await incidentOf(({ id, status: now }) => id === down.id && now === 'resolved', 'the incident of ui to resolve')
  })

  test('a threshold of the user is told with its GPU, and over when it is cool again', async () => {
    agent.tell(scenario(91))
    const hot = await incidentOf(({ kind }) => kind === 'custom', 'the threshold')
    expect(hot).toMatchObject({
      severity: 'warning',
      subject: { gpu: { index: 2 } },
      title: 'hot: Look after the fans',
      facts: { name: 'hot', value: 91, threshold: 80 },
    })
    // Told once a second.
    const active = async (): Promise<boolean> => (await agent.metrics()).value('warpwatch_incident_active', { kind: 'custom' }) === 1
    await poll(active, { what: 'the incident on /metrics' })
    expect((await agent.metrics()).value('warpwatch_incidents_total', { kind: 'custom' })).toBeGreaterThanOrEqual(1)
    agent.tell(scenario(60))
    await incidentOf(({ id, status: now }) => id === hot.id && now === 'resolved', 'the threshold to be over')
  })

  test('no secret is told anywhere', async () => {
    const paths = ['/metrics', '/api/v1/incidents?limit=100', '/api/v1/host', '/api/v1/gaps']
    const texts = await Promise.all(paths.map(async (path) => (await agent.get(path)).text))
    expect(texts.join() + agent.stderr()).not.toContain('s3cret')
    expect(texts[0]).toContain(`/health?(hidden)"`)
  })
})
