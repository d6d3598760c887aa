// What is told to Alertmanager: labels that tell alerts apart, times by which they end, and who is asked with which credentials.
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { alertmanager, HEARTBEAT_ALERT } from '../../../alerts/notifiers/alertmanager.ts'
import { full, bare, item, message, storm, T } from './notifier-messages.ts'

const options = { url: 'http://am.example.com:9093', username: '', password: '', token: '', labels: {}, heartbeat: false }
type Options = typeof options & { readonly labels: Readonly<Record<string, string>> }
const make = (change: Partial<Options> = {}) => alertmanager.create({ ...options, ...change })
const Alerts = z.array(
  z.strictObject({
    labels: z.record(z.string().regex(/^[a-zA-Z_]\w*$/), z.string().min(1)),
    annotations: z.record(z.string(), z.string()),
    startsAt: z.optional(z.iso.datetime()),
    endsAt: z.iso.datetime(),
    generatorURL: z.optional(z.url()),
  }),
)
const alertsOf = (body: string) => Alerts.parse(JSON.parse(body))
const MINUTE = 60_000

describe('alerts', () => {
  test('carry the contract’s labels, and no label without a value', () => {
    const [whole, host] = alertsOf(make().request(message(item(full()), item(bare())), new Map()).body)
    const { subject, id } = full()
    expect(whole?.labels).toEqual({
      alertname: 'CudaOom',
      kind: 'cuda_oom',
      severity: 'critical',
      gpu: '0',
      uuid: subject.gpu?.uuid,
      container: 'warpwatch-test',
      incident: id,
      instance: 'gpu-node-07',
    })
    expect(host?.labels).toEqual({ alertname: 'DiskFull', kind: 'disk_full', severity: 'warning', incident: 'b'.repeat(16), instance: 'gpu-node-07' })
  })

  test('name no GPU by the number that a program gave it', () => {
    const [alert] = alertsOf(make().request(message(item(full({ subject: { gpu: { index: 2 } } }))), new Map()).body)
    expect(alert?.labels).not.toHaveProperty('gpu')
  })

  test('say what failed, why, what to do, and where to read on', () => {
    const [alert] = alertsOf(make().request(message(item(full())), new Map()).body)
    expect(alert?.annotations).toMatchObject({
      summary: 'CUDA out of memory',
      description: 'The model asked for 2 GiB and the card was full.',
      remedy: 'Take a smaller batch.\npython train.py --batch 8',
      runbook_url: 'http://gpu-node-07:9839/runbooks/cuda_oom',
    })
    expect(alert?.generatorURL).toBe(alert?.annotations['dashboard'])
  })

  test('end three refreshes later by themselves, or when the incident ended', () => {
    const [firing, resolved] = alertsOf(make().request(message(item(full()), item(bare(), 'resolved')), new Map()).body)
    expect(make().refreshMs).toBe(MINUTE)
    expect(firing).toMatchObject({ startsAt: new Date(T - 1_000).toISOString(), endsAt: new Date(T + 5_000 + 3 * MINUTE).toISOString() })
    expect(resolved?.endsAt).toBe(new Date(T + 12 * MINUTE).toISOString())
    const [late] = alertsOf(make().request(message(item(full({ fired_at: T + 3_000 }))), new Map()).body)
    expect(late?.startsAt).toBe(new Date(T + 3_000).toISOString())
  })

  test('of two incidents on one subject are two', () => {
    const alerts = alertsOf(make().request(storm(200), new Map()).body)
    expect(new Set(alerts.map(({ labels }) => JSON.stringify(labels))).size).toBe(200)
    expect(make().most).toBeGreaterThanOrEqual(200)
  })

  test('of an incident that stands there twice are one, by its last word', () => {
    const alerts = alertsOf(make().request(message(item(full()), item(full(), 'resolved')), new Map()).body)
    expect(alerts.map(({ endsAt }) => endsAt)).toEqual([new Date(T + 12 * MINUTE).toISOString()])
  })

  test('carry the user’s labels, of which instance may be one', () => {
    const labels = { instance: 'gpu-node-07:9839', job: 'warpwatch' }
    const [alert] = alertsOf(make({ labels }).request(message(item(full())), new Map()).body)
    expect(alert?.labels).toMatchObject({ ...labels, alertname: 'CudaOom' })
  })
})

describe('the request', () => {
  test.each([
    ['http://am.example.com:9093', 'http://am.example.com:9093/api/v2/alerts'],
    ['https://ops.example.com/alertmanager/', 'https://ops.example.com/alertmanager/api/v2/alerts'],
  ])('to %s goes to its API', (url, api) => expect(make({ url }).request(message(item(full())), new Map()).url).toBe(api))

  test('carries the credentials in their header only', () => {
    const about = message(item(full()))
    expect(make({ username: 'agent', password: 'pässword' }).request(about, new Map()).headers['Authorization']).toBe(
      `Basic ${Buffer.from('agent:pässword', 'utf8').toString('base64')}`,
    )
    const { url, headers, body } = make({ token: 'TOKEN' }).request(about, new Map())
    expect(headers['Authorization']).toBe('Bearer TOKEN')
    expect(url + body).not.toContain('TOKEN')
    expect(make().request(about, new Map()).headers).not.toHaveProperty('Authorization')
  })

  test('is refused where its options contradict each other', () => {
    const wrong = (change: Partial<Options>) => alertmanager.check?.({ ...options, ...change }).map(({ option }) => option)
    expect(wrong({ password: 'p' })).toEqual(['password'])
    expect(wrong({ username: 'a', password: 'p', token: 't' })).toEqual(['token'])
    expect(wrong({ username: 'a:b', password: 'p' })).toEqual(['username'])
    expect(wrong({ token: 't' })).toEqual([])
  })

  test('takes no label for its own', () => {
    const { schema } = alertmanager.options.labels
    expect(schema.safeParse({ team: 'ml', job: 'warpwatch' }).success).toBe(true)
    for (const labels of [{ alertname: 'x' }, { severity: 'none' }, { 'team-a': 'x' }, { __name__: 'x' }, { team: '' }])
      expect(schema.safeParse(labels).success).toBe(false)
  })
})

describe('the heartbeat', () => {
  test('is an alert that always fires, where it is asked for', () => {
    expect(make().heartbeat).toBeUndefined()
    const request = make({ heartbeat: true, token: 'T', labels: { job: 'warpwatch' } }).heartbeat?.({
      t: T,
      host: 'gpu-node-07',
      base_url: 'http://gpu-node-07:9839',
      local_url: 'http://127.0.0.1:9839',
    })
    expect(request?.headers['Authorization']).toBe('Bearer T')
    expect(alertsOf(request?.body ?? '')).toMatchObject([
      { labels: { alertname: HEARTBEAT_ALERT, instance: 'gpu-node-07', job: 'warpwatch', severity: 'none' }, endsAt: new Date(T + 3 * MINUTE).toISOString() },
    ])
  })
})
