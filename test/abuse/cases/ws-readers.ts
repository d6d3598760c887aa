// Five hundred readers of the live stream, half of which never read: the others miss no frame, what waits for the deaf ones is bounded, and they are let go.
import { once } from 'node:events'
import { WebSocket } from 'ws'
import { compiler } from '../../fakes/nvml/build.ts'
import { eightH100 } from '../../fakes/nvml/scenario.ts'
import { startAgent } from '../../setup/agent.ts'
import { poll } from '../../setup/poll.ts'
import { inParallel, portOf } from '../parts/requests.ts'
import { deafReader } from '../parts/websocket.ts'
import { missedSeconds, mib, sampled, weigh } from '../parts/watch.ts'
import type { AbuseCase } from '../abuse-case.ts'

const EIGHT = [0, 1, 2, 3, 4, 5, 6, 7]
/** Beside the kernel's buffers a deaf reader may hold 256 KiB of frames that others hold too (agent/sinks/live/reader.ts). */
const MAX_GROWTH = 120 * 1024 ** 2

export const wsReaders: AbuseCase = {
  id: 'ws-readers',
  area: 'http',
  fault: '500 readers of the live stream, half of which never read',
  promised: 'the others get every frame, sampling is not late, memory stays bounded, the deaf are let go',
  unavailable: () => (compiler === undefined ? 'needs a C compiler' : undefined),
  hasShortForm: false,
  async run({ short }) {
    await using agent = await startAgent({ scenario: eightH100() })
    const port = portOf(agent.url)
    await sampled(agent, EIGHT)
    using memory = weigh(agent)
    const half = short ? 25 : 250
    const begun = Date.now()
    const deaf = await Promise.all(Array.from({ length: half }, () => deafReader(port)))
    const times = new Map<WebSocket, number[]>()
    await inParallel(Array.from({ length: half }), 25, async () => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`)
      const seen: number[] = []
      socket.on('message', (data: Buffer) => {
        const t = /^\{"type":"frame","t":(\d+)/.exec(data.subarray(0, 60).toString())?.[1]
        if (t !== undefined) seen.push(Number(t))
      })
      await once(socket, 'open')
      times.set(socket, seen)
    })
    const frames = short ? 3 : 75
    const whole = [...times.values()]
    await poll(() => whole.every((seen) => seen.length >= frames), { what: () => `${frames} frames for each reader`, deadlineMs: 180_000, everyMs: 100 })
    // Each frame is of a whole second: a leap is a frame that a reader missed.
    const leaps = whole.reduce((sum, seen) => sum + seen.filter((t, at) => at > 1 && t - (seen[at - 1] ?? t) > 1_500).length, 0)
    const streams = (await agent.metrics()).value('warpwatch_agent_stream_readers') ?? Number.NaN
    const missed = (await Promise.all(EIGHT.map((gpu) => missedSeconds(agent, gpu, begun, Date.now() - 2_000)))).reduce((sum, one) => sum + one, 0)
    const grown = memory.most()
    for (const socket of times.keys()) socket.terminate()
    for (const socket of deaf) socket.destroy()
    const held = leaps === 0 && grown < MAX_GROWTH && (short || missed === 0) && (short || streams <= half)
    return {
      held,
      observed: `${whole.reduce((sum, seen) => sum + seen.length, 0)} frames to ${half} readers, ${leaps} missed; ${half} deaf ones, ${streams - half} of them left after ${frames} s; ${missed} seconds not sampled; ${memory.text()} (${mib(grown)} more)`,
    }
  },
}
