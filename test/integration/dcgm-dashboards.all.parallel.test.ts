// Every query of scripts/dcgm-dashboards.ts, asked of a real Prometheus that scrapes a node of Kubernetes and one of Slurm, both simulated; and the holders that it names.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DASHBOARDS, type Scraped } from '../../scripts/dcgm-dashboards.ts'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { monitoringMissing, queryUp, startPrometheus, type Found, type Monitor } from '../setup/monitoring.ts'
import { poll } from '../setup/poll.ts'

const HOSTS: readonly { readonly scraped: Scraped; readonly scenario: string; readonly honor: boolean; readonly labels: Readonly<Record<string, string>> }[] = [
  // What a ServiceMonitor adds to its targets: names of the exporter's own pod.
  {
    scraped: 'kubernetes',
    scenario: 'kubernetes',
    honor: false,
    labels: { namespace: 'monitoring', pod: 'exporter-x', container: 'exporter', node: 'node-1' },
  },
  { scraped: 'kubernetes, honor_labels', scenario: 'kubernetes', honor: true, labels: { namespace: 'monitoring', pod: 'exporter-x', container: 'exporter' } },
  { scraped: 'slurm', scenario: 'slurm', honor: false, labels: {} },
]

/** One for each scenario, whoever scrapes it. */
const agents = new Map<string, Promise<RunningAgent>>()
function agentOf(scenario: string): Promise<RunningAgent> {
  const known = agents.get(scenario)
  if (known !== undefined) return known
  const env = { WARPWATCH_METRICS__DCGM_IDENTITY_LABELS: '[serial, name, vbios_version, minor_number]' }
  const started = startAgent({ args: ['run', `--simulate=${scenario}`], env })
  agents.set(scenario, started)
  return started
}
afterAll(async () => {
  for (const agent of agents.values()) await (await agent).stop()
})

describe.skipIf(monitoringMissing !== undefined).each(HOSTS)(`$scraped (${monitoringMissing ?? 'real Prometheus'})`, ({ scraped, scenario, honor, labels }) => {
  let prometheus: Monitor
  const query = (text: string): Promise<Found> => queryUp(prometheus.url, text)
  beforeAll(async () => {
    const agent = await agentOf(scenario)
    prometheus = await startPrometheus({
      global: { scrape_interval: '1s', scrape_timeout: '1s' },
      scrape_configs: [{ job_name: 'gpus', honor_labels: honor, static_configs: [{ targets: [new URL(agent.url).host], labels }] }],
    })
    await poll(async () => (await query('count_over_time(DCGM_FI_PROF_GR_ENGINE_ACTIVE[2m]) > 1')).length > 7, {
      what: () => `two scrapes; Prometheus said ${prometheus.said()}`,
      deadlineMs: 60_000,
      everyMs: 100,
    })
  })
  afterAll(async () => {
    await prometheus[Symbol.asyncDispose]()
  })

  const asked = DASHBOARDS.filter((dashboard) => dashboard.scraped === scraped)
  const withData = asked.flatMap(({ by, queries }) => queries.map((text) => [by, text] as const))
  const withoutData = asked.flatMap(({ by, without = {} }) =>
    Object.entries(without).flatMap(([why, queries]) => queries.map((text) => [by, why, text] as const)),
  )

  test.each(withData)('%s: %s', async (_, text) => {
    const found = await query(text)
    expect(found.length).toBeGreaterThan(0)
    for (const { value } of found) expect(Number(value[1])).not.toBeNaN()
  })
  test.skipIf(withoutData.length === 0).each(withoutData)('%s, no data, for it %s: %s', async (_by, _why, text) => expect(await query(text)).toEqual([]))

  test('each GPU is one series for each name, or one for each job', async () => {
    const counts = (await query('count by (gpu) (DCGM_FI_DEV_FB_USED)')).map(({ value }) => Number(value[1]))
    expect(counts.length).toBe(8)
    expect(counts.toSorted((a, b) => a - b)).toEqual(scenario === 'slurm' ? [1, 1, 1, 1, 1, 2, 2, 2] : [1, 1, 1, 1, 1, 1, 1, 1])
  })

  test('the GPUs of the training name it', async () => {
    const [pod, namespace, container] = honor ? ['pod', 'namespace', 'container'] : ['exported_pod', 'exported_namespace', 'exported_container']
    const selector = scenario === 'slurm' ? 'hpc_job="48213"' : `${pod}="llm-pretrain-worker-0", ${namespace}="training", ${container}="trainer"`
    const gpus = (await query(`DCGM_FI_DEV_POWER_USAGE{${selector}}`)).map(({ metric }) => metric['gpu'])
    expect(new Set(gpus)).toEqual(new Set(['0', '1', '2', '3']))
    expect(gpus.length).toBe(4)
  })
})
