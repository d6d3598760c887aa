// Silence, acknowledge, set healthy over HTTP: what they do, who may, and what is refused.
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { incident, incidentSummary } from '../../../agent/http/api/incident-schemas.ts'
import { MAX_SILENCE_MS, silence } from '../../../agent/http/api/maintenance-schemas.ts'
import { MAX_WRITE_BYTES } from '../../../agent/http/guards.ts'
import { createIncidentsSource } from '../../../agent/sources/incidents.ts'
import type { Event } from '../../../agent/model/event.ts'
import { createScene, T, uuid } from '../incidents/scene.ts'
import { runOperatedHost } from './operated-host.ts'
import { get } from './running.ts'

const HOUR = 3_600_000
const errorOf = (text: string): string => z.object({ error: z.object({ message: z.string() }) }).parse(JSON.parse(text)).error.message

describe('silences', () => {
  test('cover what fits until they run out, and the incidents are told again', async () => {
    await using host = await runOperatedHost()
    const [lost, other] = [host.lose(0), host.lose(1)]
    host.reported.length = 0
    const made = await host.send('POST', '/api/v1/silences', { kind: 'xid', gpu: '0', for_ms: HOUR, reason: 'board is being changed', by: 'kim' })
    expect(made.status).toBe(201)
    const found = silence.parse(JSON.parse(made.text))
    expect(found).toEqual({ id: found.id, kind: 'xid', gpu: '0', created_at: T, until: T + HOUR, reason: 'board is being changed', by: 'kim' })
    expect(host.reported.map(({ id, silenced }) => [id, silenced])).toEqual([[lost, { until: T + HOUR, id: found.id }]])
    expect(JSON.parse((await get(`${host.url}/api/v1/silences`)).text)).toEqual([found])

    const list = z.array(incidentSummary).parse(JSON.parse((await get(`${host.url}/api/v1/incidents`)).text))
    expect(new Map(list.map(({ id, silenced }) => [id, silenced?.id]))).toEqual(
      new Map([
        [lost, found.id],
        [other, undefined],
      ]),
    )
    expect(incident.parse(JSON.parse((await get(`${host.url}/api/v1/incidents/${lost}`)).text)).silenced).toEqual({ until: T + HOUR, id: found.id })
    expect((await get(`${host.url}/api/v1/incidents/${lost}/report`)).text).toContain(found.id)

    host.clock.now = T + HOUR
    host.reported.length = 0
    host.operator.tick(T + HOUR)
    host.operator.tick(T + HOUR + 1_000)
    expect(host.reported.map(({ id, silenced }) => [id, silenced])).toEqual([[lost, undefined]])
    expect(JSON.parse((await get(`${host.url}/api/v1/silences`)).text)).toEqual([])
  })

  test('can be taken back, once', async () => {
    await using host = await runOperatedHost()
    const lost = host.lose(0)
    const { id } = silence.parse(JSON.parse((await host.send('POST', '/api/v1/silences', { all: true, until: T + HOUR, reason: 'firmware' })).text))
    expect(host.service.firing().map(({ silenced }) => silenced?.id)).toEqual([id])
    host.reported.length = 0
    expect((await host.send('DELETE', `/api/v1/silences/${id}`)).status).toBe(204)
    expect(host.reported.map((reported) => [reported.id, reported.silenced])).toEqual([[lost, undefined]])
    expect((await host.send('DELETE', `/api/v1/silences/${id}`)).status).toBe(404)
  })

  test('count in the metric, and change nothing else there', async () => {
    await using host = await runOperatedHost()
    host.lose(0)
    host.lose(1)
    const readings = (): Map<string, number> => {
      const found: Event[] = []
      const source = createIncidentsSource(host.service.figures)
      void source.start({
        emit: (event) => void found.push(event),
        every: (_ms, run) => (run(T), () => {}),
        log: { info: () => {}, warn: () => {}, error: () => {} },
      })
      return new Map(found.flatMap((event) => (event.type === 'scrape' ? event.readings.map(({ series, value }) => [series.key, value] as const) : [])))
    }
    const before = readings()
    expect(before.get('warpwatch_incidents_silenced')).toBe(0)
    await host.send('POST', '/api/v1/silences', { gpu: uuid(1), for_ms: HOUR, reason: 'r' })
    expect(Object.fromEntries(readings())).toEqual({ ...Object.fromEntries(before), warpwatch_incidents_silenced: 1 })
  })

  test.each<readonly [unknown, string]>([
    [{ reason: 'r', for_ms: HOUR }, 'what to silence is missing: give kind, gpu, container or severity, or "all": true for the whole host'],
    [{ all: true, gpu: '0', reason: 'r', for_ms: HOUR }, '"all" and gpu exclude each other'],
    [{ gpu: '0', reason: 'r' }, 'the end is missing: give until or for_ms'],
    [{ gpu: '0', reason: 'r', until: T + 1, for_ms: HOUR }, 'until and for_ms exclude each other'],
    [{ gpu: '0', reason: 'r', until: T }, 'until: must be a time in the next 366 days'],
    [{ gpu: '0', reason: 'r', until: T + MAX_SILENCE_MS + 1 }, 'until: must be a time in the next 366 days'],
    [{ gpu: '0', for_ms: HOUR }, 'reason: '],
    [{ gpu: '0', for_ms: HOUR, reason: '   ' }, 'reason: '],
    [{ gpu: 0, for_ms: HOUR, reason: 'r' }, 'gpu: '],
    [{ kind: 'xyz', for_ms: HOUR, reason: 'r' }, 'kind: '],
    [{ gpu: '0', for_ms: HOUR, reason: 'r', colour: 'red' }, 'colour'],
    [{ gpu: '0', for_ms: HOUR, reason: 'x'.repeat(501) }, 'reason: '],
    ['text', 'body: '],
    [[], 'body: '],
  ])('refuse %j', async (body, problem) => {
    await using host = await runOperatedHost()
    const answer = await host.send('POST', '/api/v1/silences', body)
    expect([answer.status, errorOf(answer.text)]).toEqual([400, expect.stringContaining(problem)])
    expect(host.operator.silences()).toEqual([])
  })
})

describe('an incident', () => {
  test('is acknowledged, and told so', async () => {
    await using host = await runOperatedHost()
    const id = host.lose(0)
    host.reported.length = 0
    const answer = await host.send('POST', `/api/v1/incidents/${id}/ack`, { by: 'kim', note: 'on my way' })
    expect(answer.status).toBe(200)
    expect(incident.parse(JSON.parse(answer.text))).toMatchObject({ id, status: 'firing', acknowledged: { at: T, by: 'kim', note: 'on my way' } })
    expect(host.reported).toMatchObject([{ id, acknowledged: { by: 'kim' } }])
    expect((await get(`${host.url}/api/v1/incidents/${id}/report`)).text).toContain('on my way')
  })

  test('is set healthy once; a recording of it gives the same again', async () => {
    await using host = await runOperatedHost()
    const id = host.lose(0)
    host.clock.now = T + 5_000
    const answer = await host.send('POST', `/api/v1/incidents/${id}/resolve`, { by: 'kim' })
    expect(incident.parse(JSON.parse(answer.text))).toMatchObject({ id, status: 'resolved', resolved_at: T + 5_000, resolution: 'set healthy by kim' })
    expect(host.reported.at(-1)).toMatchObject({ id, status: 'resolved' })
    const again = await host.send('POST', `/api/v1/incidents/${id}/resolve`, {})
    expect([again.status, errorOf(again.text)]).toEqual([409, `incident ${id} is resolved: only a firing incident can be acknowledged or marked as resolved`])
    const replayed = createScene()
    replayed.feed(...host.recorded)
    expect(replayed.incidents()).toEqual([JSON.parse((await get(`${host.url}/api/v1/incidents/${id}`)).text)])
  })

  test.each(['ack', 'resolve'])('that is not there cannot be %s', async (what) => {
    await using host = await runOperatedHost()
    for (const id of ['ffffffffffffffff', 'x']) expect((await host.send('POST', `/api/v1/incidents/${id}/${what}`, {})).status).toBe(404)
    const bad = await host.send('POST', `/api/v1/incidents/${host.lose(0)}/${what}`, { note: 5 })
    expect([bad.status, errorOf(bad.text)]).toEqual([400, expect.stringContaining('note: ')])
  })

  test('outlives the agent with what was said of it', async () => {
    const first = await runOperatedHost()
    const id = first.lose(0)
    await first.send('POST', `/api/v1/incidents/${id}/ack`, { by: 'kim' })
    await first.send('POST', '/api/v1/silences', { gpu: '0', for_ms: HOUR, reason: 'r' })
    await first[Symbol.asyncDispose]()
    await using second = await runOperatedHost({}, first.directory)
    expect(second.service.firing()).toMatchObject([{ id, acknowledged: { by: 'kim' }, silenced: { until: T + HOUR } }])
  })
})

describe('who may', () => {
  const body = { gpu: '0', for_ms: HOUR, reason: 'r' }
  const PATH = '/api/v1/silences'

  test.each<readonly [string, Readonly<Record<string, string>>, number]>([
    ['a program on this machine', {}, 201],
    ['the page itself', { origin: 'SELF' }, 201],
    ['a page of an allowed origin', { origin: 'https://grafana.example' }, 201],
    ['a page of another origin', { origin: 'https://evil.example' }, 403],
    ['another port of this machine', { origin: 'http://127.0.0.1:1' }, 403],
    ['a page without an origin', { origin: 'null' }, 403],
    ['a page under another name of this address', { origin: 'http://evil.example', host: 'evil.example' }, 403],
    ['a form', { 'content-type': 'text/plain' }, 415],
    ['a form of another kind', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['something that only looks like JSON', { 'content-type': 'application/jsonp' }, 415],
    ['JSON with its charset', { 'content-type': 'application/json; charset=utf-8' }, 201],
    ['a body of unknown length', { 'transfer-encoding': 'chunked' }, 413],
  ])('%s', async (_, headers, status) => {
    await using host = await runOperatedHost({ allowedOrigins: ['https://grafana.example'] })
    const { origin } = headers
    const sent = { ...headers, ...(origin === 'SELF' ? { origin: host.url } : {}) }
    const text = JSON.stringify(body)
    const length = 'transfer-encoding' in headers ? {} : { 'content-length': String(text.length) }
    const answer = await get(`${host.url}${PATH}`, { 'content-type': 'application/json', ...length, ...sent }, 'POST', text)
    expect([answer.status, host.operator.silences().length]).toEqual([status, status === 201 ? 1 : 0])
  })

  test.each([
    ['http://evil.example', 403],
    ['null', 403],
    ['https://grafana.example', 404],
  ])('end a silence from %s: %d', async (origin, status) => {
    await using host = await runOperatedHost({ allowedOrigins: ['https://grafana.example'] })
    expect((await host.send('DELETE', `${PATH}/x`, undefined, { origin })).status).toBe(status)
  })

  test('with the token where one is set', async () => {
    await using host = await runOperatedHost({ token: 's3cret-token' })
    const id = host.lose(0)
    for (const authorization of [undefined, 'Bearer wrong', 'Basic s3cret-token']) {
      const headers = authorization === undefined ? {} : { authorization }
      expect((await host.send('POST', PATH, body, headers)).status).toBe(401)
      expect((await host.send('DELETE', `${PATH}/x`, undefined, headers)).status).toBe(401)
      for (const what of ['ack', 'resolve']) expect((await host.send('POST', `/api/v1/incidents/${id}/${what}`, {}, headers)).status).toBe(401)
    }
    expect(host.diagnosis.firing()).toHaveLength(1)
    expect((await host.send('POST', PATH, body, { authorization: 'Bearer s3cret-token' })).status).toBe(201)
  })

  test('nobody where other hosts can connect and no token is set', async () => {
    await using host = await runOperatedHost({ listen: '0.0.0.0:0', insecure: true })
    const answer = await host.send('POST', PATH, body)
    expect([answer.status, errorOf(answer.text)]).toEqual([
      403,
      `${PATH}: nothing can be changed while other hosts can connect without a token: set http.token`,
    ])
    expect((await get(`${host.url}${PATH}`)).status).toBe(200)
  })

  test('not more than a little', async () => {
    await using host = await runOperatedHost()
    const answer = await host.send('POST', PATH, { ...body, reason: 'x'.repeat(MAX_WRITE_BYTES) })
    expect([answer.status, host.operator.silences()]).toEqual([413, []])
  })

  test.each([
    ['PUT', PATH, 'GET, HEAD, POST'],
    ['DELETE', PATH, 'GET, HEAD, POST'],
    ['POST', '/api/v1/incidents', 'GET, HEAD'],
    ['POST', '/api/v1/incidents/0123456789abcdef', 'GET, HEAD'],
    ['POST', `${PATH}/x`, 'DELETE'],
    ['DELETE', '/api/v1/incidents/0123456789abcdef/ack', 'POST'],
  ])('nothing by %s %s', async (method, path, allow) => {
    await using host = await runOperatedHost()
    const answer = await get(`${host.url}${path}`, {}, method)
    expect([answer.status, answer.headers['allow']]).toEqual([405, allow])
  })

  test('a page of an allowed origin is told how it may ask', async () => {
    await using host = await runOperatedHost({ allowedOrigins: ['https://grafana.example'] })
    const preflight = await get(`${host.url}${PATH}`, { origin: 'https://grafana.example', 'access-control-request-method': 'POST' }, 'OPTIONS')
    expect(preflight.headers).toMatchObject({
      'access-control-allow-methods': 'GET, HEAD, POST',
      'access-control-allow-headers': 'Authorization, Content-Type',
    })
    expect((await get(`${host.url}${PATH}`, { origin: 'https://evil.example', 'access-control-request-method': 'POST' }, 'OPTIONS')).status).toBe(405)
  })
})
