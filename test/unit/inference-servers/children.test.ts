// Ollama from 0.30 on: the llama-server of each of its models is asked for what Ollama itself does not tell.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Holder } from '../../../agent/sources/inference-servers/discover.ts'
import { freePort } from '../../setup/free-port.ts'
import type { MadeProcess } from './proc.ts'
import { infos, run, standIn, values } from './scene.ts'

/** As Ollama 0.30 is: it listens on its port, and a llama-server of its own for each model on one of chance. */
const ollama = (port: number, models: readonly number[]): MadeProcess[] => [
  { pid: 200, session: 200, comm: 'ollama', argv: ['/usr/local/bin/ollama', 'serve'], listens: [{ host: 'loopback', port }] },
  ...models.map((child, at) => ({
    pid: 201 + at,
    parent: 200,
    session: 200,
    comm: 'llama-server',
    argv: ['/usr/lib/ollama/llama-server', '--model', '/blobs/sha256-1', '--port', String(child), '--host', '127.0.0.1', '-c', '8192', '-np', '2'],
    listens: [{ host: 'loopback' as const, port: child }],
  })),
]
const slot = (tokens: number, isBusy = tokens > 0) => ({ id: 0, n_ctx: 4_096, is_processing: isBusy, ...(isBusy ? { n_prompt_tokens: tokens } : {}) })
const childPages = (...slots: readonly unknown[]): Record<string, string> => ({
  '/props': '{"build_info":"b10-x","total_slots":2,"model_path":"/blobs/sha256-1","is_sleeping":false}',
  '/slots': JSON.stringify(slots),
})
const OLLAMA: Record<string, string> = {
  '/api/version': '{"version":"0.33.0"}',
  '/api/ps': '{"models":[{"name":"a:7b","size":100,"size_vram":100,"context_length":4096}]}',
}

/** On a port that is not one of chance. */
const listening = async () => standIn(OLLAMA, () => 200, await freePort())

test('what Ollama does not tell comes from the llama-server of each of its models: running, KV cache', async () => {
  const [server, one, other] = [await listening(), await standIn(childPages(slot(1_024), slot(0))), await standIn(childPages(slot(2_048), slot(4_096)))]
  const holders: Holder[] = [201, 202].map((pid) => ({ pid, gpu: '0', bytes: 2 ** 30 }))
  const { round, proc } = run(ollama(server.port, [one.port, other.port]), holders)
  const said = await round()
  expect(infos(said)).toMatchObject([{ server: 'ollama', pid: '200', model: 'a:7b', version: '0.33.0', context: '4096', state: 'ready' }])
  expect(values(said)).toMatchObject({ requests_running: 3, kv_cache_usage_ratio: 6_144 / 8_192, kv_cache_capacity_tokens: 16_384, offloaded_ratio: 0 })
  expect(new Set([...one.asked, ...other.asked])).toEqual(new Set(['GET /props', 'GET /slots']))
  // The second is unloaded.
  holders.pop()
  proc.end(202)
  const before = other.asked.length
  expect(values(await round())).toMatchObject({ requests_running: 1, kv_cache_usage_ratio: 1_024 / 8_192, kv_cache_capacity_tokens: 8_192 })
  expect(other.asked.length).toBe(before)
})

test('a child that does not answer costs what it alone would tell; neither its port nor its name is taken for a server', async () => {
  const [server, child] = [await listening(), await standIn({ '/props': '{}' }, () => 500)]
  const { round } = run(ollama(server.port, [child.port]), [{ pid: 201, gpu: '0', bytes: 1 }])
  const said = await round()
  expect(infos(said)).toMatchObject([{ server: 'ollama', pid: '200', state: 'ready' }])
  expect(values(said)).not.toHaveProperty('requests_running')
  expect(said?.gaps).toMatchObject([{ detail: expect.stringContaining('GET /props: status 500') }])
})

test('a child that loads costs nothing, one that sleeps is asked no more', async () => {
  const pages: Record<string, string> = { '/props': '{"error":{"message":"Loading model"}}' }
  let status = 503
  const [server, child] = [await listening(), await standIn(pages, () => status)]
  const { round } = run(ollama(server.port, [child.port]), [{ pid: 201, gpu: '0', bytes: 1 }])
  expect((await round())?.gaps).toEqual([])
  status = 200
  pages['/props'] = '{"build_info":"b10-x","total_slots":2,"is_sleeping":true}'
  for (let count = 0; count < 5; count++) await round()
  expect(child.asked.filter((what) => what !== 'GET /props')).toEqual([])
  expect(child.asked.length).toBeLessThanOrEqual(3)
})

test('a model that is loaded again, into host memory, is reported although its server holds no GPU memory any more', async () => {
  const pages = { ...OLLAMA }
  const [server, child] = [await standIn(pages, () => 200, await freePort()), await standIn(childPages(slot(0)))]
  const holders: Holder[] = [{ pid: 201, gpu: '0', bytes: 2 ** 30 }]
  const { round, proc } = run(ollama(server.port, [child.port]), holders)
  expect(values(await round())).toMatchObject({ offloaded_ratio: 0 })
  holders.pop()
  proc.end(201)
  pages['/api/ps'] = '{"models":[{"name":"a:7b","size":100,"size_vram":0}]}'
  const said = await round()
  expect(infos(said)).toMatchObject([{ server: 'ollama', pid: '200', gpu: '', model: 'a:7b' }])
  expect(values(said)).toMatchObject({ offloaded_ratio: 1 })
  expect(said?.gaps).toEqual([])
  proc.end(200)
  expect((await round())?.readings).toEqual([])
})

test('layers that the log says are on the CPU count, whatever the page says', async () => {
  const [server, child] = [await listening(), await standIn(childPages(slot(0)))]
  const { round, proc } = run(ollama(server.port, [child.port]), [{ pid: 201, gpu: '0', bytes: 2 ** 30 }])
  writeFileSync(
    join(proc.root, '201/fd/1'),
    'load_tensors: offloaded 30/40 layers to GPU\nload_tensors:   CPU_Mapped model buffer size =  1000.00 MiB\nload_tensors:        CUDA0 model buffer size =  3000.00 MiB\n',
  )
  const said = await round()
  expect(infos(said)).toMatchObject([{ server: 'ollama', layers: '30/40' }])
  expect(values(said)).toMatchObject({ offloaded_ratio: 0.25, 'memory_bytes weights': 3_000 * 2 ** 20 })
})
