// How soon a fault is reported: from the line that a container writes to the incident on the live stream, beside the engine's own `docker logs -f`.
import { WebSocket } from 'ws'
import * as z from 'zod'
import { fakeLibrary } from '../test/fakes/nvml/build.ts'
import { eightH100, scenarioFile } from '../test/fakes/nvml/scenario.ts'
import { dockerMissing, startDocker } from '../test/setup/docker.ts'
import { poll } from '../test/setup/poll.ts'
import { get, startAgentProcess } from './lib/agent-process.ts'
import { createFaultRounds } from './lib/fault-writers.ts'
import { percentile, printTable } from './lib/table.ts'

const ROUNDS = 6
const CONTAINERS = 20
const LIMIT_MS = 300

const reported = z.object({ incident: z.object({ subject: z.object({ container: z.object({ name: z.string() }).optional() }) }) })

export async function run(): Promise<void> {
  if (dockerMissing !== undefined) {
    process.stdout.write(`latency: skipped, ${dockerMissing}\n`)
    return
  }
  const docker = await startDocker()
  const scenario = scenarioFile(eightH100())
  const agent = startAgentProcess({
    port: 19_842,
    env: { FAKE_NVML_SCENARIO: scenario.path, WARPWATCH_GPU__LIBRARY: fakeLibrary() ?? '', WARPWATCH_CONTAINERS__ENGINES: docker.socketPath },
  })
  const faults = createFaultRounds({ docker, agentUrl: agent.url, rounds: ROUNDS, containers: CONTAINERS })
  try {
    await poll(async () => (await get(`${agent.url}/readyz`))?.includes('"ready"'), { what: 'the agent to be ready', deadlineMs: 20_000 })
    const socket = new WebSocket(`${agent.url.replace('http', 'ws')}/ws`)
    socket.on('message', (data: Buffer) => {
      const text = data.toString()
      if (text.startsWith('{"type":"incident"')) faults.heard(reported.parse(JSON.parse(text)).incident.subject.container?.name ?? '')
    })
    await faults.run()
    socket.terminate()
  } finally {
    await agent.stop()
    await docker.close()
    scenario.remove()
  }
  const figures = (at: ReadonlyMap<string, number>): readonly number[] => [...at.values()]
  const [agentMedian, engineMedian] = [percentile(figures(faults.reported), 0.5), percentile(figures(faults.byEngine), 0.5)]
  const worst = percentile(figures(faults.reported), 0.99)
  const both = (at: ReadonlyMap<string, number>): string => `${percentile(figures(at), 0.5).toFixed(1)} · ${percentile(figures(at), 0.99).toFixed(1)}`
  printTable([
    {
      what: `line written to incident on the stream, p50 · p99 of ${faults.reported.size}, ms`,
      figure: both(faults.reported),
      limit: `p99 ${LIMIT_MS}`,
      ok: worst <= LIMIT_MS,
    },
    { what: 'the same line through docker logs -f, ms', figure: both(faults.byEngine) },
    { what: 'ratio of the medians', figure: `${(agentMedian / engineMedian).toFixed(0)} : 1 (100 ms are the wait for the rest of a traceback)` },
  ])
}

if (import.meta.main) await run()
