// Inference servers in real containers, found by a real agent without configuration: the host's network, an address of their own, the loopback of a
// container, a Unix socket, and two containers that share a network as those of a pod do. Figures are compared with what the servers' own pages say.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compiler } from '../fakes/nvml/build.ts'
import { h100, type FakeScenario } from '../fakes/nvml/scenario.ts'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { dockerMissing, startDocker, type TestDocker } from '../setup/docker.ts'
import { freePort } from '../setup/free-port.ts'
import { poll } from '../setup/poll.ts'

const missing = dockerMissing ?? (compiler === undefined ? 'needs a C compiler' : undefined)
const GIB = 2 ** 30
const WITHIN_MS = 10_000

const vllmPages = (running: number, tokens: number): Record<string, string> => ({
  '/version': '{"version":"0.30.1"}',
  '/metrics': [
    `vllm:num_requests_running{engine="0",model_name="lab/small-7b"} ${running}`,
    'vllm:num_requests_waiting{engine="0",model_name="lab/small-7b"} 3',
    'vllm:kv_cache_usage_perc{engine="0",model_name="lab/small-7b"} 0.625',
    `vllm:generation_tokens_total{engine="0",model_name="lab/small-7b"} ${tokens}`,
    'vllm:cache_config_info{engine="0",block_size="16",num_gpu_blocks="1000",gpu_memory_utilization="0.88"} 1',
    '',
  ].join('\n'),
  '/v1/models': '{"data":[{"id":"lab/small-7b","max_model_len":16384}]}',
})
const VLLM_LOG =
  '(EngineCore pid=7) INFO 11-20 10:00:00 [gpu_model_runner.py:1] Model loading took 14.25 GiB memory and 3.5 seconds\n' +
  '(EngineCore pid=7) INFO 11-20 10:00:09 [gpu_worker.py:1] Available KV cache memory: 20.50 GiB'
const OLLAMA_PAGES = {
  '/api/version': '{"version":"0.33.1"}',
  '/api/ps': JSON.stringify({
    models: [{ name: 'tiny:1b', model: 'tiny:1b', size: 4 * GIB, size_vram: 3 * GIB, context_length: 4_096, details: { quantization_level: 'Q4_K_M' } }],
  }),
}
const CHILD_PAGES = {
  '/props': '{"build_info":"b11669-1","total_slots":2,"model_path":"/blobs/sha256-1","is_sleeping":false}',
  '/slots': JSON.stringify([
    { id: 0, n_ctx: 4_096, is_processing: true, n_prompt_tokens: 2_048 },
    { id: 1, n_ctx: 4_096, is_processing: false },
  ]),
}
const SGLANG_PAGES = {
  '/model_info': '{"model_path":"lab/other-3b","is_generation":true}',
  '/metrics': 'sglang:num_running_reqs{model_name="lab/other-3b",tp_rank="0"} 2\nsglang:token_usage{model_name="lab/other-3b",tp_rank="0"} 0.25\n',
}
/** No paths but these, and never another method. */
const ALLOWED = /^GET \/(?:version|metrics|v1\/models|api\/version|api\/ps|model_info|props|slots|v1\/loads\?include=core,memory,queues)$/

type Row = Readonly<Record<string, unknown>>
const isRows = (value: unknown): value is readonly Row[] => Array.isArray(value)

describe.skipIf(missing !== undefined)(`inference servers in containers (${missing ?? 'Docker and a stand-in for NVML'})`, () => {
  let docker: TestDocker
  let agent: RunningAgent | undefined
  const ids = new Map<string, string>()
  let hostPort = 0

  const engineOf = async (name: string): Promise<number> => {
    const pid = await docker.inspectPid(ids.get(name) ?? '')
    return poll(() => Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]) || undefined, { what: `the engine of ${name}` })
  }
  const start = async (name: string, program: string, args: readonly string[], env: Readonly<Record<string, string>>, network: string): Promise<void> => {
    const node = dirname(dirname(process.execPath))
    const script = join(import.meta.dirname, '../fakes/inference/server.cjs')
    const Binds = [...new Set(['/usr', '/lib', '/lib64', node])].map((path) => `${path}:${path}:ro`)
    const host = { NetworkMode: network, Binds: [...Binds, `${script}:/app/${program}:ro`] }
    const command = [process.execPath, `/app/${program}`, 'serve', ...args]
    ids.set(name, await docker.run({ name, command, env: Object.entries(env).map(([key, value]) => `${key}=${value}`), host }))
  }
  const rows = async (): Promise<readonly Row[]> => {
    const found = await agent?.json('/api/v1/servers')
    return isRows(found) ? found : []
  }

  beforeAll(async () => {
    docker = await startDocker({ bridge: true })
    hostPort = await freePort()
    const vllm = (listen: string, running: number) => ({ LISTEN: listen, PAGES: JSON.stringify(vllmPages(running, 5_000)), LOG: VLLM_LOG })
    await start('on-host', 'vllm', ['lab/small-7b', '--port', String(hostPort)], vllm(`127.0.0.1:${hostPort}`, 1), 'host')
    await start('own-address', 'vllm', ['lab/small-7b'], vllm('0.0.0.0:8000', 2), 'bridge')
    await start('by-socket', 'vllm', ['lab/small-7b', '--uds', '/vllm.sock'], vllm('/vllm.sock', 4), 'none')
    await start(
      'loopback',
      'ollama',
      [],
      { LISTEN: '127.0.0.1:11434', PAGES: JSON.stringify(OLLAMA_PAGES), ENGINE: '/usr/lib/ollama/llama-server', CHILD: JSON.stringify(CHILD_PAGES) },
      'none',
    )
    const pod = `container:${ids.get('loopback')}`
    await start(
      'neighbour',
      'sglang',
      ['--port', '30000'],
      { LISTEN: '127.0.0.1:30000', PAGES: JSON.stringify(SGLANG_PAGES), ENGINE: 'sglang::scheduler' },
      pod,
    )
    const processes = await Promise.all([...ids.keys()].map(async (name) => ({ pid: await engineOf(name), bytes: 10 * GIB })))
    const scenario: FakeScenario = { values: { driver: '590.48.01', nvml: '13.590.48.01', cuda: 13_010, init: 0 }, gpus: [h100(0, {}, processes)] }
    agent = await startAgent({ scenario, ready: true, env: { WARPWATCH_CONTAINERS__ENGINES: docker.socketPath } })
  })
  afterAll(async () => {
    await agent?.stop()
    await docker.close()
  })

  test('all are found within ten seconds, with what their own pages and logs say', async () => {
    let last: readonly Row[] = []
    const isWhole = ({ server, state, memory_bytes: memory }: Row): boolean => state === 'ready' && (server !== 'vllm' || memory !== undefined)
    const found = await poll(
      async () => {
        last = await rows()
        // Until the engine has said its name, a container is called by its number.
        const isNamed = [...ids.keys()].every((name) => last.some(({ container }) => container === name))
        return isNamed && last.length === 5 && last.every(isWhole) ? last : undefined
      },
      { what: () => `five servers; there are ${JSON.stringify(last)}`, deadlineMs: WITHIN_MS, everyMs: 100 },
    )
    const byName = new Map(found.map((row) => [row['container'], row]))
    const split = { weights: 14.25 * GIB, kv_cache: 20.5 * GIB }
    const vllm = {
      server: 'vllm',
      version: '0.30.1',
      model: 'lab/small-7b',
      requests_waiting: 3,
      kv_cache_usage_ratio: 0.625,
      kv_cache_capacity_tokens: 16_000,
    }
    expect(byName.get('on-host')).toMatchObject({ ...vllm, requests_running: 1, url: `http://127.0.0.1:${hostPort}`, memory_bytes: split })
    expect(byName.get('own-address')).toMatchObject({
      ...vllm,
      requests_running: 2,
      url: expect.stringMatching(/^http:\/\/198\.18\.\d+\.\d+:8000$/),
      memory_bytes: split,
    })
    expect(byName.get('by-socket')).toMatchObject({ ...vllm, requests_running: 4, url: 'unix:///vllm.sock', memory_bytes: split })
    expect(byName.get('loopback')).toMatchObject({
      server: 'ollama',
      version: '0.33.1',
      model: 'tiny:1b',
      offloaded_ratio: 0.25,
      // Of its model's own llama-server.
      requests_running: 1,
      kv_cache_usage_ratio: 0.25,
      kv_cache_capacity_tokens: 8_192,
    })
    expect(byName.get('neighbour')).toMatchObject({ server: 'sglang', model: 'lab/other-3b', requests_running: 2, kv_cache_usage_ratio: 0.25 })
  })

  test('only allowed pages are asked, by GET, and no metrics page more often than each five seconds', async () => {
    for (const id of ids.values()) {
      const log = await docker.call('GET', `/containers/${id}/logs?stdout=1&stderr=1&timestamps=1`)
      const asked = Array.from(log.body.matchAll(/(\d{4}-\S+Z) ASKED (.+)/g), ([, time = '', what = '']) => ({ t: Date.parse(time), what: what.trim() }))
      expect(asked.length).toBeGreaterThan(0)
      expect(asked.filter(({ what }) => !ALLOWED.test(what))).toEqual([])
      const scrapes = asked.filter(({ what }) => what === 'GET /metrics').map(({ t }) => t)
      // One that a busy machine sends late comes nearer to the next: what counts is how many there are.
      expect(scrapes.length, `GET /metrics at ${scrapes.join()}`).toBeLessThanOrEqual(2 + Math.floor(((scrapes.at(-1) ?? 0) - (scrapes[0] ?? 0)) / 5_000))
    }
  })

  test('a server that has ended is gone within ten seconds, an engine that has ended leaves a dead one', async () => {
    process.kill(await engineOf('on-host'), 'SIGKILL')
    const id = ids.get('by-socket') ?? ''
    await docker.call('DELETE', `/containers/${id}?force=1`)
    let last: readonly Row[] = []
    await poll(
      async () => {
        last = await rows()
        const dead = last.find(({ container }) => container === 'on-host')
        return dead?.['state'] === 'dead' && !last.some(({ container }) => container === 'by-socket') ? true : undefined
      },
      { what: () => `one gone and one dead; there are ${JSON.stringify(last)}`, deadlineMs: WITHIN_MS, everyMs: 100 },
    )
    await docker.removeAll()
    expect(last.find(({ container }) => container === 'on-host')).toMatchObject({ state: 'dead' })
    await poll(async () => (await rows()).length === 0, { what: 'no server', deadlineMs: WITHIN_MS, everyMs: 100 })
  })
})
