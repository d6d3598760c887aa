// The port as its readers see it: statuses, headers, bodies, and that every answer keeps its schema.
import { once } from 'node:events'
import { connect } from 'node:net'
import * as z from 'zod'
import { describe, expect, test } from 'vitest'
import { ENDPOINTS } from '../../../agent/http/api/openapi.ts'
import { MAX_BODY_BYTES } from '../../../agent/http/guards.ts'
import { defineMetric } from '../../../agent/model/metric.ts'
import { makeSeries } from '../../../agent/model/series.ts'
import { awkward, fillStore, GPU0, scrape, T } from './fixture.ts'
import { INCIDENT } from './incident-fixture.ts'
import { AnswerTooLargeError } from '../../../agent/store/history-view.ts'
import { get, rawGet, runServer, type Answer } from './running.ts'

const errorOf = ({ text }: Answer): { code: string; message: string } =>
  z.object({ error: z.strictObject({ code: z.string(), message: z.string() }) }).parse(JSON.parse(text)).error
const json = (answer: Answer): unknown => JSON.parse(answer.text)

describe('/metrics', () => {
  test('is Prometheus text, or OpenMetrics when asked for, and the same bytes until the next tick', async () => {
    await using running = await runServer()
    const text = await get(`${running.url}/metrics`)
    expect(text.status).toBe(200)
    expect(text.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(text.text).toContain(`warpwatch_gpu_power_watts{gpu="0",uuid="${GPU0['uuid']}"} 312.456\n`)
    const open = await get(`${running.url}/metrics`, { accept: 'application/openmetrics-text; version=1.0.0' })
    expect(open.headers['content-type']).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8')
    expect(open.text.endsWith('# EOF\n')).toBe(true)
    expect(running.exposition.renderings()).toBe(1)
    const head = await get(`${running.url}/metrics`, {}, 'HEAD')
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', String(Buffer.byteLength(text.text))])
  })

  test('a slow reader gets the page that it asked for, whole, though ticks go on', async () => {
    await using running = await runServer()
    // 20 MB, more than the kernel takes for a reader that does not read.
    const tell = (value: number): void =>
      running.latest.apply(
        scrape(
          'big',
          '',
          T + value,
          Array.from({ length: 2_000 }, (_, i) => ({ series: makeSeries(awkward, { text: `${i}-${'x'.repeat(10_000)}` }), value })),
        ),
      )
    tell(1)
    const { hostname, port } = new URL(running.url)
    const socket = connect(Number(port), hostname)
    socket.write('GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
    await once(socket, 'readable') // the page is on its way, and nobody takes it
    const wanted = running.exposition.page('text').body.toString()
    for (const value of [2, 3]) {
      tell(value)
      running.tick(T + value * 1_000)
      expect((await get(`${running.url}/metrics`)).text).toMatch(new RegExp(`x"\\} ${value}\\n`))
    }
    const chunks: Buffer[] = []
    for await (const chunk of socket) chunks.push(chunk)
    const came = Buffer.concat(chunks).toString()
    expect(came.slice(came.indexOf('\r\n\r\n') + 4) === wanted).toBe(true) // not toBe(wanted): 20 MB would fill the report
  })
})

describe('health', () => {
  test('ready means a sample younger than five seconds', async () => {
    await using running = await runServer({ empty: true })
    expect(json(await get(`${running.url}/healthz`))).toEqual({ status: 'ok' })
    const before = await get(`${running.url}/readyz`)
    expect([before.status, json(before)]).toEqual([503, { status: 'not_ready', reason: 'no GPU or host sample has come yet' }])
    fillStore(running.latest)
    const ready = await get(`${running.url}/readyz`)
    expect([ready.status, json(ready)]).toEqual([200, { status: 'ready', newest_sample_age_ms: 400 }])
    running.clock.now = T + 5_100
    running.latest.expire(T + 5_100)
    // What the agent itself goes on saying is no sample of the host.
    const series = makeSeries(defineMetric({ name: 'warpwatch_own', subject: 'agent', kind: 'gauge', unit: '1', help: 'x', labels: [] }), {})
    for (const source of ['agent', 'incidents', 'container-logs', 'kernel-log'])
      running.latest.apply({ type: 'scrape', t: T + 5_000, source, group: '', ttlMs: 3_000, durationMs: 0, readings: [{ series, value: 1 }], gaps: [] })
    const stale = await get(`${running.url}/readyz`)
    expect([stale.status, json(stale)]).toEqual([
      503,
      { status: 'not_ready', reason: 'the newest sample is 5.1 s old; at most 5 s are allowed', newest_sample_age_ms: 5_100 },
    ])
  })
})

describe('the API', () => {
  test.each(ENDPOINTS.map(({ path, schema, list }) => ({ path, schema: list === true ? z.array(schema) : schema })))(
    '$path keeps its schema',
    async ({ path, schema }) => {
      await using running = await runServer()
      const points = { t: [T], min: [1], mean: [null], max: [2] }
      running.past.push({ metric: 'warpwatch_gpu_power_watts', labels: GPU0, step_ms: 1_000, ...points })
      const answer = await get(`${running.url}${path.replace('{id}', INCIDENT.id)}${path.endsWith('/series') ? '?metric=gpu_power_watts' : ''}`)
      expect(answer.status).toBe(200)
      expect(answer.headers['content-type']).toMatch(/^application\/json/)
      const value = json(answer)
      expect(schema.parse(value)).toEqual(value) // equal: nothing that the schema does not know
      expect(Array.isArray(value) && value.length === 0).toBe(/\/(?:allocators|progress|servers)$/.test(path))
    },
  )

  test('describes itself as OpenAPI 3.1 whose references all lead somewhere', async () => {
    await using running = await runServer()
    const answer = await get(`${running.url}/api/v1/openapi.json`)
    const document = z
      .looseObject({
        openapi: z.literal('3.1.0'),
        paths: z.record(z.string(), z.unknown()),
        components: z.looseObject({ schemas: z.record(z.string(), z.unknown()) }),
      })
      .parse(json(answer))
    for (const { path } of ENDPOINTS) expect(Object.keys(document.paths)).toContain(path)
    const references = [...answer.text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name)
    expect(references.length).toBeGreaterThan(10)
    for (const name of references) expect(Object.keys(document.components.schemas)).toContain(name)
    expect(answer.text).not.toContain('$defs')
  })

  test('asks the history for the last 15 minutes at 300 points, or for what the query says', async () => {
    await using running = await runServer()
    const { queries, url } = running
    await get(`${url}/api/v1/series?metric=gpu_power_watts`)
    expect(queries[0]).toEqual({ metric: 'warpwatch_gpu_power_watts', labels: {}, from: T + 400 - 900_000, to: T + 400, points: 300 })
    queries.length = 0
    await get(`${url}/api/v1/series?metric=warpwatch_gpu_clock_hertz&uuid=GPU-1&domain=sm&from=${T - 5_000}&to=${T}&points=5000`)
    expect(queries).toEqual([{ metric: 'warpwatch_gpu_clock_hertz', labels: { uuid: 'GPU-1', domain: 'sm' }, from: T - 5_000, to: T, points: 5_000 }])
  })

  test.each([
    ['', 'metric: must be a metric such as gpu_memory_used_bytes, not nothing'],
    ['?metric=a%20b', 'metric: must be a metric such as gpu_memory_used_bytes, not "a b"'],
    ['?metric=a&points=0', 'points: must be a whole number from 1 to 5000, not "0"'],
    ['?metric=a&points=5001', 'points: must be a whole number from 1 to 5000, not "5001"'],
    ['?metric=a&from=yesterday', 'from: must be a time in Unix milliseconds, not "yesterday"'],
    ['?metric=a&from=2000&to=1000', 'from: 2000 is after to (1000): exchange them'],
    ['?metric=a&metric=b', 'metric: is given 2 times: give it once'],
    ['?metric=a&a-b=1', 'a-b: unknown parameter; there are metric, from, to, points, and names of labels'],
  ])('/api/v1/series%s is refused with what is wrong and what to do', async (query, message) => {
    await using running = await runServer()
    const answer = await get(`${running.url}/api/v1/series${query}`)
    expect([answer.status, errorOf(answer)]).toEqual([400, { code: 'bad_request', message }])
    expect(running.queries).toEqual([])
  })

  test('answers errors in one form', async () => {
    await using running = await runServer()
    const { url } = running
    const unknown = await get(`${url}/api/v1/nothing`)
    expect([unknown.status, errorOf(unknown).code]).toEqual([404, 'not_found'])
    const method = await get(`${url}/api/v1/gpus`, {}, 'DELETE')
    expect([method.status, method.headers['allow'], errorOf(method).code]).toEqual([405, 'GET, HEAD', 'method_not_allowed'])
    expect(await rawGet(url, '/api/v1/gpus', `Content-Length: ${MAX_BODY_BYTES + 1}\r\n`)).toContain(' 413 ')
    expect(await rawGet(url, '/api/v1/gpus', 'Transfer-Encoding: chunked\r\n')).toContain(' 413 ')
    const plain = await get(`${url}/ws`)
    expect([plain.status, errorOf(plain).code]).toEqual([400, 'bad_request'])
    expect((await get(`${url}/api/v1/gpus`, { x: 'y'.repeat(20_000) })).status).toBe(431)
  })

  test('too large an answer of the history is refused with its reason', async () => {
    const history = {
      query: () => {
        throw new AnswerTooLargeError('fewer points, please')
      },
    }
    await using running = await runServer({ http: { history } })
    const answer = await get(`${running.url}/api/v1/series?metric=a`)
    expect([answer.status, errorOf(answer)]).toEqual([400, { code: 'bad_request', message: 'fewer points, please' }])
    expect(running.errors).toEqual([])
  })

  test('a failure inside is told to the log, not to the reader', async () => {
    await using running = await runServer({
      http: {
        history: {
          query: () => {
            throw new Error('disk on fire')
          },
        },
      },
    })
    const answer = await get(`${running.url}/api/v1/series?metric=a`)
    expect([answer.status, errorOf(answer).code, answer.text.includes('fire')]).toEqual([500, 'internal', false])
    expect(running.errors.join()).toContain('disk on fire')
  })
})
