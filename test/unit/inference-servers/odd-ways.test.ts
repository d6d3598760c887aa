// Servers whose pages are guarded, moved, compressed, or that share a family with others: asked for what they give, and never in another way.
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { freePort } from '../../setup/free-port.ts'
import { webServer } from '../../setup/web-server.ts'
import type { MadeProcess } from './proc.ts'
import { HOLDER, infos, METRICS, run, standIn, values, vllm, vllmPages } from './scene.ts'

const named = (argv: readonly string[], port: number): MadeProcess[] => [
  { pid: 100, session: 100, argv: [...argv, '--port', String(port)], listens: [{ host: 'any', port }] },
  { pid: 101, parent: 100, session: 100, argv: ['engine'] },
]

test('a vLLM and an SGLang that want a key for some pages are asked for the others alone, so that none is refused', async () => {
  const { asked, port } = await standIn(vllmPages())
  const [server, engine] = vllm(port)
  if (server === undefined || engine === undefined) throw new Error('expected two processes')
  const guarded = run([{ ...server, argv: [...server.argv, '--api-key', 'sk-1'] }, engine], [HOLDER])
  expect(infos(await guarded.round())).toMatchObject([{ server: 'vllm', model: 'org/m', state: 'ready', version: '0.23.1' }])
  await guarded.round(60_000)
  expect([...new Set(asked)]).toEqual(['GET /version', 'GET /metrics'])

  const page = 'sglang:num_running_reqs{model_name="lab/x"} 3\n'
  const other = await standIn({ '/metrics': page, '/model_info': '{"model_path":"lab/x","is_generation":true}' })
  const sglang = run(named(['python3', '-m', 'sglang.launch_server', '--api-key=sk-2'], other.port), [HOLDER])
  expect(values(await sglang.round())).toMatchObject({ requests_running: 3 })
  expect([...new Set(other.asked)]).toEqual(['GET /metrics'])
})

test('with a key of the configuration all pages are asked', async () => {
  const { asked, port } = await standIn(vllmPages())
  const [server, engine] = vllm(port)
  if (server === undefined || engine === undefined) throw new Error('expected two processes')
  const { round } = run([{ ...server, argv: [...server.argv, '--api-key', 'sk-1'] }, engine], [HOLDER], { keys: { [`vllm:${port}`]: 'sk-1' } })
  expect(infos(await round())).toMatchObject([{ context: '4096' }])
  expect(asked).toContain('GET /v1/models')
})

test('a page that moved behind a slash is asked there from then on; no other redirection is followed', async () => {
  const asked: string[] = []
  const { url } = await webServer((request, answer) => {
    asked.push(request.url ?? '')
    if (request.url === '/prometheus/metrics') answer.writeHead(307, { location: '/prometheus/metrics/' }).end()
    else if (request.url === '/prometheus/metrics/') answer.end('trtllm_num_requests_running{model_name="m"} 4\n')
    else answer.writeHead(302, { location: 'http://127.0.0.1:9/elsewhere' }).end()
  })
  const port = Number(new URL(url).port)
  const { round } = run(named(['trtllm-serve', 'm'], port), [HOLDER])
  // Its version page sends elsewhere: a gap, and nobody is asked there.
  expect((await round())?.gaps).toMatchObject([{ detail: expect.stringContaining('status 302') }])
  expect(asked).toEqual(['/version'])

  const moved = await webServer((request, answer) => {
    asked.push(request.url ?? '')
    if (request.url === '/metrics') answer.writeHead(307, { location: `http://localhost/metrics/` }).end()
    else answer.end(request.url === '/metrics/' ? METRICS(5) : '{"version":"1.0.0","data":[]}')
  })
  const vllms = run(vllm(Number(new URL(moved.url).port)), [HOLDER])
  expect(values(await vllms.round())).toMatchObject({ requests_running: 2 })
  asked.length = 0
  expect(values(await vllms.round())).toMatchObject({ 'tokens_total generation': 5 })
  expect(asked).toEqual(['/metrics/'])
})

test('a page that comes compressed is unpacked, and one that grows beyond all bounds is a gap', async () => {
  let page = gzipSync(METRICS(7))
  const { url } = await webServer((request, answer) => {
    if (request.url === '/metrics') answer.writeHead(200, { 'content-encoding': 'gzip' }).end(page)
    else answer.end('{"version":"1.0.0","data":[]}')
  })
  const { round } = run(vllm(Number(new URL(url).port)), [HOLDER])
  expect(values(await round())).toMatchObject({ 'tokens_total generation': 7 })
  page = gzipSync('x'.repeat(8 * 2 ** 20))
  expect((await round())?.gaps).toMatchObject([{ detail: expect.stringContaining('cannot be unpacked') }])
})

test('a llama-server whose pages are all behind a prefix', async () => {
  const { asked, port } = await standIn({ '/llm/props': '{"build_info":"b9000-x","total_slots":1,"model_path":"/m/a.gguf"}', '/llm/slots': '[]' })
  const { round } = run(named(['llama-server', '--api-prefix', '/llm/'], port), [HOLDER])
  expect(infos(await round())).toMatchObject([{ server: 'llama.cpp', model: 'a.gguf' }])
  expect(asked.filter((one) => !one.startsWith('GET /llm/'))).toEqual([])
})

test('two servers behind one router have each their own engine', async () => {
  // As in life: those of chance are never asked unless a command line names them.
  const ports = [await freePort(), await freePort()]
  const [one, two] = [await standIn({}, undefined, ports[0]), await standIn({}, undefined, ports[1])]
  const server = (pid: number, port: number): MadeProcess[] => [
    { pid, parent: 10, session: 10, argv: ['sglang::server'], listens: [{ host: 'loopback', port }] },
    { pid: pid + 1, parent: pid, session: 10, argv: ['sglang::scheduler'] },
  ]
  const router = { pid: 10, session: 10, argv: ['python3', '-m', 'sglang_router.launch_server', '--port', '30000'] }
  const { round } = run(
    [router, ...server(20, one.port), ...server(30, two.port)],
    [
      { pid: 21, gpu: '0', bytes: 1 },
      { pid: 31, gpu: '1', bytes: 1 },
    ],
  )
  const found = infos(await round()).map(({ pid, gpu }) => [pid, gpu])
  expect(found).toEqual([
    ['20', '0'],
    ['30', '1'],
  ])
})
