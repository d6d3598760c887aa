// How soon someone is reported: from the line that a container writes to the webhook's arrival; and what a storm of 10,000 incidents in a minute costs.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { fakeLibrary } from '../test/fakes/nvml/build.ts'
import { eightH100, scenarioFile } from '../test/fakes/nvml/scenario.ts'
import { dockerMissing, startDocker } from '../test/setup/docker.ts'
import { poll } from '../test/setup/poll.ts'
import { webServer, type Listening } from '../test/setup/web-server.ts'
import { get, startAgentProcess } from './lib/agent-process.ts'
import { createFaultRounds } from './lib/fault-writers.ts'
import { runStorm } from './lib/storm.ts'
import { percentile, printTable, type Row } from './lib/table.ts'

const ROUNDS = 4
const CONTAINERS = 20
const LIMIT_MS = 500
/** A webhook's message holds at most 100 incidents, so more than the default of 20 a minute, or it would go on for five. */
const STORM = { incidents: 10_000, seconds: Number(process.env['BENCH_SECONDS'] ?? 60), perMinute: 60 }

const incident = z.object({ id: z.string(), subject: z.object({ container: z.object({ name: z.string() }).optional() }) })
const message = z.object({ incident, others: z.array(z.object({ incident })).optional() })
type Incident = z.infer<typeof incident>

async function receiver(onIncidents: (incidents: readonly Incident[]) => void): Promise<Listening> {
  return webServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { incident: first, others = [] } = message.parse(JSON.parse(Buffer.concat(chunks).toString()))
      onIncidents([first, ...others.map((other) => other.incident)])
      response.end()
    })
  })
}

/** The default route; only the number of messages is not limited, as each fault's own arrival is measured. */
async function latencyRows(): Promise<readonly Row[]> {
  if (dockerMissing !== undefined) {
    process.stdout.write(`notify: latency skipped, ${dockerMissing}\n`)
    return []
  }
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-notify-'))
  const docker = await startDocker()
  const scenario = scenarioFile(eightH100())
  let heard: (container: string) => void = () => {}
  const webhook = await receiver((incidents) => incidents.forEach(({ subject }) => heard(subject.container?.name ?? '')))
  const config = join(folder, 'warpwatch.yaml')
  writeFileSync(config, `notifiers: [{name: bench, type: webhook, url: "${webhook.url}/", max_messages_per_minute: 0}]\n`)
  const agent = startAgentProcess({
    port: 19_843,
    args: ['--config', config],
    env: { FAKE_NVML_SCENARIO: scenario.path, WARPWATCH_GPU__LIBRARY: fakeLibrary() ?? '', WARPWATCH_CONTAINERS__ENGINES: docker.socketPath },
  })
  const faults = createFaultRounds({ docker, agentUrl: agent.url, rounds: ROUNDS, containers: CONTAINERS })
  ;({ heard } = faults)
  try {
    await poll(async () => (await get(`${agent.url}/readyz`))?.includes('"ready"'), { what: () => `the agent: ${agent.stderr()}`, deadlineMs: 20_000 })
    await faults.run()
  } finally {
    await agent.stop()
    await docker.close()
    await webhook.close()
    scenario.remove()
    rmSync(folder, { recursive: true, force: true })
  }
  const times = [...faults.reported.values()]
  const worst = percentile(times, 0.99)
  return [
    {
      what: `line written to webhook received, p50 · p99 of ${times.length}, ms`,
      figure: `${percentile(times, 0.5).toFixed(0)} · ${worst.toFixed(0)}`,
      limit: `p99 ${LIMIT_MS}`,
      ok: worst <= LIMIT_MS,
    },
  ]
}

async function stormRows(): Promise<readonly Row[]> {
  const seen = new Set<string>()
  let messages = 0
  const webhook = await receiver((incidents) => {
    messages++
    for (const { id } of incidents) seen.add(id)
  })
  const storm = await runStorm({ ...STORM, url: webhook.url, done: () => seen.size >= STORM.incidents })
  const inMinutes = storm.tookS / 60
  await webhook.close()
  const allowed = Math.ceil(inMinutes * STORM.perMinute) + 5 // and the burst at the beginning
  return [
    {
      what: `storm of ${STORM.incidents} incidents in ${STORM.seconds} s: incidents told`,
      figure: String(seen.size),
      limit: String(STORM.incidents),
      ok: seen.size === STORM.incidents,
    },
    {
      what: `messages, until all were told after ${storm.tookS.toFixed(0)} s`,
      figure: String(messages),
      limit: `${allowed} (${STORM.perMinute} a minute)`,
      ok: messages <= allowed,
    },
    {
      what: 'main thread, ms for each incident (store, router, outbox and sender)',
      figure: storm.cpuMsEach.toFixed(2),
      limit: '2 (ours)',
      ok: storm.cpuMsEach <= 2,
    },
    { what: 'memory of the process at most above its rest, MiB', figure: storm.grownMiB.toFixed(1), limit: '100 (ours)', ok: storm.grownMiB <= 100 },
  ]
}

export async function run(): Promise<void> {
  printTable([...(await latencyRows()), ...(await stormRows())])
}

if (import.meta.main) await run()
