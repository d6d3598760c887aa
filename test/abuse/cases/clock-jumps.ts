// The wall clock jumps while the agent runs: libfaketime moves it for the agent and its sampler, the monotonic clock stays as it is.
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import * as z from 'zod'
import { eightH100 } from '../../fakes/nvml/scenario.ts'
import { get } from '../../setup/agent.ts'
import type { AbuseCase } from '../abuse-case.ts'
import { cpuSeconds } from '../parts/process-times.ts'
import { sampledSeconds, samplesCome } from '../parts/sampling.ts'
import { deliveredIn, startScene, type Incident } from '../parts/scene.ts'

const LIBRARY = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1'
const HOUR = 3_600
const DAY = 24 * HOUR
/** Offsets from the real time, s, one after the other. */
const JUMPS = [-HOUR, 0, HOUR, 0, -DAY, 0, DAY, 0] as const
const JUMPS_SHORT = [-HOUR, HOUR] as const
/** Of one core: sampling two GPUs costs a few percent, a loop that never rests costs all of it. */
const BUSY_RATIO = 0.6

const host = () => {
  // An idle card with memory in use: what has to last for minutes before it is an incident must not be one because the clock says so.
  const all = eightH100((index) => (index === 1 ? { util: 0, power: 70_000 } : {}))
  return { ...all, gpus: all.gpus.slice(0, 2) }
}
const firing = (all: readonly Incident[]): readonly string[] => all.filter(({ status }) => status === 'firing').map(({ id }) => id)

const points = z.array(z.object({ mean: z.array(z.number().nullable()) }))
async function isReadable(url: string, { from, to }: { readonly from: number; readonly to: number }): Promise<boolean> {
  const { status, text } = await get(`${url}/api/v1/series?metric=gpu_power_watts&from=${Math.floor(from) - 60_000}&to=${Math.floor(to) + 60_000}&points=500`)
  return status === 200 && points.parse(JSON.parse(text)).some(({ mean }) => mean.some((value) => value !== null))
}

export const clockJumps: AbuseCase = {
  id: 'clock-jumps',
  area: 'clock',
  fault: `the clock jumps by an hour and by a day, back and forward: ${JUMPS.length} jumps (libfaketime)`,
  promised: 'sampling and notifications go on, nothing loops, no incident begins or ends by a jump, all of the history stays readable',
  unavailable: () => (existsSync(LIBRARY) ? undefined : `needs ${LIBRARY} (Debian package faketime)`),
  hasShortForm: false,
  async run({ short }) {
    const folder = mkdtempSync(join(tmpdir(), 'warpwatch-clock-'))
    const file = join(folder, 'offset')
    let offset = 0
    const set = (seconds: number): void => {
      offset = seconds
      // In one step: of an empty file the library makes an offset of its own.
      writeFileSync(`${file}.new`, `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}`)
      renameSync(`${file}.new`, file)
    }
    set(0)
    try {
      const jumps = short ? JUMPS_SHORT : JUMPS
      await using scene = await startScene({
        scenario: host(),
        programs: jumps.length + 1,
        env: { LD_PRELOAD: LIBRARY, FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: '1', DONT_FAKE_MONOTONIC: '1', NO_FAKE_STAT: '1' },
      })
      const agent = scene.agent()
      const now = (): number => Date.now() + offset * 1_000
      const problems: string[] = []
      const spans: { readonly from: number; readonly to: number }[] = []
      await samplesCome(agent, 3, { now })
      scene.crash()
      await scene.allHeard()
      let [busiest, wanted, found] = [0, 0, 0]
      for (const jump of jumps) {
        const before = firing(await scene.incidents())
        set(jump)
        const cpu = cpuSeconds(agent.pid)
        const begun = performance.now()
        const from = now()
        await samplesCome(agent, short ? 2 : 5, { now })
        scene.crash()
        await scene.allHeard()
        await delay(short ? 500 : 6_000)
        const after = await scene.incidents()
        const gone = before.filter((id) => !firing(after).includes(id))
        if (gone.length > 0) problems.push(`${gone.length} incidents ended by a jump to ${jump} s`)
        busiest = Math.max(busiest, (cpuSeconds(agent.pid) - cpu) / ((performance.now() - begun) / 1_000))
        const to = now()
        spans.push({ from, to })
        // The seconds of the jumps themselves are nobody's.
        wanted += Math.floor(to / 1_000) - Math.floor(from / 1_000) - 1
        found += (await sampledSeconds(agent.url, from + 1_000, to - 1_000)).length
        const ready = await agent.get('/readyz')
        if (ready.status !== 200) problems.push(`/readyz answered ${ready.status} after a jump to ${jump} s`)
      }
      const others = (await scene.incidents()).filter(({ kind }) => kind !== 'cuda_oom')
      if (others.length > 0) problems.push(`${others.map(({ kind }) => kind).join(', ')} fired`)
      const reported = new Set(
        deliveredIn(scene.receiver)
          .filter(({ event }) => event === 'firing')
          .map(({ id }) => id),
      ).size
      // What a later jump makes older than raw history is kept, its minutes answer for it.
      const unreadable = await Promise.all(spans.map(async (span) => !(await isReadable(agent.url, span))))
      const lost = unreadable.filter(Boolean).length
      if (lost > 0) problems.push(`${lost} spans cannot be read any more`)
      if (found < wanted * (short ? 0.5 : 0.9)) problems.push(`${found} of ${wanted} seconds are in the history`)
      if (busiest > BUSY_RATIO) problems.push(`the agent was busy for ${(busiest * 100).toFixed(0)} % of the time`)
      return {
        held: problems.length === 0 && reported === scene.crashes(),
        observed:
          `${reported} of ${scene.crashes()} incidents delivered, ${others.length} others; ${found} of ${wanted} seconds after jumps in the history; ` +
          `at most ${(busiest * 100).toFixed(0)} % of a core${problems.length === 0 ? '' : `; ${problems.join('; ')}`}`,
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
}
