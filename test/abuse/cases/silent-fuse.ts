// FUSE file systems that never answer, where the agent looks into containers: for sockets of probes in /tmp, for device nodes in /dev.
import { compiler } from '../../fakes/nvml/build.ts'
import { h100, hostOf } from '../../fakes/nvml/scenario.ts'
import { startAgent } from '../../setup/agent.ts'
import { poll } from '../../setup/poll.ts'
import { fuseUnavailable, startSilentFuse } from '../../setup/silent-fuse.ts'
import { inspected, listed, serveContainers, startEngineServer } from '../../unit/containers/engine-server.ts'
import { missedSeconds, sampled } from '../parts/watch.ts'
import type { AbuseCase } from '../abuse-case.ts'

const GPU = { HostConfig: { Runtime: 'nvidia', DeviceRequests: [{ Driver: '', Count: -1, DeviceIDs: null, Capabilities: [['gpu']] }] } }
const idAt = (n: number): string => `f5e${n}`.padEnd(64, '0')

export const silentFuse: AbuseCase = {
  id: 'silent-fuse',
  area: 'probe',
  fault: 'containers whose /tmp, /dev, device nodes and probe socket lie on FUSE file systems that never answer',
  promised: 'none of them is asked anything, sampling is not late, the agent ends when it is told to',
  unavailable: () => (compiler === undefined ? 'needs a C compiler' : fuseUnavailable()),
  hasShortForm: true,
  besideOthers: true,
  async run({ short }) {
    const engine = await startEngineServer()
    await using directories = await startSilentFuse('directories', idAt(1))
    await using entries = await startSilentFuse('entries', idAt(2))
    const boxes = [directories, entries]
    const container = (n: number, pid: number) => ({
      list: listed(idAt(n), `box-${n}`),
      inspect: inspected(idAt(n), `box-${n}`, { state: { Pid: pid }, rest: GPU }),
    })
    engine.handle = serveContainers(new Map(boxes.map(({ pid }, at) => [idAt(at + 1), container(at + 1, pid)])))
    try {
      const processes = boxes.map(({ pid }) => ({ pid, bytes: 4 * 2 ** 30 }))
      await using agent = await startAgent({
        scenario: { ...hostOf(1), gpus: [h100(0, {}, processes)] },
        env: { WARPWATCH_CONTAINERS__ENGINES: engine.socketPath, WARPWATCH_ALLOCATOR__DISCOVER: 'true', WARPWATCH_ALLOCATOR__ENABLED: 'true' },
      })
      const asked = (): number => boxes.reduce((sum, box) => sum + box.asked(), 0)
      await sampled(agent, [0])
      const begun = Date.now()
      // Both are known by name with their memory, so what looks into containers has had its turn.
      const named = async (): Promise<boolean> => {
        const page = await agent.metrics()
        return [1, 2].every((n) => page.value('warpwatch_container_gpu_memory_bytes', { container: `box-${n}` }) !== undefined)
      }
      await poll(named, { what: () => `both containers with their memory; the agent said: ${agent.stderr().slice(-1_500)}`, deadlineMs: 30_000, everyMs: 100 })
      // The doctor looks into the containers too.
      const examined = (await agent.get('/api/v1/doctor')).status
      await new Promise((resolve) => setTimeout(resolve, short ? 12_000 : 60_000))
      const missed = await missedSeconds(agent, 0, begun, Date.now() - 2_000)
      const questions = asked()
      const { code, signal } = await agent.terminate()
      return {
        held: questions === 0 && code === 0 && examined === 200 && (short || missed <= 1),
        observed: `${questions} requests to 5 file systems of 2 containers; ${missed} seconds not sampled; the doctor answers with ${examined}; ended with ${signal ?? code}`,
      }
    } finally {
      await engine.close()
    }
  },
}
