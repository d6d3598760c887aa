// A service in a real container that answers 200 while its GPU (the fake NVML's) is lost, hangs or raises an Xid: told with its name, over when it heals.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { incidentSummary } from '../../agent/http/api/incident-schemas.ts'
import { compiler } from '../fakes/nvml/build.ts'
import { fakeUuid, h100, withGpu, type FakeScenario } from '../fakes/nvml/scenario.ts'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { dockerMissing, startDocker, type TestDocker } from '../setup/docker.ts'
import { poll } from '../setup/poll.ts'
import { webServer, type Listening } from '../setup/web-server.ts'

const GIB = 1024 ** 3
const missing = dockerMissing ?? (compiler === undefined ? 'needs a C compiler' : undefined)

describe.skipIf(missing !== undefined)(`a service that answers while its GPU is dead${missing === undefined ? '' : ` (${missing})`}`, () => {
  let docker: TestDocker
  let agent: RunningAgent
  let service: Listening
  let pid = 0
  let status = 200
  const host = (): FakeScenario => ({
    values: { driver: '590.48.01', nvml: '13.590.48.01', cuda: 13_010, init: 0 },
    gpus: [h100(0, { util: 40 }, [{ pid, bytes: 8 * GIB }]), h100(1, { util: 0 }, [])],
  })

  beforeAll(async () => {
    docker = await startDocker()
    pid = await docker.inspectPid(await docker.run({ name: 'trainer', command: ['sleep', '6000'] }))
    service = await webServer((_, answer) => answer.writeHead(status).end('ok'))
    agent = await startAgent({
      scenario: host(),
      config: `gpu: {deadline_ms: 500}\ntargets:\n  - {name: ui, url: "${service.url}/health", interval_ms: 1000, container: trainer}\n`,
      env: { WARPWATCH_CONTAINERS__ENGINES: docker.socketPath },
    })
    const holds = async (): Promise<boolean> => (await agent.metrics()).value('warpwatch_process_gpu_memory_bytes', { container: 'trainer' }) !== undefined
    await poll(holds, { what: 'the process of the container', deadlineMs: 20_000 })
  })
  afterAll(async () => {
    await agent?.[Symbol.asyncDispose]()
    await service?.close()
    await docker?.close()
  })

  const find = async (what: string, state: string, reason: string) => {
    let last = ''
    return poll(
      async () => {
        const found = z.array(incidentSummary).parse(await agent.json('/api/v1/incidents?limit=100'))
        last = found.map(({ kind, status: now, title }) => `${kind} ${now} ${title}`).join('; ')
        return found.find(
          (reported) =>
            (reported.kind === 'service_dead_gpu' || reported.kind === 'target_down') && reported.status === state && reported.facts['reason'] === reason,
        )
      },
      { what: () => `${what}; there are: ${last}`, deadlineMs: 30_000, everyMs: 100 },
    )
  }

  test.each([
    ['lost', 'gpu_lost', { lost: 1 }],
    ['hung', 'driver_hung', { 'delay.nvmlDeviceGetPowerUsage': 600_000 }],
  ] as const)('%s', async (_, reason, values) => {
    agent.tell(withGpu(host(), 0, values))
    const reported = await find('the incident', 'firing', reason)
    expect(reported).toMatchObject({
      severity: 'critical',
      title: 'Service ui says it is well, but GPU 0 behind it is dead',
      subject: { gpu: { index: 0, uuid: fakeUuid(0) }, container: { name: 'trainer' } },
      facts: { target: 'ui', http_status: 200 },
    })
    expect(reported.verdict).toContain(`Service ui (${service.url}/health) of container trainer answers its health check with 200`)
    agent.tell(host())
    expect(await find('the incident to be over', 'resolved', reason)).toMatchObject({ id: reported.id })
  })

  test('an Xid after which its process cannot go on; over when the service says so itself', async () => {
    const scene = host()
    agent.tell({ ...scene, gpus: scene.gpus.map((gpu, index) => (index === 0 ? { ...gpu, xids: [{ sequence: 1, xid: 95 }] } : gpu)) })
    const reported = await find('the incident', 'firing', 'xid')
    expect(reported).toMatchObject({ facts: { xid: 95 }, subject: { gpu: { index: 0 }, container: { name: 'trainer' } } })
    expect(reported.verdict).toContain(`process sleep (${pid}) of container trainer`)
    status = 503
    expect(await find('the incident to be over', 'resolved', 'xid')).toMatchObject({ id: reported.id })
    expect(await find('that it is down', 'firing', 'status')).toMatchObject({
      title: 'Service ui is down: unexpected status 503',
      subject: { container: { name: 'trainer' } },
    })
  })
})
