// Does the memory limit of each container leave room for its work, and was it met already?
import { join } from 'node:path'
import { parseCgroupLines } from '../../../attribution/cgroup-path.ts'
import { GIB, memoryText } from '../../../text/bytes.ts'
import { defineCheck, type Surroundings } from '../../definition.ts'
import { complain, eachContainer, pass, recreate } from '../../container/view.ts'

/** Importing PyTorch and starting CUDA takes some 3 GiB of host memory, before any data. */
const LEAST = 4 * GIB

/** How often the kernel killed something in it for memory since it started; undefined: not reported. */
async function kills({ files, config }: Surroundings, pid: number): Promise<number | undefined> {
  const lines = parseCgroupLines((await files.readText(`/proc/${pid}/cgroup`)) ?? '')
  const v1 = lines.find(({ controllers }) => controllers.includes('memory'))
  const path = (v1 ?? lines.find(({ controllers }) => controllers.length === 0))?.path
  // A path seen from another namespace must never be joined to a mount.
  if (path === undefined || path.split('/').includes('..')) return undefined
  const root = config.containers.cgroup_root
  const text = await files.readText(v1 === undefined ? join(root, path, 'memory.events') : join(root, 'memory', path, 'memory.oom_control'))
  const count = /^oom_kill (\d+)$/m.exec(text ?? '')?.[1]
  return count === undefined ? undefined : Number(count)
}

export const containerMemory = defineCheck({
  id: 'container-memory',
  group: 'container',
  title: 'the memory limit of each container is enough for its work',
  covers: ['host_oom_kill', 'oom_restart_loop'],
  run: async (around) =>
    await eachContainer(around, async (view) => {
      const { container } = view
      const { memoryLimitBytes: limit, pid, files, shmSizeBytes: shm, ipcMode } = container
      const killed = pid === undefined || files === undefined ? undefined : await kills(around, pid).catch(() => undefined)
      const raise = (bytes: number) => [recreate(container, `--memory=${Math.ceil(bytes / GIB)}g`, `mem_limit: ${Math.ceil(bytes / GIB)}g`)]
      if (limit === undefined) return [pass('it has no limit of memory')]
      if (killed !== undefined && killed > 0)
        return [complain('warn', `the kernel has killed ${killed} of its processes at its limit of ${memoryText(limit)}`, raise(2 * limit))]
      if (ipcMode !== 'host' && shm !== undefined && shm > 64 * 2 ** 20 && shm >= limit) {
        return [
          complain(
            'warn',
            `its shared memory (${memoryText(shm)}) counts against its limit of ${memoryText(limit)}, and alone can fill it`,
            raise(shm + limit),
          ),
        ]
      }
      if (limit < LEAST && (await view.torches().catch(() => [])).length > 0) {
        return [
          complain(
            'warn',
            `its limit is ${memoryText(limit)}; PyTorch with CUDA alone takes about 3 GiB, and weights pass through memory on their way to the GPU`,
            raise(2 * LEAST),
          ),
        ]
      }
      return [pass(`its limit of memory is ${memoryText(limit)}`)]
    }),
})
