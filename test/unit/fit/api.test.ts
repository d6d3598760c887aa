// /api/v1/fit and `warpwatch fit` against a served host with a real history: who is idle, what the last days' peak was, and what is refused.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { catalogue } from '../../../agent/catalogue.ts'
import { report, room } from '../../../agent/http/api/fit-schemas.ts'
import type { Reading } from '../../../agent/model/reading.ts'
import { makeSeries, type Labels } from '../../../agent/model/series.ts'
import { createHistory } from '../../../agent/store/history.ts'
import { dispatch } from '../../../agent/cli/dispatch.ts'
import { runCli } from '../cli/run-cli.ts'
import { scrape } from '../http/fixture.ts'
import { get, runServer } from '../http/running.ts'
import { CONFIGS } from './configs.ts'

const GIB = 2 ** 30
const START = 1_763_600_000_000
const MINUTES = 40
const folder = mkdtempSync(join(tmpdir(), 'warpwatch-fit-api-'))

function reading(name: string, labels: Labels, value: number): Reading {
  const metric = catalogue.find((one) => one.name === name)
  if (metric === undefined) throw new Error(`no metric ${name}`)
  return { series: makeSeries(metric, labels), value }
}
const of = (gpu: string): Labels => ({ gpu, uuid: `GPU-${gpu}` })
const gpuReadings = (gpu: string, usedGib: number, utilization: number, peakGib = usedGib): readonly Reading[] => [
  reading('warpwatch_gpu_info', { ...of(gpu), name: 'NVIDIA GeForce RTX 4090' }, 1),
  reading('warpwatch_gpu_memory_total_bytes', of(gpu), 24 * GIB),
  reading('warpwatch_gpu_memory_reserved_bytes', of(gpu), GIB / 2),
  reading('warpwatch_gpu_memory_used_bytes', of(gpu), usedGib * GIB),
  reading('warpwatch_gpu_memory_used_peak_bytes', of(gpu), peakGib * GIB),
  reading('warpwatch_gpu_utilization_ratio', of(gpu), utilization),
]
const process = (gpu: string, pid: number, gib: number, rest: Labels = {}): Reading =>
  reading('warpwatch_process_gpu_memory_bytes', { ...of(gpu), pid: String(pid), process: 'python3', type: 'C', ...rest }, gib * GIB)

let running: Awaited<ReturnType<typeof runServer>>
const history = createHistory({ directory: folder, log: { info: () => {}, warn: () => {}, error: () => {} }, now: () => START })

beforeAll(async () => {
  running = await runServer({ empty: true, http: { history } })
  const end = START + MINUTES * 60_000
  for (let t = START; t <= end; t += 10_000) {
    // GPU 0 is held and idle, GPU 1 works and was fuller once, GPU 2 is empty now and always.
    const filled = t === START + 300_000
    const readings = [...gpuReadings('0', 20, 0), ...gpuReadings('1', 12, 0.7, filled ? 22 : 12), ...gpuReadings('2', 0, 0)]
    const event = scrape('gpu', 'all', t, [
      ...readings,
      process('0', 11, 19, { container: 'notebook' }),
      process('0', 12, 1, { type: 'G' }),
      process('1', 21, 12),
    ])
    history.ingest(event)
    history.maintain(t)
    if (t === end) running.latest.apply(event)
  }
  running.clock.now = end + 500
  running.tick(end)
})
afterAll(async () => {
  await running[Symbol.asyncDispose]()
  history.close()
  rmSync(folder, { recursive: true })
})

const ask = async (query: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) => {
  const text = body === undefined ? undefined : JSON.stringify(body)
  const sent = text === undefined ? headers : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)), ...headers }
  const answer = await get(`${running.url}/api/v1/fit${query}`, sent, text === undefined ? 'GET' : 'POST', text)
  return { status: answer.status, value: JSON.parse(answer.text) as unknown }
}
const reported = async (query: string, body?: unknown) => {
  const { status, value } = await ask(query, body)
  expect(status).toBe(200)
  const parsed = report.parse(value)
  expect(parsed).toEqual(value) // nothing that the description does not know
  return parsed
}

describe('what each GPU has left', () => {
  test('is the driver’s figure without its reserve, with the peak, and who does nothing', async () => {
    const { value } = await ask('/gpus')
    const [idle, busy, empty] = z.array(room).parse(value)
    expect(idle).toMatchObject({ index: 0, capacity_bytes: 23.5 * GIB, free_bytes: 3.5 * GIB, peak_used_bytes: 20 * GIB })
    expect(idle?.idle_holders).toEqual([{ pid: 11, process: 'python3', container: 'notebook', bytes: 19 * GIB }])
    // What draws the screen goes nowhere.
    expect(idle?.holders?.map(({ pid }) => pid)).toEqual([12])
    expect(busy).toMatchObject({ free_bytes: 11.5 * GIB, peak_used_bytes: 22 * GIB })
    // Steps of a week are hours.
    expect(Math.abs((busy?.peak_since_ms ?? 0) - START)).toBeLessThan(3_600_000)
    expect(busy).not.toHaveProperty('idle_holders')
    expect(empty).toMatchObject({ free_bytes: 23.5 * GIB, peak_used_bytes: 0 })
  })

  test('is not known to be idle before half an hour has been seen', async () => {
    const later = running.clock.now
    running.clock.now = later + 20 * 60_000
    const { value } = await ask('/gpus')
    running.clock.now = later
    expect(z.array(room).parse(value)[0]).not.toHaveProperty('idle_holders')
  })
})

describe('a model on this host', () => {
  test('fits when the idle leave, not at the peak, and now', async () => {
    const { gpus, fits } = await reported('?params=3b&dtype=bf16')
    expect(gpus.map(({ verdict }) => verdict)).toEqual(['fits_when_idle_leave', 'fits_not_at_peak', 'fits'])
    expect(gpus[0]?.why).toContain('notebook')
    expect(fits).toEqual({ needed: 1, now: 2 })
  })

  test('is read from its config.json when that is posted', async () => {
    const { estimate } = await reported('?name=mine', CONFIGS['Llama 3 8B'])
    expect(estimate.model).toEqual({ name: 'mine', parameters: 8_030_261_248, known_by: 'config' })
    const { estimate: tuned, gpus } = await reported('?train=full&batch=2', { ...CONFIGS['Llama 2 7B'], torch_dtype: 'float32' })
    expect([tuned.settings.dtype, gpus[2]?.verdict, (gpus[2]?.suggestions.length ?? 0) > 0]).toEqual(['fp32', 'never', true])
  })

  test('is held against cards by name', async () => {
    const { gpus } = await reported('?params=70b&gpu=T4,H200')
    expect(gpus.map(({ gpu, verdict }) => [gpu.name, verdict])).toEqual([
      ['T4', 'never'],
      ['H200', 'fits'],
    ])
  })

  test.each([
    ['', /give params/],
    ['?params=huge', /must be a number of parameters/],
    ['?params=8b&dtype=int3', /dtype: must be/],
    ['?params=8b&weights=/etc/passwd', /weights: unknown parameter/],
    ['?params=8b&params=9b', /give it once/],
    ['?params=8b&gpu=Voodoo', /nearest/],
  ])('%s is refused in words', async (query, words) => {
    expect(await ask(query)).toEqual({ status: 400, value: { error: { code: 'bad_request', message: expect.stringMatching(words) } } })
  })

  test('a body that is no config is refused, and so are one that is too large, of another type or from another site', async () => {
    expect((await ask('', [1])).status).toBe(400)
    expect((await ask('', { model_type: 'mamba9' })).status).toBe(400)
    expect((await ask('', { model_type: 'llama', padding: 'x'.repeat(1024 * 1024) })).status).toBe(413)
    expect((await ask('', CONFIGS['Llama 2 7B'], { 'content-type': 'text/plain' })).status).toBe(415)
    expect((await ask('', CONFIGS['Llama 2 7B'], { origin: 'https://evil.example' })).status).toBe(403)
  })

  test('may be asked for where nothing may be changed, as it changes nothing', async () => {
    await using open = await runServer({ http: { listen: '0.0.0.0:0', insecure: true } })
    const text = JSON.stringify(CONFIGS['Llama 3 8B'])
    const headers = { 'content-type': 'application/json', 'content-length': String(text.length) }
    const port = new URL(open.url).port
    expect((await get(`http://127.0.0.1:${port}/api/v1/fit`, headers, 'POST', text)).status).toBe(200)
    expect((await get(`http://127.0.0.1:${port}/api/v1/silences`, headers, 'POST', text)).status).toBe(403)
  })
})

describe('warpwatch fit', () => {
  const listen = () => running.url.replace('http://', '')
  const config = (): string => {
    mkdirSync(join(folder, 'llama'), { recursive: true })
    const file = join(folder, 'llama', 'config.json')
    writeFileSync(file, JSON.stringify(CONFIGS['Llama 3 8B']))
    return file
  }

  /** In this process: a start costs a second. */
  const here = async (args: readonly string[]): Promise<readonly [number, string, string]> => {
    let [out, err] = ['', '']
    const code = await dispatch(['fit', ...args], { out: (text) => (out += text), err: (text) => (err += text), env: {}, cwd: folder })
    return [code, out, err]
  }

  test('asks the agent what is free, and says the same as the API', async () => {
    const { code, stdout } = await runCli(['fit', '--params', '3b', '--dtype', 'bf16', '--listen', listen(), '--json'])
    expect([code, JSON.parse(stdout)]).toEqual([0, await reported('?params=3b&dtype=bf16')])
  })

  test('prints parts, GPUs and what would make it fit; 1 where it fits none', async () => {
    const [code, stdout] = await here(['--config', config(), '--train', 'full', '--listen', listen()])
    expect(code).toBe(1)
    expect(stdout).toMatch(/^llama: 8\.03 billion parameters, 8\.03 billion of them trained; full training with adamw/)
    for (const words of ['optimizer', 'total', 'GPU 0, NVIDIA GeForce RTX 4090', 'It would fit GPU 2', '--train']) expect(stdout).toContain(words)
    expect(stdout).not.toMatch(/NaN|undefined|Infinity/)
  })

  test('tells of cards by name where no agent runs, and of nothing where the agent that was named does not', async () => {
    expect(await here(['--config', config(), '--gpu', 'A100 80GB,T4'])).toEqual([0, expect.stringContaining('A100 80GB'), ''])
    const gone = await runServer()
    await gone.server.close()
    expect(await here(['--params', '8b', '--listen', gone.url.replace('http://', '')])).toEqual([2, '', expect.stringContaining('no agent runs')])
  })

  test.each([
    [[], /give --params such as 8b/],
    [['--params', '8q'], /params: must be a number/],
    [['--config', '/nonexistent/config.json'], /ENOENT/],
    [['--params', '8b', '--train', 'half'], /--train: must be full, lora, qlora, not "half"/],
    [['--params', '8b', '--gpu', 'Voodoo'], /--gpu: must be cards/],
  ])('%j is refused in one line', async (args, words) => {
    const [code, stdout, stderr] = await here(args)
    expect([code, stdout, stderr.trimEnd().split('\n').length]).toEqual([2, '', 1])
    expect(stderr).toMatch(words)
  })
})
