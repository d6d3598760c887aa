// A real Prometheus scrapes the agent's port, and promtool reads the page: names, types and the queries that people have already.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createExposition, type ExpositionFormat } from '../../agent/http/exposition.ts'
import type { DcgmMode } from '../../agent/http/exposition/dcgm.ts'
import { freeAddress } from '../setup/free-port.ts'
import { queryUp } from '../setup/monitoring.ts'
import { poll } from '../setup/poll.ts'
import { filledStore, GPU0 } from '../unit/http/fixture.ts'
import { get, runServer } from '../unit/http/running.ts'

const PROMETHEUS = '/usr/bin/prometheus'
const PROMTOOL = '/usr/bin/promtool'

/** What promtool complains of, a line each; an empty list is a clean page. */
function complaints(dcgm: DcgmMode): readonly string[] {
  const page = createExposition({ latest: filledStore(), dcgm, hostnameLabel: 'Hostname', hostname: 'gpu-01' }).page('text').body
  try {
    execFileSync(PROMTOOL, ['check', 'metrics'], { input: page, stdio: ['pipe', 'pipe', 'pipe'] })
    return []
  } catch (error) {
    if (!(error instanceof Error) || !('stderr' in error) || !Buffer.isBuffer(error.stderr)) throw error
    return error.stderr.toString().trim().split('\n')
  }
}

describe.skipIf(!existsSync(PROMTOOL))('promtool check metrics (needs promtool)', () => {
  test('has nothing to say about our own names', () => expect(complaints('off')).toEqual([]))
  test('reads the page with the names of dcgm-exporter, and complains of none but those', () => {
    const lines = complaints('both')
    expect(lines.filter((line) => !line.startsWith('DCGM_'))).toEqual([])
    expect(lines.length).toBeGreaterThan(0)
  })
})

const addressOf = (server: Server | undefined): string => {
  const address = server?.address()
  if (typeof address !== 'object' || address === null) throw new Error('expected a listening server, came none')
  return `127.0.0.1:${address.port}`
}

/** Passes requests on to the agent, asking for plain text. */
async function textFront(url: string): Promise<Server> {
  const server = createServer((request, response) => {
    const { authorization = '' } = request.headers
    void get(`${url}${request.url ?? ''}`, { authorization, accept: 'text/plain' }).then(({ status, headers, text }) =>
      response.writeHead(status, { 'Content-Type': String(headers['content-type']) }).end(text),
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

describe.skipIf(!existsSync(PROMETHEUS)).each<ExpositionFormat>(['openmetrics', 'text'])('Prometheus that scrapes %s (needs prometheus)', (format) => {
  const directory = mkdtempSync(join(tmpdir(), 'warpwatch-prometheus-'))
  let child: ChildProcess
  let base: string
  let running: Awaited<ReturnType<typeof runServer>>
  let front: Server | undefined
  let said = ''

  const query = (text: string) => queryUp(base, text)

  beforeAll(async () => {
    running = await runServer({ http: { token: 'scrape-me' } })
    // Prometheus 2.42 always asks for OpenMetrics first; a front that asks for text means scrapers that cannot read it.
    if (format === 'text') front = await textFront(running.url)
    const target = format === 'text' ? addressOf(front) : new URL(running.url).host
    const address = await freeAddress()
    const config = {
      global: { scrape_interval: '300ms', scrape_timeout: '300ms' },
      scrape_configs: [{ job_name: 'warpwatch', authorization: { credentials: 'scrape-me' }, static_configs: [{ targets: [target] }] }],
    }
    writeFileSync(join(directory, 'prometheus.yml'), JSON.stringify(config)) // JSON is YAML
    child = spawn(PROMETHEUS, [
      `--config.file=${join(directory, 'prometheus.yml')}`,
      `--storage.tsdb.path=${directory}/data`,
      `--web.listen-address=${address}`,
    ])
    child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()))
    base = `http://${address}`
    await poll(async () => (await get(`${base}/-/ready`).catch(() => undefined))?.status === 200, {
      what: () => `Prometheus; it said:\n${said}`,
      deadlineMs: 30_000,
    })
    await poll(async () => (await query('up{job="warpwatch"} == 1')).length === 1, { what: () => `a scrape; Prometheus said:\n${said}`, deadlineMs: 30_000 })
  })
  afterAll(async () => {
    const ended = once(child, 'exit')
    child.kill()
    await ended
    front?.close()
    await running[Symbol.asyncDispose]()
    rmSync(directory, { recursive: true })
  })

  test('finds every series of the page and no warning', async () => {
    const wanted = new Set(
      running.exposition
        .page('text')
        .body.toString()
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'))
        .map((line) => line.slice(0, line.lastIndexOf(' '))),
    )
    const found = await query('{job="warpwatch",__name__=~"DCGM_.*|warpwatch_.*"}')
    expect(found.length).toBe(wanted.size)
    expect(found.length).toBeGreaterThan(40)
    expect(said).not.toMatch(/level=(warn|error).*scrape/)
  })

  // https://grafana.com/grafana/dashboards/12239: its variables and panels, with a range that a test can wait for.
  test.each([
    ['DCGM_FI_DEV_GPU_TEMP{instance=~".+", gpu=~"0|1"}', [61, 61]],
    ['avg(DCGM_FI_DEV_GPU_TEMP{gpu=~"0|1"})', [61]],
    ['sum(DCGM_FI_DEV_POWER_USAGE{gpu=~"0|1"})', [624.912]],
    ['DCGM_FI_DEV_SM_CLOCK{gpu=~"0|1"} * 1000000', [1.98e9, 1.98e9]],
    ['DCGM_FI_DEV_GPU_UTIL{gpu=~"0|1"}', [57, 57]],
    ['DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{gpu="0"}', [0.25]],
    ['DCGM_FI_DEV_FB_USED{gpu="0"}', [11_773]],
    // What alerting rules that go round ask.
    ['DCGM_FI_DEV_XID_ERRORS{err_code="79"} > 0', [79]],
    ['DCGM_FI_DEV_FB_USED{GPU_I_ID=""} / (DCGM_FI_DEV_FB_USED{GPU_I_ID=""} + DCGM_FI_DEV_FB_FREE) > 0.1', [0.144_66]],
    ['count by (Hostname, modelName) (DCGM_FI_DEV_GPU_UTIL)', [2]],
    ['DCGM_FI_DEV_FB_USED{GPU_I_PROFILE="1g.10gb",GPU_I_ID="7"}', [1_024]],
    ['sum by (UUID) (DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION)', [123_456_789, 123_456_789]],
    // And of our own names.
    ['warpwatch_gpu_power_watts * on (uuid) group_left (name) warpwatch_gpu_info', [312.456, 312.456]],
    ['sum by (container) (warpwatch_container_gpu_memory_bytes)', [5_200]],
  ])('%s', async (text, wanted) => {
    const values = (await query(text)).map(({ value }) => Number(value[1]))
    expect(values.length).toBe(wanted.length)
    values.forEach((value, i) => expect(value).toBeCloseTo(wanted[i] ?? Number.NaN, 4))
  })

  test('keeps the label values whole', async () => {
    expect((await query('warpwatch_host_label_test_ratio'))[0]?.metric['text']).toBe('a\\b"c\nd {} =,é')
    expect((await query('warpwatch_gpu_power_watts{gpu="0"}'))[0]?.metric).toMatchObject({ uuid: GPU0['uuid'], job: 'warpwatch' })
  })

  test('knows types and help', async () => {
    const { text } = await get(`${base}/api/v1/targets/metadata?metric=warpwatch_gpu_energy_joules${format === 'text' ? '_total' : ''}`)
    const { data } = z.object({ data: z.array(z.object({ type: z.string(), help: z.string(), unit: z.string() })) }).parse(JSON.parse(text))
    expect(data[0]).toEqual({ type: 'counter', help: 'Energy since the driver was loaded.', unit: format === 'text' ? '' : 'joules' })
  })
})
