// The source of inference servers on a made /proc, with real HTTP servers that record what they are asked.
import type { ServerResponse } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { FAMILIES } from '../../../agent/servers/recognise.ts'
import type { Holder } from '../../../agent/sources/inference-servers/discover.ts'
import { webServer } from '../../setup/web-server.ts'
import { HOLDER, infos, METRICS, run, standIn, values, vllm, vllmPages } from './scene.ts'

test('who holds no GPU memory on a host costs and says nothing', async () => {
  const { round } = run([], [])
  expect([await round(), await round()]).toEqual([undefined, undefined])
})

test('an Ollama that computes on the CPU from its start on holds no GPU memory and is found by its name, and what else listens is not', async () => {
  const ps = JSON.stringify({ models: [{ name: 'big:70b', size: 40e9, size_vram: 0, context_length: 4_096 }] })
  const { asked, port } = await standIn({ '/api/version': '{"version":"0.33.1"}', '/api/ps': ps })
  const other = await standIn({})
  const { round, proc } = run([{ pid: 4, argv: ['python3', 'train.py'], listens: [{ host: 'any', port: other.port }] }], [])
  expect(await round()).toBeUndefined()
  const ollama = { pid: 50, session: 50, comm: 'ollama', argv: ['/usr/local/bin/ollama', 'serve', '--port', String(port)] }
  // It does not listen at once, and a client of it has the same name.
  proc.add(ollama)
  proc.add({ pid: 60, session: 60, comm: 'ollama', argv: ['ollama', 'run', 'big:70b'] })
  expect(infos(await round())).toEqual([])
  proc.listen(50, port)
  const scrape = await round()
  expect(infos(scrape)).toMatchObject([{ server: 'ollama', pid: '50', gpu: '', version: '0.33.1', model: 'big:70b', state: 'ready' }])
  expect(values(scrape)).toMatchObject({ offloaded_ratio: 1 })
  expect([asked.slice(0, 2), other.asked]).toEqual([['GET /api/version', 'GET /api/ps'], []])
  proc.end(50)
  expect(infos(await round())).toEqual([])
})

test('a server is found behind its engine in the first round and asked by GET alone, its configuration once a minute', async () => {
  const pages = vllmPages()
  const { asked, port } = await standIn(pages)
  const { round } = run(vllm(port), [HOLDER, { ...HOLDER, gpu: '1' }])
  const first = await round()
  expect(infos(first)).toEqual([
    {
      name: `vllm:${port}`,
      container: '',
      pid: '100',
      gpu: '0,1',
      server: 'vllm',
      version: '0.23.1',
      model: 'org/m',
      quantization: '',
      context: '4096',
      state: 'ready',
      url: `http://127.0.0.1:${port}`,
      memory_share: '',
      layers: '',
    },
  ])
  expect(values(first)).toMatchObject({ requests_running: 2, requests_waiting: 1, kv_cache_usage_ratio: 0.25, kv_cache_capacity_tokens: 1_600 })
  pages['/metrics'] = METRICS(500)
  expect(values(await round())).toMatchObject({ 'tokens_rate generation': 100, 'tokens_total generation': 500 })
  expect(asked).toEqual(['GET /version', 'GET /metrics', 'GET /v1/models', 'GET /metrics'])
})

test('an engine that ended behind a port that answers is dead, and what has ended is gone', async () => {
  const { port, asked } = await standIn(vllmPages())
  const { round, holders, proc } = run(vllm(port), [HOLDER])
  await round()
  holders.pop()
  proc.end(101)
  const before = asked.length
  const dead = await round()
  expect(infos(dead)).toMatchObject([{ state: 'dead', gpu: '' }])
  expect(values(dead)).toEqual({ server_info: 1 })
  expect(asked.length).toBe(before)
  proc.end(100)
  expect((await round())?.readings).toEqual([])
  expect(await round()).toBeUndefined()
})

test('a server that has loaded is one, not one that loads beside one that answers', async () => {
  const { port } = await standIn(vllmPages())
  const [server, engine] = vllm(port)
  if (server === undefined || engine === undefined) throw new Error('expected a server and its engine')
  const { round, proc } = run([{ ...server, listens: [] }, engine], [HOLDER])
  expect(infos(await round())).toMatchObject([{ state: 'loading' }])
  proc.listen(100, port)
  expect(infos(await round())).toMatchObject([{ state: 'ready', url: `http://127.0.0.1:${port}` }])
})

test('bound but not yet listening: it loads', async () => {
  const [server, engine] = vllm(8_000)
  const { round } = run(server === undefined || engine === undefined ? [] : [{ ...server, listens: [] }, engine], [HOLDER])
  expect(infos(await round())).toMatchObject([{ server: 'vllm', state: 'loading', pid: '100', url: '' }])
})

test('after 401 it is never asked again, and what to do is said', async () => {
  const { asked, port } = await standIn({ '/props': '{}' }, () => 401)
  const argv = ['llama-server', '--port', String(port)]
  const { round } = run([{ pid: 7, argv, listens: [{ host: 'loopback', port }] }], [{ pid: 7, gpu: '0', bytes: 1 }])
  const first = await round()
  for (let count = 0; count < 30; count++) await round()
  expect(asked).toEqual(['GET /props'])
  expect(first?.gaps).toMatchObject([{ detail: expect.stringContaining('servers.keys') }])
})

test('a key of the configuration is sent to that server', async () => {
  const keys: (string | undefined)[] = []
  const server = await webServer((request, answer) => {
    keys.push(request.headers.authorization)
    answer.writeHead(404).end()
  })
  const port = Number(new URL(server.url).port)
  const { round } = run(vllm(port), [HOLDER], { keys: { [`vllm:${port}`]: 's3cret' } })
  const said = await round()
  expect(new Set(keys)).toEqual(new Set(['Bearer s3cret']))
  expect(JSON.stringify(said)).not.toContain('s3cret')
})

test('asleep it is not asked until its memory grows again', async () => {
  const pages: Record<string, string> = { '/props': '{"build_info":"b9-x","total_slots":1,"is_sleeping":true}', '/slots': '[]' }
  const { asked, port } = await standIn(pages)
  const holders: Holder[] = [{ pid: 7, gpu: '0', bytes: 2 ** 30 }]
  const { round } = run([{ pid: 7, argv: ['llama-server', '--port', String(port)], listens: [{ host: 'any', port }] }], holders)
  expect(infos(await round())).toMatchObject([{ state: 'sleeping' }])
  const before = asked.length
  for (let count = 0; count < 20; count++) expect(infos(await round())).toMatchObject([{ state: 'sleeping' }])
  expect(asked.length).toBe(before)
  expect(asked).not.toContain('GET /slots')
  pages['/props'] = '{"build_info":"b9-x","total_slots":1,"is_sleeping":false}'
  holders[0] = { pid: 7, gpu: '0', bytes: 8 * 2 ** 30 }
  expect(infos(await round())).toMatchObject([{ state: 'ready' }])
})

test('endless, huge and garbage answers cost a gap, and after three it is left alone for a minute', async () => {
  let answers = 0
  const server = await webServer((request, answer) => {
    answers++
    if (request.url === '/version') {
      answer.end('{"version":"1"}')
      return
    }
    // As long as someone reads.
    answer.writeHead(200)
    const more = (): void => {
      while (!answer.destroyed && answer.write('x'.repeat(2 ** 16)));
      if (!answer.destroyed) answer.once('drain', more)
    }
    more()
  })
  const { round } = run(vllm(Number(new URL(server.url).port)), [HOLDER])
  const first = await round()
  expect(first?.gaps).toMatchObject([{ detail: expect.stringContaining('more than 2 MiB') }])
  expect(values(first)).toEqual({ server_info: 1, unanswered_seconds: 0 })
  for (let count = 0; count < 6; count++) await round()
  expect(answers).toBe(4)
})

test('of 200 MB no more is taken than 2 MiB and what the connection holds', async () => {
  const PIECE = Buffer.alloc(2 ** 20, 'vllm:x 1\n')
  let sent = 0
  const server = await webServer((request, answer) => {
    if (request.url === '/version') {
      answer.end('{"version":"1"}')
      return
    }
    answer.writeHead(200, { 'content-length': 200 * PIECE.length })
    let pieces = 0
    const more = (): void => {
      while (pieces < 200 && !answer.destroyed) {
        pieces++
        sent += PIECE.length
        if (!answer.write(PIECE)) break
      }
      if (pieces < 200 && !answer.destroyed) answer.once('drain', more)
    }
    more()
  })
  const { round } = run(vllm(Number(new URL(server.url).port)), [HOLDER])
  expect((await round())?.gaps).toMatchObject([{ detail: expect.stringContaining('more than 2 MiB') }])
  expect(sent).toBeLessThan(20 * PIECE.length)
})

test.each([
  ['garbage', (answer: ServerResponse) => void answer.end(Buffer.from(Array.from({ length: 4_096 }, (_, at) => (at * 73) % 256)))],
  ['200 MB that it announces', (answer: ServerResponse) => void answer.writeHead(200, { 'content-length': 200 * 2 ** 20 }).write('x'.repeat(2 ** 20))],
  ['a page that stops in the middle', (answer: ServerResponse) => void answer.writeHead(200, { 'content-length': 1_000 }).write(METRICS(0).slice(0, 100))],
  ['no answer for as long as one waits', () => {}],
  [
    'a page that comes a byte a tenth of a second',
    (answer: ServerResponse) => {
      const drip = setInterval(() => answer.write('v'), 100)
      answer.on('close', () => clearInterval(drip))
    },
  ],
  ['a connection that ends at once', (answer: ServerResponse) => void answer.destroy()],
  ['headers without an end', (answer: ServerResponse) => void answer.socket?.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(2 ** 17)}`)],
])('%s costs a gap or nothing: what else it said stays, and another server is asked as always', async (_, metrics) => {
  const open: ServerResponse[] = []
  const broken = await webServer((request, answer) => {
    open.push(answer)
    if (request.url === '/version') answer.end('{"version":"1"}')
    else metrics(answer)
  })
  onTestFinished(() => open.forEach((one) => one.destroy()))
  const { asked, port } = await standIn(vllmPages())
  const { round } = run(vllm(Number(new URL(broken.url).port)), [HOLDER], { add: { other: `vllm http://127.0.0.1:${port}` } })
  const first = await round()
  expect(infos(first).map(({ version }) => version)).toEqual(expect.arrayContaining(['1', '0.23.1']))
  // Nothing of the broken one is made up.
  expect((first?.readings ?? []).filter(({ series: { metric } }) => metric.name === 'warpwatch_inference_requests_running')).toHaveLength(1)
  expect(asked).toContain('GET /metrics')
})

test('of each family only its own pages are asked, by GET, once in five seconds at most', async () => {
  for (const family of FAMILIES) {
    const asked: { readonly what: string; readonly at: number }[] = []
    let at = 0
    const server = await webServer((request, answer) => {
      asked.push({ what: `${request.method ?? ''} ${request.url ?? ''}`, at })
      answer.end('{}')
    })
    const { round } = run([], [], { add: { one: `${family.id} ${server.url}` } })
    for (; at < 14; at++) await round()
    const allowed = [family.proof.path, ...family.pages.map(({ path }) => path)].map((path) => `GET ${path}`)
    expect(asked.length).toBeGreaterThan(0)
    expect(asked.filter(({ what }) => !allowed.includes(what))).toEqual([])
    const inOneRound = Map.groupBy(asked, ({ what, at: round }) => `${round} ${what}`)
    // What proves a family may be one of its pages, asked then for what it says.
    expect([...inOneRound].filter(([key, all]) => all.length > (key === `0 GET ${family.proof.path}` ? 2 : 1))).toEqual([])
    const seldom = new Set(family.pages.filter(({ rate }) => rate === 'rare').map(({ path }) => `GET ${path}`))
    for (const what of seldom) expect(asked.filter((one) => one.what === what).length).toBeLessThanOrEqual(what === `GET ${family.proof.path}` ? 3 : 2)
  }
})

test('in a network namespace of its own and nobody who can connect inside: the reason, and never the same port of the host', async () => {
  const { port, asked } = await standIn(vllmPages())
  const container = { name: 'chat', image: 'vllm/vllm-openai:v0.23.1' }
  const inside = vllm(port).map((made) => ({ ...made, cgroup: '0::/docker/c', namespace: 'net:[2]', container }))
  const { round } = run(inside, [HOLDER])
  // The made namespace has no address but loopback.
  expect((await round())?.gaps).toMatchObject([{ detail: expect.stringContaining(`127.0.0.1:${port} of its network namespace`) }])
  const alone = run(
    inside.map((made) => ({ ...made, ...(made.listens === undefined ? {} : { listens: [{ host: 'loopback' as const, port }] }) })),
    [HOLDER],
  )
  const said = await alone.round()
  expect(infos(said)).toMatchObject([{ name: 'chat', container: 'chat', server: 'vllm' }])
  expect(said?.gaps).toMatchObject([{ detail: expect.stringContaining('of its network namespace') }])
  expect(asked).toEqual([])
})

test('a training job that listens is never asked, whatever its ports', async () => {
  const { asked, port } = await standIn(vllmPages())
  const { round } = run(
    [
      {
        pid: 9,
        argv: ['python3', 'train.py'],
        listens: [
          { host: 'any', port },
          { host: 'any', port: 29_500 },
          { host: 'any', port: 8_000 },
        ],
      },
    ],
    [{ pid: 9, gpu: '0', bytes: 1 }],
  )
  expect((await round())?.readings).toEqual([])
  expect(asked).toEqual([])
})

test('added, named and forbidden by the configuration', async () => {
  const { port, asked } = await standIn({ '/api/version': '{"version":"0.33.0"}', '/api/ps': '{"models":[]}' })
  const url = `http://127.0.0.1:${port}`
  const { round } = run([], [], { add: { chat: `ollama ${url}` } })
  expect(infos(await round())).toMatchObject([{ name: 'chat', server: 'ollama', version: '0.33.0', state: 'ready' }])
  const before = asked.length
  const forbidden = run([{ pid: 5, argv: ['ollama', 'serve'], listens: [{ host: 'any', port: 11_434 }] }], [{ pid: 5, gpu: '0', bytes: 1 }], {
    forbid: ['ollama'],
  })
  expect(infos(await forbidden.round())).toMatchObject([{ server: 'ollama', state: '' }])
  expect(asked.length).toBe(before)
})
