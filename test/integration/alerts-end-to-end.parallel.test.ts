// An out-of-memory crash reaches a person both ways, from the agent itself and through Prometheus and Alertmanager, and both say the same.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runToEnd, FULL_PAST, startAgent, type RunningAgent } from '../setup/agent.ts'
import { monitoringMissing, startAlertmanager, startPrometheus, type Monitor } from '../setup/monitoring.ts'
import { poll } from '../setup/poll.ts'
import { startReceiver, type Receiver } from '../setup/receiver.ts'

const subject = z.object({ gpu: z.object({ index: z.int(), uuid: z.string() }), container: z.object({ name: z.string() }) })
const reported = z.object({
  version: z.literal(1),
  event: z.string(),
  host: z.string(),
  url: z.optional(z.string()),
  runbook: z.optional(z.string()),
  directions: z.optional(z.string()),
  incident: z.object({ id: z.string(), kind: z.string(), verdict: z.string(), subject }),
})
const alerts = z.object({
  alerts: z.array(z.object({ status: z.string(), labels: z.record(z.string(), z.string()), annotations: z.record(z.string(), z.string()) })),
})

const bodies = ({ requests }: Receiver): readonly unknown[] => requests.map(({ body }) => JSON.parse(body) as unknown)

describe.skipIf(monitoringMissing !== undefined)(`an OOM of the simulated host (${monitoringMissing ?? 'real Prometheus and Alertmanager'})`, () => {
  const directory = mkdtempSync(join(tmpdir(), 'warpwatch-both-ways-'))
  let direct: Receiver
  let around: Receiver
  let agent: RunningAgent
  let alertmanager: Monitor
  let prometheus: Monitor

  beforeAll(async () => {
    direct = await startReceiver()
    around = await startReceiver()
    const rules = await runToEnd({ args: ['rules'] })
    if (rules.code !== 0) throw new Error(`warpwatch rules: expected 0, came ${rules.code}: ${rules.stderr}`)
    writeFileSync(join(directory, 'warpwatch.rules.yml'), rules.stdout)
    alertmanager = await startAlertmanager({
      route: { receiver: 'team', group_by: ['alertname', 'instance'], group_wait: '100ms', group_interval: '1s', repeat_interval: '1h' },
      receivers: [{ name: 'team', webhook_configs: [{ url: around.url }] }],
    })
    agent = await startAgent({
      args: ['run', '--simulate=oom-leak'],
      env: { ...FULL_PAST, WARPWATCH_SIMULATE__SPEED: '60' },
      config: `notifiers: [{name: ops, type: webhook, url: "${direct.url}/hook", secret: s3cret}]\n`,
    })
    prometheus = await startPrometheus({
      global: { scrape_interval: '500ms', scrape_timeout: '500ms', evaluation_interval: '500ms' },
      rule_files: [join(directory, 'warpwatch.rules.yml')],
      scrape_configs: [{ job_name: 'warpwatch', static_configs: [{ targets: [new URL(agent.url).host] }] }],
      alerting: { alertmanagers: [{ static_configs: [{ targets: [new URL(alertmanager.url).host] }] }] },
    })
  })
  afterAll(async () => {
    await prometheus?.[Symbol.asyncDispose]()
    await agent?.[Symbol.asyncDispose]()
    await alertmanager?.[Symbol.asyncDispose]()
    await direct?.close()
    await around?.close()
    rmSync(directory, { recursive: true, force: true })
  })

  test('arrives both ways with the same kind, GPU and container', async () => {
    const own = await poll(
      () =>
        bodies(direct)
          .map((body) => reported.parse(body))
          .find(({ incident }) => incident.kind === 'cuda_oom'),
      {
        what: () => `the agent's own message; its log: ${agent.stderr()}`,
        deadlineMs: 60_000,
      },
    )
    const { kind, verdict, subject } = own.incident
    // It listens on loopback: the message has no link, and the agent said so once, with the key to set.
    const { port } = new URL(agent.url)
    expect([own.url, own.runbook]).toEqual([undefined, undefined])
    expect(own.directions).toContain(`ssh -L ${port}:127.0.0.1:${port} `)
    expect(agent.stderr().match(/alerts\.base_url is not set, so messages have no links.*such as https:/g)).toHaveLength(1)
    const alert = await poll(
      () =>
        bodies(around)
          .flatMap((body) => alerts.parse(body).alerts)
          .find(({ status, labels }) => status === 'firing' && labels['alertname'] === 'CudaOom' && labels['container'] === subject.container.name),
      { what: () => `Alertmanager's message; came ${JSON.stringify(bodies(around)).slice(0, 2_000)}; Prometheus: ${prometheus.said()}`, deadlineMs: 60_000 },
    )
    expect({ kind: alert.labels['kind'] ?? kind, gpu: alert.labels['gpu'], uuid: alert.labels['uuid'], container: alert.labels['container'] }).toEqual({
      kind: 'cuda_oom',
      gpu: String(subject.gpu.index),
      uuid: subject.gpu.uuid,
      container: subject.container.name,
    })
    expect(alert.labels['severity']).toBe('critical')
    expect(verdict).toMatch(/GiB/)
    expect(alert.annotations['summary']).toContain(subject.container.name)
    expect(alert.annotations['runbook_url']).toMatch(/\/runbooks\/cuda_oom$/)
    // What is delivered is told on /metrics, too.
    await poll(async () => ((await agent.metrics()).value('warpwatch_agent_notifications_total', { notifier: 'ops', result: 'delivered' }) ?? 0) > 0, {
      what: 'the delivery on /metrics',
      deadlineMs: 20_000,
    })
  })
})
