// The example for Alertmanager: valid, in line with the agent's own table of what follows from what, and a real Alertmanager makes one message of a dying host.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import * as z from 'zod'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { causesOf } from '../../agent/diagnosis/incidents/correlation.ts'
import { alertName, INCIDENT_KINDS, type IncidentKind } from '../../agent/model/kinds.ts'
import type { MessageItem } from '../../agent/model/notification.ts'
import { alertmanager as notifier } from '../../alerts/notifiers/alertmanager.ts'
import { commonOptions } from '../../alerts/notifiers/common.ts'
import { sampleIncident } from '../../alerts/sample.ts'
import { monitoringMissing, startAlertmanager, type Monitor } from '../setup/monitoring.ts'
import { poll } from '../setup/poll.ts'
import { webServer, type Listening } from '../setup/web-server.ts'

const FILE = join(import.meta.dirname, '../../alerts/prometheus/alertmanager.example.yml')
const texts = z.array(z.string())
const route = z.looseObject({ receiver: z.string(), group_wait: z.optional(z.string()) })
const example = z.looseObject({
  route: z.looseObject({ ...route.shape, routes: z.array(route) }),
  time_intervals: z.optional(z.unknown()),
  inhibit_rules: z.array(z.object({ source_matchers: texts, target_matchers: texts, equal: texts })),
  receivers: z.array(z.looseObject({ name: z.string(), webhook_configs: z.optional(z.array(z.looseObject({ url: z.string() }))) })),
})
const config = example.parse(parse(readFileSync(FILE, 'utf8')))

/** The kinds that a matcher of alertname names. */
function kindsOf(matchers: readonly string[]): readonly IncidentKind[] {
  const [, names = ''] = /^alertname=~?"(.*)"$/.exec(matchers[0] ?? '') ?? []
  return INCIDENT_KINDS.filter((kind) => names.split('|').includes(alertName(kind)))
}
const pairs = config.inhibit_rules.flatMap(({ source_matchers: source, target_matchers: target }) =>
  kindsOf(source).flatMap((cause) => kindsOf(target).map((effect) => ({ cause, effect }))),
)
function canFollow(effect: IncidentKind, cause: IncidentKind): boolean {
  return causesOf(effect).some((between) => between === cause || canFollow(between, cause))
}

describe('what is muted', () => {
  test('is nothing, at any time of the day', () => {
    expect(config.time_intervals).toBeUndefined()
    const all: readonly object[] = [config.route, ...config.route.routes]
    expect(all.flatMap((one) => Object.keys(one).filter((key) => key.endsWith('time_intervals')))).toEqual([])
  })

  // Who takes away the "#" of the example must get what it says.
  test.skipIf(monitoringMissing !== undefined)('is warnings at night and on weekends where somebody asks for it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'warpwatch-muted-'))
    try {
      const file = join(folder, 'alertmanager.yml')
      writeFileSync(
        file,
        readFileSync(FILE, 'utf8').replaceAll(
          /^( *)# (- matchers: \[severity="warning"\]|  receiver: people$|  mute_time_intervals|time_intervals:|  - name: nights|    time_intervals:|      - |        location)/gm,
          '$1$2',
        ),
      )
      const { status, stdout, stderr } = spawnSync('amtool', ['check-config', file], { encoding: 'utf8' })
      expect([status, stderr]).toEqual([0, ''])
      expect(stdout).toContain('SUCCESS')
      expect(parse(readFileSync(file, 'utf8'))).toMatchObject({
        route: { routes: expect.arrayContaining([{ matchers: ['severity="warning"'], receiver: 'people', mute_time_intervals: ['nights-and-weekends'] }]) },
        time_intervals: [{ name: 'nights-and-weekends', time_intervals: [{ location: 'UTC' }, { weekdays: ['saturday', 'sunday'] }] }],
      })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe('what silences what', () => {
  test('is what follows from what, by the table of stories', () => {
    expect(pairs.length).toBeGreaterThan(15)
    expect(pairs.filter(({ cause, effect }) => !canFollow(effect, cause))).toEqual([])
  })
  test('never goes round: two that silence each other would both be lost', () => {
    const silences = (cause: IncidentKind, effect: IncidentKind): boolean => pairs.some((pair) => pair.cause === cause && pair.effect === effect)
    expect(pairs.filter(({ cause, effect }) => silences(effect, cause))).toEqual([])
  })
  test('names kinds that there are', () => {
    const named = config.inhibit_rules.flatMap(({ source_matchers: [source = ''], target_matchers: [target = ''] }) =>
      [source, target].flatMap((matcher) => (/^alertname=~?"(.*)"$/.exec(matcher)?.[1] ?? '').split('|')),
    )
    const known = new Set(['', 'WarpwatchAgentDown', ...INCIDENT_KINDS.map(alertName)])
    expect(named.filter((name) => !known.has(name))).toEqual([])
  })
})

type Labels = Readonly<Record<string, string>>
type Way = { readonly name: string; readonly host: (n: number) => string; readonly send: (base: string, hit: readonly Hit[]) => Promise<void> }
type Hit = {
  readonly host: number
  readonly kind: IncidentKind
  readonly severity: 'warning' | 'critical'
  readonly uuid?: string
  readonly container?: string
}

async function post(url: string, headers: Labels, body: string): Promise<void> {
  const answer = await fetch(url, { method: 'POST', headers, body })
  if (answer.status !== 200) throw new Error(`expected 200 of ${url}, came ${answer.status}: ${await answer.text()}`)
}
const postAlerts = async (base: string, alerts: readonly Labels[]): Promise<void> =>
  post(`${base}/api/v2/alerts`, { 'Content-Type': 'application/json' }, JSON.stringify(alerts.map((labels) => ({ labels }))))

const byRules: Way = {
  name: 'from the rules',
  host: (n) => `gpu-0${n}:9839`,
  send: (base, hit) =>
    postAlerts(
      base,
      hit.map(({ host, kind, severity, uuid, container }) => ({
        alertname: alertName(kind),
        job: 'warpwatch',
        instance: byRules.host(host),
        kind,
        severity,
        ...(uuid === undefined ? {} : { gpu: '0', uuid }),
        ...(container === undefined ? {} : { container }),
      })),
    ),
}
const byAgents: Way = {
  name: "from the agents' own notifier",
  host: (n) => `gpu-0${n}`,
  async send(base, hit) {
    const blank = Object.fromEntries(Object.entries({ ...commonOptions, ...notifier.options }).map(([name, field]) => [name, field.default]))
    const { request } = notifier.create(notifierOptions.parse({ ...blank, url: base }))
    for (const host of new Set(hit.map((each) => each.host))) {
      // Begun in a while: Alertmanager does not wait for the rest of a group when its first alert is older than group_wait.
      const t = Date.now() + 30_000
      const items = hit
        .filter((each) => each.host === host)
        .map(({ kind, severity, uuid, container }, n): MessageItem => {
          const subject = { ...(uuid === undefined ? {} : { gpu: { index: 0, uuid } }), ...(container === undefined ? {} : { container: { name: container } }) }
          return { event: 'firing', reason: 'new', incident: { ...sampleIncident({ kind, t }), id: `${kind}-${n}`, severity, subject } }
        })
      const { url, headers, body } = request(
        { key: 'k', t, host: byAgents.host(host), local_url: 'http://127.0.0.1:9839', items, count: items.length },
        new Map(),
      )
      await post(url, headers, body)
    }
  },
}
const notifierOptions = z.object({
  url: z.string(),
  username: z.string(),
  password: z.string(),
  token: z.string(),
  labels: z.record(z.string(), z.string()),
  heartbeat: z.boolean(),
})

/** One host dies, of another a card with other faults goes on, and a third has faults of no known card. */
const HIT: readonly Hit[] = [
  { host: 1, kind: 'gpu_lost', severity: 'critical', uuid: 'GPU-1' },
  { host: 1, kind: 'xid', severity: 'critical', uuid: 'GPU-1' },
  { host: 1, kind: 'driver_hung', severity: 'critical', uuid: 'GPU-1' },
  { host: 1, kind: 'gpu_missing', severity: 'critical', uuid: 'GPU-1' },
  { host: 1, kind: 'telemetry_stale', severity: 'critical', uuid: 'GPU-1' },
  { host: 1, kind: 'nccl_error', severity: 'critical', uuid: 'GPU-1', container: 'trainer' },
  { host: 1, kind: 'target_down', severity: 'critical', uuid: 'GPU-1', container: 'trainer' },
  { host: 1, kind: 'throttling', severity: 'warning', uuid: 'GPU-2' },
  { host: 1, kind: 'throttling', severity: 'critical', uuid: 'GPU-2' },
  { host: 1, kind: 'nccl_error', severity: 'critical', uuid: 'GPU-2', container: 'trainer' },
  { host: 2, kind: 'nccl_error', severity: 'critical', uuid: 'GPU-1', container: 'trainer' },
  { host: 3, kind: 'gpu_lost', severity: 'critical' },
  { host: 3, kind: 'nccl_error', severity: 'critical' },
]
const WANTED = new Map([
  [1, ['GpuLost GPU-1', 'NcclError GPU-2', 'Throttling GPU-2', 'Xid GPU-1']],
  [2, ['NcclError GPU-1']],
  [3, ['GpuLost', 'NcclError']],
])

const reported = z.object({
  receiver: z.string(),
  groupLabels: z.record(z.string(), z.string()),
  alerts: z.array(z.object({ status: z.string(), labels: z.record(z.string(), z.string()) })),
})
type Notified = z.infer<typeof reported>
const known = z.array(z.object({ labels: z.record(z.string(), z.string()), status: z.object({ state: z.string() }) }))

describe.skipIf(monitoringMissing !== undefined)(`a real Alertmanager (${monitoringMissing ?? 'as the example says'})`, () => {
  let inbox: Listening
  let monitor: Monitor
  const messages: Notified[] = []
  const instancesNotified = (): readonly string[] =>
    messages.filter(({ receiver }) => receiver === 'people').map(({ groupLabels }) => groupLabels['instance'] ?? '')

  beforeAll(async () => {
    inbox = await webServer((request, response) => {
      let text = ''
      request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      request.on('end', () => {
        messages.push(reported.parse(JSON.parse(text)))
        response.end()
      })
    })
    // As it stands, but for where it sends to and the wait before the first message.
    monitor = await startAlertmanager({
      ...config,
      route: { ...config.route, group_wait: '1s' },
      receivers: config.receivers.map((receiver) =>
        receiver.webhook_configs === undefined ? receiver : { ...receiver, webhook_configs: [{ ...receiver.webhook_configs[0], url: inbox.url }] },
      ),
    })
  })
  afterAll(async () => {
    await monitor[Symbol.asyncDispose]()
    await inbox.close()
  })

  test('amtool finds nothing wrong with the example', () => {
    const { stdout, stderr, status } = spawnSync('amtool', ['check-config', FILE], { encoding: 'utf8' })
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toContain('SUCCESS')
  })
  test.each([
    [['alertname=WarpwatchHeartbeat', 'severity=none'], 'dead-mans-switch'],
    [['alertname=BatchHalving', 'severity=info'], 'nobody'],
    [['alertname=Throttling', 'severity=warning'], 'people'],
    [['alertname=CudaOom', 'severity=critical'], 'people'],
  ])('%j goes to %s', (labels, receiver) => {
    const { stdout } = spawnSync('amtool', ['config', 'routes', 'test', `--config.file=${FILE}`, ...labels], { encoding: 'utf8' })
    expect(stdout.trim()).toBe(receiver)
  })

  test.each([byRules, byAgents])('makes one message of a dying host, with the roots alone: alerts $name', async ({ host, send }) => {
    messages.length = 0
    await send(monitor.url, HIT)
    const hosts = [...WANTED.keys()].map(host)
    await poll(() => hosts.every((each) => instancesNotified().includes(each)), {
      what: () => `a message for each of ${hosts.join(', ')}, came ${JSON.stringify(messages)}; Alertmanager said ${monitor.said()}`,
      deadlineMs: 30_000,
    })
    expect(instancesNotified().toSorted()).toEqual(hosts)
    for (const [n, wanted] of WANTED) {
      const message = messages.find(({ groupLabels }) => groupLabels['instance'] === host(n))
      expect(message?.alerts.map(({ labels }) => `${labels['alertname']} ${labels['uuid'] ?? ''}`.trim()).sort()).toEqual(wanted)
    }
    // The rest is there, and silenced.
    const all = known.parse(await (await fetch(`${monitor.url}/api/v2/alerts`)).json()).filter(({ labels }) => labels['instance'] === host(1))
    expect(
      all
        .filter(({ status }) => status.state === 'suppressed')
        .map(({ labels }) => labels['alertname'] ?? '')
        .sort(),
    ).toEqual(['DriverHung', 'GpuMissing', 'NcclError', 'TargetDown', 'TelemetryStale', 'Throttling'])
  })

  test('an agent that is down silences its incidents, and nothing of others', async () => {
    messages.length = 0
    const down = { alertname: 'WarpwatchAgentDown', job: 'warpwatch', instance: 'gpu-07', severity: 'critical' }
    await postAlerts(monitor.url, [
      down,
      { alertname: 'Xid', kind: 'xid', instance: 'gpu-07', uuid: 'GPU-7', severity: 'critical' },
      { alertname: 'DiskBroken', instance: 'gpu-07', severity: 'critical' },
      { alertname: 'Xid', kind: 'xid', instance: 'gpu-08', uuid: 'GPU-8', severity: 'critical' },
      { alertname: 'WarpwatchHeartbeat', severity: 'none' },
    ])
    await poll(
      () => ['gpu-07', 'gpu-08'].every((each) => instancesNotified().includes(each)) && messages.some(({ receiver }) => receiver === 'dead-mans-switch'),
      {
        what: () => `three messages, came ${JSON.stringify(messages)}`,
        deadlineMs: 30_000,
      },
    )
    const names = (instance: string): readonly string[] =>
      messages.filter(({ groupLabels }) => groupLabels['instance'] === instance).flatMap(({ alerts }) => alerts.map(({ labels }) => labels['alertname'] ?? ''))
    expect(names('gpu-07').toSorted()).toEqual(['DiskBroken', 'WarpwatchAgentDown'])
    expect(names('gpu-08')).toEqual(['Xid'])
  })
})
