// A real llama-server of Debian sid in every place where one can be: in a container on Docker's bridge, as a router there, on the host's loopback, behind a
// Unix socket, under another name, and asleep. The agent finds them without configuration; figures are compared with the servers' own pages.
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compiler } from '../fakes/nvml/build.ts'
import { h100, type FakeScenario } from '../fakes/nvml/scenario.ts'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { dockerMissing, startDocker, type TestDocker } from '../setup/docker.ts'
import { freePort } from '../setup/free-port.ts'
import { imageOf, llamaRoot, runByLoader, runInRoot, TINY_CONTEXT, TINY_MODEL, type RunningLlama } from '../setup/llama-server.ts'
import { poll } from '../setup/poll.ts'

const found = dockerMissing === undefined && compiler !== undefined ? llamaRoot() : { missing: dockerMissing ?? 'needs a C compiler' }
const missing = 'missing' in found ? found.missing : undefined
const root = 'root' in found ? found.root : ''
const SOCKET = `/tmp/${process.pid}.sock`
const WITHIN_MS = 10_000
const ONE_THREAD = ['--threads', '1', '--threads-http', '4', '--no-webui']
const MODEL = ['--model', TINY_MODEL, ...ONE_THREAD]

type Row = Readonly<Record<string, unknown>>
const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value)
const isRows = (value: unknown): value is readonly Row[] => Array.isArray(value) && value.every(isRow)

/** Where a server answers the test. */
type Where = { readonly host: string; readonly port: number } | { readonly socketPath: string }
async function ask(where: Where, path: string, body?: unknown): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const sent = request({ ...where, path, method: body === undefined ? 'GET' : 'POST', agent: false }, (answer) => {
    let text = ''
    answer.setEncoding('utf8').on('data', (piece: string) => (text += piece))
    answer.on('end', () => (answer.statusCode === 200 ? resolve(text) : reject(new Error(`${path}: status ${answer.statusCode} ${text}`))))
  })
  sent.on('error', reject)
  sent.end(body === undefined ? undefined : JSON.stringify(body))
  return promise
}
const counter = (page: string, name: string): number => Number(new RegExp(`^llamacpp:${name} (\\S+)$`, 'm').exec(page)?.[1])
const prompt = (tokens: number) => ({ prompt: 'abc', n_predict: tokens, ignore_eos: true })

describe.skipIf(missing !== undefined)(`a real llama-server (${missing ?? 'Debian sid’s llama.cpp-tools'})`, () => {
  let docker: TestDocker
  let agent: RunningAgent | undefined
  let [loopback, renamed, asleep]: Where[] = []
  let bridged: Where = { socketPath: '' }
  const unix: Where = { socketPath: join(root, SOCKET) }
  const local = new Map<string, RunningLlama>()
  const ids = new Map<string, string>()
  const answers = async (where: Where | undefined, name: string): Promise<unknown> =>
    where && poll(async () => ask(where, '/props').catch(() => undefined), { what: () => `${name} to answer; it said ${local.get(name)?.said()}`, everyMs: 50 })
  const rows = async (): Promise<readonly Row[]> => {
    const answer = await agent?.json('/api/v1/servers')
    return isRows(answer) ? answer : []
  }
  const pidOf = async (name: string): Promise<number> => local.get(name)?.pid ?? docker.inspectPid(ids.get(name) ?? '')
  const rowOf = async (name: string): Promise<Row | undefined> => {
    const pid = await pidOf(name)
    return (await rows()).find((row) => row['pid'] === pid)
  }

  const addressOf = async (name: string): Promise<Where> => {
    const address = /"IPAddress":"(198\.18[\d.]+)"/.exec(await docker.must('GET', `/containers/${ids.get(name)}/json`))?.[1]
    return { host: address ?? '', port: 8_080 }
  }
  const holders = async () => Promise.all([...ids.keys(), ...local.keys()].map(async (name, at) => ({ pid: await pidOf(name), bytes: (at + 1) * 2 ** 28 })))
  const scenarioOf = (processes: Awaited<ReturnType<typeof holders>>): FakeScenario => ({
    values: { driver: '590.48.01', nvml: '13.590.48.01', cuda: 13_010, init: 0 },
    gpus: [h100(0, {}, processes)],
  })

  beforeAll(async () => {
    docker = await startDocker({ bridge: true })
    await docker.must('POST', '/images/create?fromSrc=-&repo=llama&tag=1', imageOf(root))
    const inContainer = async (name: string, args: readonly string[]): Promise<void> => {
      const command = ['/usr/bin/llama-server', ...args]
      ids.set(name, await docker.run({ name, image: 'llama:1', command, host: { NetworkMode: 'bridge' } }))
    }
    await inContainer('chat', [...MODEL, '--host', '0.0.0.0', '--port', '8080', '--metrics', '--parallel', '2'])
    await inContainer('routed', ['--models-dir', '/models', ...ONE_THREAD, '--host', '0.0.0.0', '--port', '8080'])
    const ports = [await freePort(), await freePort(), await freePort()]
    const [first = 0, second = 0, third = 0] = ports
    ;[loopback, renamed, asleep] = ports.map((port) => ({ host: '127.0.0.1', port }))
    local.set('loopback', runInRoot(root, [...MODEL, '--port', String(first), '--metrics', '--alias', 'little', '--ctx-size', '4096']))
    local.set('unix', runInRoot(root, [...MODEL, '--host', SOCKET]))
    local.set('renamed', runByLoader(root, ['--model', join(root, TINY_MODEL), ...ONE_THREAD, '--port', String(second)]))
    local.set('asleep', runInRoot(root, [...MODEL, '--port', String(third), '--sleep-idle-seconds', '1', '--metrics']))
    bridged = await addressOf('chat')
    for (const [name, where] of Object.entries({ chat: bridged, loopback, renamed, asleep, unix })) await answers(where, name)
    await ask(bridged, '/completion', prompt(40))
    if (asleep !== undefined) await poll(async () => (await ask(asleep ?? unix, '/props')).includes('"is_sleeping":true'), { what: 'a llama-server to sleep' })
    agent = await startAgent({ scenario: scenarioOf(await holders()), ready: true, env: { WARPWATCH_CONTAINERS__ENGINES: docker.socketPath } })
  }, 150_000)
  afterAll(async () => {
    await agent?.stop()
    for (const one of local.values()) await one.stop()
    rmSync(join(root, SOCKET), { force: true })
    await docker.close()
  })

  test('all six are found, each with what its own pages say', async () => {
    let last: readonly Row[] = []
    await poll(
      async () => {
        last = await rows()
        // Until the engine has said its name, a container is called by its number.
        const isNamed = [...ids.keys()].every((name) => last.some((row) => row['container'] === name))
        return isNamed && last.length === 6 && last.every((row) => row['server'] === 'llama.cpp' && row['state'] !== undefined && row['url'] !== '')
      },
      { what: () => `six servers; there are ${JSON.stringify(last)}`, deadlineMs: WITHIN_MS, everyMs: 100 },
    )
    const own = JSON.parse(await ask(bridged, '/props')) as unknown
    expect(own).toMatchObject({ total_slots: 2 })
    const page = await ask(bridged, '/metrics')
    const version = isRow(own) ? own['build_info'] : undefined
    expect(await rowOf('chat')).toMatchObject({
      name: 'chat',
      container: 'chat',
      version,
      model: 'tiny.gguf',
      quantization: 'all F32',
      state: 'ready',
      requests_running: 0,
      requests_waiting: 0,
      kv_cache_usage_ratio: 0,
      // Each of two slots has all that the model was made for.
      context: String(TINY_CONTEXT),
      kv_cache_capacity_tokens: 2 * TINY_CONTEXT,
      longest_request_tokens: counter(page, 'n_tokens_max'),
      tokens_total: { prompt: counter(page, 'prompt_tokens_total'), generation: 40 },
    })
    expect(counter(page, 'tokens_predicted_total')).toBe(40)
    expect(await rowOf('routed')).toMatchObject({ container: 'routed', state: 'ready', version })
    expect(await rowOf('loopback')).toMatchObject({ model: 'little', context: '4096', kv_cache_capacity_tokens: 4_096, state: 'ready' })
    expect(await rowOf('unix')).toMatchObject({ model: 'tiny.gguf', url: `unix://${SOCKET}`, state: 'ready', kv_cache_capacity_tokens: TINY_CONTEXT })
    // Without --metrics there are no counters, which is not 0.
    expect(await rowOf('renamed')).toMatchObject({ model: 'tiny.gguf', state: 'ready', requests_running: 0 })
    expect(await rowOf('renamed')).not.toHaveProperty('tokens_total')
    expect(await rowOf('asleep')).toMatchObject({ state: 'sleeping', version })
  }, 60_000)

  test('a request that is computed is seen, with the part of the KV cache that it takes', async () => {
    const ended = ask(bridged, '/completion', prompt(TINY_CONTEXT - 10)).catch((error: unknown) => error)
    const row = await poll(
      async () => {
        const now = await rowOf('chat')
        return now?.['requests_running'] === 1 && Number(now['kv_cache_usage_ratio']) > 0 ? now : undefined
      },
      { what: 'a running request', everyMs: 100 },
    )
    expect(Number(row['kv_cache_usage_ratio'])).toBeLessThanOrEqual(0.5)
    await docker.call('DELETE', `/containers/${ids.get('chat')}?force=1`)
    ids.delete('chat')
    expect(await ended).toBeInstanceOf(Error)
    await poll(async () => !(await rows()).some((one) => one['container'] === 'chat'), {
      what: 'the ended server to be gone',
      deadlineMs: WITHIN_MS,
      everyMs: 100,
    })
  }, 60_000)

  test('a router is asked without starting a model; one that is loaded is a server of its own on the loopback of its container', async () => {
    const pid = await pidOf('routed')
    // It starts them from a thread of their own.
    const children = (): readonly number[] =>
      readdirSync(`/proc/${pid}/task`)
        .flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' '))
        .filter(Boolean)
        .map(Number)
    expect(children()).toEqual([])
    expect(await rowOf('routed')).not.toHaveProperty('model')
    const address = await addressOf('routed')
    await ask(address, '/models/load', { model: 'tiny' })
    const [child = 0] = await poll(() => (children().length > 0 ? children() : undefined), { what: 'the router’s child' })
    agent?.tell(scenarioOf([...(await holders()).filter((one) => one.pid !== pid), { pid: child, bytes: 2 ** 28 }]))
    const row = await poll(async () => (await rows()).find((one) => one['pid'] === child && one['state'] === 'ready'), {
      what: 'the loaded model as a server',
      everyMs: 100,
    })
    expect(row).toMatchObject({ server: 'llama.cpp', container: 'routed', model: 'tiny', context: String(TINY_CONTEXT), requests_running: 0 })
    expect(row['url']).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  })

  test('who sleeps is left asleep', async () => {
    if (asleep === undefined) throw new Error('expected a server that sleeps')
    expect(local.get('asleep')?.said()).not.toContain('exiting sleeping state')
    expect(await ask(asleep, '/props')).toContain('"is_sleeping":true')
  })

  test('no page that is asked makes a server complain', () => {
    for (const one of local.values()) expect(one.said()).not.toMatch(/\b[EW] .*(?:unauthorized|not_supported|not found)/)
  })
})
