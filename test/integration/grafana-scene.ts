// A small fleet for Grafana: simulated hosts with different stories, one real agent over the fake driver that tells what no simulation does, and an address where nobody answers.
import { spawn } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createExposition } from '../../agent/http/exposition.ts'
import { usageTokensTotal } from '../../agent/metrics/job.ts'
import type { Reading } from '../../agent/model/reading.ts'
import { makeSeries } from '../../agent/model/series.ts'
import { createForecastReadings } from '../../agent/sources/incidents/forecasts.ts'
import { readingsOf as serverReadings } from '../../agent/sources/inference-servers/readings.ts'
import { createLatestStore } from '../../agent/store/latest.ts'
import { fakeUuid, h100, hostOf, withGpu } from '../fakes/nvml/scenario.ts'
import { FULL_PAST, startAgent, type RunningAgent } from '../setup/agent.ts'
import { otlpReceiver } from '../setup/otlp-receiver.ts'
import { webServer } from '../setup/web-server.ts'
import { createClient, helloOf, sampleOf, statsOf } from '../unit/allocator/harness.ts'

/** The host with MIG is the last of the targets. */
export type Scene = { readonly targets: readonly string[]; readonly stop: () => Promise<void> }

/** A story that takes minutes is told in haste. */
const STORIES: readonly (readonly [scenario: string, speed: string])[] = [
  ['oom-fragmentation', '2'],
  ['mig', '1'],
]
const GIB = 2 ** 30
const HANG_MS = 60_000
/** Nobody listens on the discard port of loopback. */
const SILENT = '127.0.0.1:9'

/** A process that exists, for a probe that says it speaks for it. */
function living(stack: AsyncDisposableStack): number {
  const child = spawn('sleep', ['3600'], { stdio: 'ignore' })
  stack.defer(() => {
    child.kill('SIGKILL')
  })
  if (child.pid === undefined) throw new Error('expected a process, sleep did not start')
  return child.pid
}

/** A probe whose allocator has just given its cache back, with pieces left over; and a stranger whose words are not taken. */
async function startProbes(stack: AsyncDisposableStack, socket: string, pid: number): Promise<void> {
  const probe = await createClient(socket)
  stack.defer(() => void probe.socket.destroy())
  let flushes = 0
  const say = (): void => probe.say(sampleOf({ 0: statsOf(20, 30, 6, { num_alloc_retries: flushes++ }) }))
  probe.say(helloOf(pid))
  const saying = setInterval(say, 1_000)
  stack.defer(() => clearInterval(saying))
  const stranger = await createClient(socket)
  stack.defer(() => void stranger.socket.destroy())
  stranger.raw('not a probe\n')
}

/** A log file with a line that nobody can judge, a container's log, and lines that go on. */
function writeLogs(stack: AsyncDisposableStack, [plain, container]: readonly [string, string]): void {
  const write = (): void => {
    appendFileSync(plain, 'step\n')
    appendFileSync(container, `${new Date().toISOString()} stdout F step\n`)
  }
  write()
  appendFileSync(plain, `${'x'.repeat(1024 * 1024)}\n`)
  const writing = setInterval(write, 500)
  stack.defer(() => clearInterval(writing))
}

/** An agent with cards in trouble, and everything that it can talk to, well and ill. */
async function startReal(stack: AsyncDisposableStack): Promise<RunningAgent> {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-grafana-scene-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const collector = stack.use(await otlpReceiver())
  collector.reply({ rejected: 3 })
  const well = await webServer((_, answer) => answer.end('ok'))
  stack.defer(() => well.close())
  const ill = await webServer((_, answer) => answer.writeHead(503).end())
  stack.defer(() => ill.close())
  const [plain, container, socket] = [join(folder, 'job.log'), join(folder, 'trainer.log'), join(folder, 'probe.sock')]
  // Containers of this machine are strangers too: without cgroups none is found.
  const cgroups = join(folder, 'cgroups')
  mkdirSync(cgroups)
  const config = JSON.stringify({
    containers: { cgroup_root: cgroups },
    logs: { files: [plain], container_files: [container] },
    allocator: { enabled: true, socket, discover: false },
    otlp: { endpoint: collector.endpoint, interval_ms: 1_000 },
    alerts: { heartbeat_url: `${well.url}/beat`, heartbeat_interval: '10s' },
    notifiers: [
      { name: 'well', type: 'webhook', url: well.url, secret: 'of-the-test' },
      { name: 'ill', type: 'webhook', url: ill.url, secret: 'of-the-test' },
    ],
    targets: [{ name: 'ui', url: well.url, interval_ms: 1_000 }],
  })
  const pid = living(stack)
  const odd = h100(0, { fans: 1, fan: 45, retired_sbe: 2, retired_dbe: 1, retired_pending: 0, nvlinks_down: 1 }, [{ pid, bytes: 31 * GIB }])
  // No other processes: their pids would be those of strangers on this machine.
  const host = hostOf(8)
  const healthy = { ...host, gpus: [odd, ...host.gpus.slice(1)] }
  writeLogs(stack, [plain, container])
  const agent = stack.use(await startAgent({ scenario: healthy, config, env: { WARPWATCH_ALLOCATOR__ENABLED: 'true' } }))
  agent.tell(withGpu(withGpu(healthy, 3, { 'delay.nvmlDeviceGetPowerUsage': HANG_MS }), 1, {}, { xids: [{ sequence: 1, xid: 43 }] }))
  await startProbes(stack, socket, pid)
  return agent
}

/** What an inference server under load says, and the tokens that the ledger counts for it: a server that tells all of it serves a large model on a GPU. */
function servingReadings(t: number): readonly Reading[] {
  const seconds = t / 1_000
  const bytes = (gib: number) => ({ bytes: gib * GIB, source: 'log' as const })
  const quantiles = [0.5, 0.95, 0.99].map((q) => [q, q / 2] as const)
  return [
    ...serverReadings({
      labels: { name: 'llm', container: 'llm' },
      server: 'vllm',
      url: 'http://127.0.0.1:8000',
      figures: {
        models: ['m'],
        state: 'ready',
        context: 8_192,
        longestRequest: 900,
        running: 3,
        waiting: 1,
        kvUsage: 0.5,
        kvCapacityTokens: 100_000,
        preemptions: 2,
        prefixHitRatio: 0.4,
        promptTokens: seconds,
        generationTokens: seconds,
        outcomes: { completed: seconds },
        offloadedRatio: 0.25,
        memory: { weights: bytes(14), kv_cache: bytes(40), graphs: bytes(1) },
      },
      recent: { promptRate: 900, generationRate: 400, timeToFirstToken: quantiles, interTokenLatency: quantiles },
    }),
    { series: makeSeries(usageTokensTotal, { user: 'ada', namespace: 'ml', account: 'lab' }), value: seconds },
  ]
}

/**
 * Stands before the agent and puts behind its page what takes a quarter of an hour of growth, or a large model: a forecast and a server's figures, whose
 * readings are made here by the agent's own code.
 */
async function foretelling(stack: AsyncDisposableStack, agent: RunningAgent): Promise<string> {
  const latest = createLatestStore()
  const exposition = createExposition({ latest, dcgm: 'off', hostnameLabel: 'Hostname', hostname: 'foretold' })
  const readingsOf = createForecastReadings()
  const front = await webServer((_, answer) => {
    const t = Date.now()
    const forecast = { t, key: 'one', about: { uuid: fakeUuid(0), pid: 4242, container: 'trainer' }, earliestMs: t + 600_000, latestMs: t + 900_000 }
    const readings = [...readingsOf({ forecasts: [forecast], firing: [] }, t), ...servingReadings(t)]
    latest.apply({ type: 'scrape', t, source: 'incidents', group: '', ttlMs: 60_000, durationMs: 0, readings, gaps: [] })
    void agent
      .get('/metrics')
      .then(({ text }) => answer.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(text + exposition.page('text').body))
  })
  stack.defer(() => front.close())
  return new URL(front.url).host
}

export async function startScene(): Promise<Scene> {
  const stack = new AsyncDisposableStack()
  try {
    const targets = [SILENT, await foretelling(stack, await startReal(stack))]
    for (const [scenario, speed] of STORIES) {
      // Without a history of their own, which the real one has, they begin sooner.
      const env = { ...FULL_PAST, WARPWATCH_SIMULATE__SPEED: speed, WARPWATCH_HISTORY__ENABLED: 'false' }
      const { listen, stop } = await startAgent({ args: [`--simulate=${scenario}`], ready: true, env })
      stack.defer(stop)
      targets.push(listen)
    }
    return { targets, stop: () => stack.disposeAsync() }
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }
}
