// Moving over from dcgm-exporter as docs/dcgm-exporter.md says: its job with another port, and the queries of its dashboard and of rules that go round have data.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import * as z from 'zod'
import { compiler } from '../fakes/nvml/build.ts'
import { eightH100 } from '../fakes/nvml/scenario.ts'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { monitoringMissing, queryUp, startPrometheus, type Monitor } from '../setup/monitoring.ts'
import { poll } from '../setup/poll.ts'

const CONFIG = join(import.meta.dirname, '../../deploy/prometheus/dcgm-port.yml')
const TOKEN = 'scrape-me'
const GPUS = 8

type Query = readonly [text: string, series: number, least: number, most: number]
const WHICH = '{instance=~"127.0.0.1:9400", gpu=~"0|1|2|3|4|5|6|7"}'

/** https://grafana.com/grafana/dashboards/12239: its variables and panels. */
const DASHBOARD: readonly Query[] = [
  ['count by (instance) (DCGM_FI_DEV_GPU_TEMP)', 1, GPUS, GPUS],
  ['count by (gpu) (DCGM_FI_DEV_GPU_TEMP)', GPUS, 1, 1],
  [`DCGM_FI_DEV_GPU_TEMP${WHICH}`, GPUS, 20, 100],
  [`avg(DCGM_FI_DEV_GPU_TEMP${WHICH})`, 1, 20, 100],
  [`DCGM_FI_DEV_POWER_USAGE${WHICH}`, GPUS, 40, 800],
  [`sum(DCGM_FI_DEV_POWER_USAGE${WHICH})`, 1, GPUS * 40, GPUS * 800],
  [`DCGM_FI_DEV_SM_CLOCK${WHICH} * 1000000`, GPUS, 1e8, 3e9],
  [`DCGM_FI_DEV_GPU_UTIL${WHICH}`, GPUS, 0, 100],
  [`DCGM_FI_DEV_FB_USED${WHICH}`, GPUS, 100, 81_559],
]
/** What alerting rules ask, with `bool` so that a healthy host answers too. */
const RULES: readonly Query[] = [
  ['DCGM_FI_DEV_GPU_TEMP > bool 85', GPUS, 0, 0],
  ['DCGM_FI_DEV_MEMORY_TEMP > bool 95', GPUS, 0, 0],
  ['DCGM_FI_DEV_XID_ERRORS > bool 0', GPUS, 0, 0],
  ['DCGM_FI_DEV_XID_ERRORS{err_code="0"}', GPUS, 0, 0],
  ['avg_over_time(DCGM_FI_DEV_GPU_UTIL[2m]) < bool 101', GPUS, 1, 1],
  ['DCGM_FI_DEV_FB_USED / (DCGM_FI_DEV_FB_USED + DCGM_FI_DEV_FB_FREE) * 100', GPUS, 0.1, 100],
  ['(DCGM_FI_DEV_FB_USED + DCGM_FI_DEV_FB_FREE + DCGM_FI_DEV_FB_RESERVED) / DCGM_FI_DEV_FB_TOTAL', GPUS, 0.99, 1.01],
  ['increase(DCGM_FI_DEV_ECC_DBE_VOL_TOTAL[2m])', GPUS, 0, 0],
  ['increase(DCGM_FI_DEV_ECC_SBE_VOL_TOTAL[2m])', GPUS, 0, 10],
  ['increase(DCGM_FI_DEV_PCIE_REPLAY_COUNTER[2m])', GPUS, 0, 10],
  ['DCGM_FI_DEV_ROW_REMAP_FAILURE', GPUS, 0, 0],
  ['DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS', GPUS, 0, 10],
  ['rate(DCGM_FI_DEV_POWER_VIOLATION[2m]) / 1e9', GPUS, 0, 1.5],
  ['rate(DCGM_FI_DEV_THERMAL_VIOLATION[2m]) / 1e9', GPUS, 0, 1.5],
  ['DCGM_FI_DEV_POWER_USAGE / DCGM_FI_DEV_POWER_MGMT_LIMIT', GPUS, 0.05, 1.1],
  ['rate(DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION[2m])', GPUS, 0, 1e6],
  ['count by (Hostname, modelName) (DCGM_FI_DEV_GPU_UTIL)', 1, GPUS, GPUS],
  ['count by (DCGM_FI_DRIVER_VERSION) (DCGM_FI_DEV_GPU_TEMP{UUID=~"GPU-.+", device=~"nvidia[0-7]", pci_bus_id=~".+"})', 1, GPUS, GPUS],
  ['DCGM_FI_DEV_MEM_COPY_UTIL', GPUS, 0, 100],
  ['DCGM_FI_DEV_ENC_UTIL + DCGM_FI_DEV_DEC_UTIL', GPUS, 0, 200],
  ['DCGM_FI_DEV_MEM_CLOCK', GPUS, 100, 5_000],
  ['DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL', GPUS, 0, 1e7],
  ['DCGM_FI_PROF_PCIE_TX_BYTES + DCGM_FI_PROF_PCIE_RX_BYTES', GPUS, 0, 2e11],
]
/** Those that ask for what only GPM tells (Hopper and newer); the simulated host has none. */
const PROFILING: readonly Query[] = [
  [`DCGM_FI_PROF_PIPE_TENSOR_ACTIVE${WHICH}`, GPUS, 0.55, 0.55],
  ['avg by (Hostname) (DCGM_FI_PROF_GR_ENGINE_ACTIVE)', 1, 0.955, 0.955],
  ['DCGM_FI_PROF_DRAM_ACTIVE', GPUS, 0.33, 0.33],
]

const config = z.looseObject({ scrape_configs: z.array(z.looseObject({})) })

const HOSTS = [
  { host: 'the simulated host', options: { args: ['run', '--simulate'] }, profiling: false },
  {
    host: 'a host with H100 (stand-in for NVML, needs a C compiler)',
    options: compiler === undefined ? undefined : { scenario: eightH100(() => ({ 'field.269': 2_000_000 })) },
    profiling: true,
  },
]

describe.skipIf(monitoringMissing !== undefined).each(HOSTS.filter(({ options }) => options !== undefined))(
  `$host (${monitoringMissing ?? 'real Prometheus'})`,
  ({ options, profiling }) => {
    const folder = mkdtempSync(join(tmpdir(), 'warpwatch-dcgm-'))
    let agent: RunningAgent
    let prometheus: Monitor
    const query = (text: string) => queryUp(prometheus.url, text)

    beforeAll(async () => {
      agent = await startAgent({ ...options, env: { WARPWATCH_HTTP__TOKEN: TOKEN } })
      writeFileSync(join(folder, 'warpwatch.token'), `${TOKEN}\n`)
      const { port } = new URL(agent.url)
      // As it stands, but for the name of the host, a port of the test's own in place of 9839, the token's folder, and seconds in place of minutes.
      const text = readFileSync(CONFIG, 'utf8')
        .replaceAll('gpu-01', '127.0.0.1')
        .replaceAll('9839', port)
        .replace('warpwatch.token', join(folder, 'warpwatch.token'))
      prometheus = await startPrometheus({ ...config.parse(parse(text)), global: { scrape_interval: '1s', scrape_timeout: '1s' } })
      // GPM wants two samples, ten seconds apart; increases want two scrapes.
      const last = profiling ? 'DCGM_FI_PROF_PIPE_TENSOR_ACTIVE' : 'DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION'
      await poll(async () => (await query(`count_over_time(${last}[2m]) > 2`)).length === GPUS, {
        what: () => `${last}; Prometheus said ${prometheus.said()}`,
        deadlineMs: 90_000,
        everyMs: 200,
      })
    })
    afterAll(async () => {
      await prometheus[Symbol.asyncDispose]()
      await agent[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true })
    })

    test.each([...DASHBOARD, ...RULES])('%s', async (text, series, least, most) => {
      const values = (await query(text)).map(({ value }) => Number(value[1]))
      expect(values.length).toBe(series)
      for (const value of values) expect([text, value >= least && value <= most, value]).toEqual([text, true, value])
    })

    test.each(PROFILING)('%s, where there is GPM', async (text, series, least, most) => {
      const values = (await query(text)).map(({ value }) => Number(value[1]))
      expect(values.length).toBe(profiling ? series : 0)
      for (const value of values) expect([text, value >= least && value <= most, value]).toEqual([text, true, value])
    })

    test('brings nothing but those names, under the job and the instance of before', async () => {
      expect(await query('count({job="dcgm-exporter", __name__!~"DCGM_.+|up|scrape_.+"})')).toEqual([])
      expect((await query('up')).map(({ metric, value }) => [metric['job'], metric['instance'], value[1]])).toEqual([['dcgm-exporter', '127.0.0.1:9400', '1']])
    })
  },
)

describe.skipIf(monitoringMissing !== undefined)(`a card in MIG instances (${monitoringMissing ?? 'real Prometheus'})`, () => {
  test.each(['classic', '4.9', 'both'])('is counted once: metrics.dcgm %s', async (mode) => {
    await using agent = await startAgent({ args: ['run', '--simulate=mig'], env: { WARPWATCH_METRICS__DCGM: mode } })
    await using prometheus = await startPrometheus({
      global: { scrape_interval: '1s', scrape_timeout: '1s' },
      scrape_configs: [{ job_name: 'gpus', static_configs: [{ targets: [new URL(agent.url).host] }] }],
    })
    const query = (text: string) => queryUp(prometheus.url, text)
    const used = mode === '4.9' ? 'DCGM_FI_DEV_FB_USED_BYTES / 1048576' : 'DCGM_FI_DEV_FB_USED'
    // What is between the card's own figure and its instances' is what no instance holds: 4 MiB on the simulated card, and what MiB round off.
    const sums = await poll(
      async () => {
        const found = await query(`sum(${used.replace(/(\w+)/, '$1{gpu="7"}')}) - on () warpwatch_gpu_memory_used_bytes{gpu="7", gi=""} / 1048576`)
        return found.length > 0 ? found : undefined
      },
      { what: `${used} of GPU 7`, deadlineMs: 30_000, everyMs: 100 },
    )
    const [difference = Number.NaN] = sums.map(({ value }) => Number(value[1]))
    expect(difference).toBeGreaterThan(-7)
    expect(difference).toBeLessThanOrEqual(0)
    const instances = (await query('count by (GPU_I_ID, GPU_I_PROFILE) ({__name__=~"DCGM_FI_DEV_GPU_TEMP.*", gpu="7"})')).map(({ metric }) => metric)
    expect(instances.toSorted((a, b) => Number(a['GPU_I_ID']) - Number(b['GPU_I_ID']))).toEqual([
      { GPU_I_ID: '1', GPU_I_PROFILE: '3g.40gb' },
      { GPU_I_ID: '2', GPU_I_PROFILE: '3g.40gb' },
    ])
  })
})

describe.skipIf(monitoringMissing !== undefined)(`both names at once (${monitoringMissing ?? 'real Prometheus'})`, () => {
  test('the page says how to go from a card of dcgm-exporter to the containers on it', async () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/dcgm-exporter.md'), 'utf8')
    const joins = [...page.matchAll(/^```promql\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text.trim())
    expect(joins.length).toBeGreaterThan(0)
    await using agent = await startAgent({ args: ['run', '--simulate'] })
    await using prometheus = await startPrometheus({
      global: { scrape_interval: '1s', scrape_timeout: '1s' },
      scrape_configs: [{ job_name: 'warpwatch', static_configs: [{ targets: [new URL(agent.url).host] }] }],
    })
    for (const text of joins) {
      const found = await poll(
        async () => {
          const result = await queryUp(prometheus.url, text)
          return result.length > 0 ? result : undefined
        },
        { what: text, deadlineMs: 30_000, everyMs: 200 },
      )
      expect(found.map(({ metric }) => metric['container'])).toContain('pretrain-trainer-1')
    }
  })
})
