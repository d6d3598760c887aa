// Notifiers over HTTP and on /metrics: rows as they are, a test message, what was set aside; who may, and what is refused.
import { expect, test } from 'vitest'
import { notifierRow, notifierTest, retried } from '../../../agent/http/api/notifier-schemas.ts'
import type { NotifierApi } from '../../../agent/http/api/notifiers.ts'
import type { NotifierRow } from '../../../agent/model/notification.ts'
import type { Every } from '../../../agent/model/source.ts'
import { createNotificationsSource } from '../../../agent/sources/notifications.ts'
import { createLatestStore } from '../../../agent/store/latest.ts'
import { T } from '../http/fixture.ts'
import { NOTIFIER } from '../http/incident-fixture.ts'
import { get, runServer, type Answer } from '../http/running.ts'

const QUIET: NotifierRow = {
  name: 'pager',
  type: 'webhook',
  host: 'events.example.com',
  status: 'ok',
  waiting: 0,
  delivered: 0,
  failed_tries: 0,
  expired: 0,
  set_aside: 0,
}

async function served(token = '') {
  const asked: string[] = []
  const notifiers: NotifierApi = {
    rows: () => [NOTIFIER, QUIET],
    test: async (name, kind = 'cuda_oom') => {
      asked.push(`test ${name} ${kind}`)
      return { notifier: name, host: 'hooks.slack.com', result: 'rejected', status: 404, took_ms: 12, why: 'must be 200, not 404' }
    },
    retry: (name) => asked.push(`retry ${name}`),
  }
  const running = await runServer({ http: { notifiers, token } })
  const post = (path: string, body: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    get(`${running.url}${path}`, { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)), ...headers }, 'POST', body)
  return { running, asked, post, [Symbol.asyncDispose]: running[Symbol.asyncDispose] }
}

test('rows are told as they are', async () => {
  await using server = await served()
  const answer = await get(`${server.running.url}/api/v1/notifiers`)
  expect([answer.status, JSON.parse(answer.text)]).toEqual([200, [NOTIFIER, QUIET]])
  expect(notifierRow.array().parse(JSON.parse(answer.text))).toEqual([NOTIFIER, QUIET])
})

test('an agent without notifiers has an empty list', async () => {
  await using running = await runServer({ http: { notifiers: undefined } })
  expect((await get(`${running.url}/api/v1/notifiers`)).text).toBe('[]')
  const body = '{}'
  const answer = await get(`${running.url}/api/v1/notifiers/ops/test`, { 'content-type': 'application/json', 'content-length': '2' }, 'POST', body)
  expect(answer.status).toBe(404)
})

test('a test message tells what came of it, and what was set aside is tried again', async () => {
  await using server = await served()
  const sent = await server.post('/api/v1/notifiers/ops/test', '{"kind":"xid"}')
  expect(sent.status).toBe(200)
  expect(notifierTest.parse(JSON.parse(sent.text))).toEqual({
    notifier: 'ops',
    host: 'hooks.slack.com',
    result: 'rejected',
    status: 404,
    took_ms: 12,
    why: 'must be 200, not 404',
  })
  await server.post('/api/v1/notifiers/pager/test', '{}')
  expect(retried.parse(JSON.parse((await server.post('/api/v1/notifiers/ops/retry', '{}')).text))).toEqual({ notifier: 'ops', retried: 3 })
  expect(server.asked).toEqual(['test ops xid', 'test pager cuda_oom', 'retry ops'])
})

test.each([
  ['/api/v1/notifiers/nobody/test', '{}', {}, 404, 'no notifier \\"nobody\\"'],
  ['/api/v1/notifiers/nobody/retry', '{}', {}, 404, 'no notifier \\"nobody\\"'],
  ['/api/v1/notifiers/ops/test', '{"kind":"xids"}', {}, 400, 'such as xid, not'],
  ['/api/v1/notifiers/ops/test', '{"url":"http://evil"}', {}, 400, 'only kind can be given'],
  ['/api/v1/notifiers/ops/test', '[]', {}, 400, 'must be an object'],
  ['/api/v1/notifiers/ops/test', 'x', {}, 400, 'this is no JSON'],
  ['/api/v1/notifiers/ops/test', '{}', { 'content-type': 'text/plain' }, 415, 'must be application/json'],
  ['/api/v1/notifiers/ops/retry', '{}', { origin: 'http://evil.example' }, 403, 'Origin'],
])('POST %s with %s is refused', async (path, body, headers, status, text) => {
  await using server = await served()
  const answer = await server.post(path, body, headers)
  expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(text)])
  expect(server.asked).toEqual([])
})

test('only POST sends, and only with the token', async () => {
  await using server = await served('s3cret')
  const authorization = 'Bearer s3cret'
  expect((await get(`${server.running.url}/api/v1/notifiers/ops/test`, { authorization })).status).toBe(404)
  expect((await server.post('/api/v1/notifiers/ops/test', '{}')).status).toBe(401)
  expect((await get(`${server.running.url}/api/v1/notifiers`)).status).toBe(401)
  expect(server.asked).toEqual([])
  expect((await server.post('/api/v1/notifiers/ops/test', '{}', { authorization })).status).toBe(200)
})

test('the metrics tell all of it, and nothing of what is not known', () => {
  const latest = createLatestStore()
  const source = createNotificationsSource(() => ({ notifiers: [NOTIFIER, QUIET], heartbeat: { delivered: 5, failed: 2 } }))
  const silent = { info: () => {}, warn: () => {}, error: () => {} }
  const once: Every = (_, run) => {
    void run(T)
    return () => {}
  }
  void source.start({ emit: (event) => (event.type === 'scrape' ? latest.apply(event) : undefined), every: once, log: silent })
  const value = (metric: string, labels: Readonly<Record<string, string>>): number | undefined =>
    latest.of(metric).find(({ series }) => Object.entries(labels).every(([name, text]) => series.labels[name] === text))?.value
  const counted = (result: string) => value('warpwatch_agent_notifications_total', { notifier: 'ops', result })
  expect(['delivered', 'expired', 'set_aside', 'failed_try'].map(counted)).toEqual([7, 1, 1, 3])
  expect(['ops', 'pager'].map((notifier) => value('warpwatch_agent_notifications_waiting', { notifier }))).toEqual([2, 0])
  expect(['ops', 'pager'].map((notifier) => value('warpwatch_agent_notifications_oldest_seconds', { notifier }))).toEqual([60, undefined])
  const last = (notifier: string) => value('warpwatch_agent_notification_last_success_timestamp_seconds', { notifier })
  expect(['ops', 'pager'].map(last)).toEqual([(T - 90_000) / 1_000, undefined])
  expect(['delivered', 'failed'].map((result) => value('warpwatch_agent_heartbeats_total', { result }))).toEqual([5, 2])
})
