// How soon faults of the driver are reported, and what a GPU that hangs costs the others: the built agent with eight GPUs of the fake library.
import { setTimeout as delay } from 'node:timers/promises'
import { fakeLibrary } from '../test/fakes/nvml/build.ts'
import { eightH100, withGpu, type FakeScenario } from '../test/fakes/nvml/scenario.ts'
import { ageOf, ALL, allBut, powerOf } from '../test/setup/agent-scenes.ts'
import { readPage, startAgent, type RunningAgent } from '../test/setup/agent.ts'
import { watchIncidents } from '../test/setup/incident-watch.ts'
import { poll } from '../test/setup/poll.ts'
import { percentile, printTable, type Row } from './lib/table.ts'

/** Three intervals of the readings, and one for the second that is judged when the next one begins. */
const FAST_MS = 4_000
const SLOW_MS = 31_000
/** Until a native call is given up (gpu.deadline_ms). */
const DEADLINE_MS = 2_000
const HUNG_S = 60

const well = eightH100()
const hung = withGpu(well, 3, { 'delay.nvmlDeviceGetPowerUsage': 600_000 })
const FAULTS: readonly (readonly [kind: string, scene: FakeScenario, limitMs: number])[] = [
  ['gpu_missing', withGpu(well, 2, { lost: 1 }), FAST_MS],
  ['throttling', withGpu(well, 0, { reasons: 0x48, clock_sm: 877, temp: 91 }), FAST_MS],
  ['ecc_uncorrected', withGpu(well, 2, { ecc_uncorrected_volatile: 3, ecc_uncorrected_aggregate: 12 }), SLOW_MS],
  ['pcie_degraded', withGpu(well, 4, { pcie_width: 4 }), SLOW_MS],
]

const sampled = (agent: RunningAgent): Promise<boolean> =>
  poll(
    async () => {
      const page = await agent.metrics()
      return ALL.every((gpu) => powerOf(page, gpu) !== undefined)
    },
    { what: 'readings of all GPUs' },
  )

/** From the scene that shows it to the incident that fires, in an agent of its own. */
async function toldAfter(kind: string, scene: FakeScenario): Promise<number> {
  await using agent = await startAgent({ scenario: well })
  const incidents = watchIncidents(agent, new Set([kind]))
  await sampled(agent)
  const from = Date.now()
  agent.tell(scene)
  const found = await incidents.reached(kind, (all) => all.some(({ status }) => status === 'firing'))
  return (found.find(({ status }) => status === 'firing')?.fired_at ?? Number.NaN) - from
}

async function hang(): Promise<readonly Row[]> {
  await using agent = await startAgent({ scenario: well })
  const incidents = watchIncidents(agent, new Set(['driver_hung']))
  await sampled(agent)
  const from = Date.now()
  agent.tell(hung)
  const took: number[] = []
  let worstAge = 0
  while (Date.now() - from < HUNG_S * 1_000) {
    for (const path of ['/readyz', '/api/v1/gpus', '/metrics']) {
      const answer = await agent.get(path)
      took.push(answer.ms)
      if (path !== '/metrics') continue
      const now = readPage(answer.text)
      for (const gpu of allBut(3)) worstAge = Math.max(worstAge, ageOf(now, gpu) ?? Infinity)
    }
    await delay(50)
  }
  const [first] = await incidents.all()
  const firedMs = (first?.fired_at ?? Number.NaN) - from
  const limitMs = DEADLINE_MS + FAST_MS
  return [
    { what: 'a call that hangs: told after', figure: `${firedMs} ms`, limit: `${limitMs} ms`, ok: firedMs <= limitMs },
    { what: '… oldest reading of the other seven, s', figure: worstAge.toFixed(1), limit: '5.0', ok: worstAge <= 5 },
    { what: '… an answer meanwhile, median', figure: `${percentile(took, 0.5).toFixed(1)} ms`, limit: '100 ms', ok: percentile(took, 0.5) <= 100 },
  ]
}

export async function run(): Promise<void> {
  if (fakeLibrary('full') === undefined) throw new Error('expected a C compiler for the fake NVML library, found none')
  const rows: Row[] = []
  for (const [kind, scene, limitMs] of FAULTS) {
    const ms = await toldAfter(kind, scene)
    rows.push({ what: `${kind}: told after`, figure: `${ms} ms`, limit: `${limitMs} ms`, ok: ms <= limitMs })
  }
  printTable([...rows, ...(await hang())])
}

if (import.meta.main) await run()
