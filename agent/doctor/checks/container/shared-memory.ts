// Has each container that runs PyTorch enough shared memory for loader workers and NCCL?
import { GIB, memoryText } from '../../../text/bytes.ts'
import { defineCheck } from '../../definition.ts'
import { complain, eachContainer, pass, recreate, skipped } from '../../container/view.ts'

/** Docker's default is 64 MiB; workers pass whole batches, NCCL takes some ten MiB for each pair of GPUs. Below this, training is known to fail. */
const LEAST = GIB

export const containerSharedMemory = defineCheck({
  id: 'container-shared-memory',
  group: 'container',
  title: 'each container that runs PyTorch has enough shared memory',
  covers: ['shm_exhausted', 'nccl_error'],
  run: async (around) =>
    await eachContainer(around, async (view) => {
      const { container } = view
      if (container.ipcMode === 'host') return [pass("it uses the host's shared memory")]
      const space = container.files === undefined ? undefined : await container.files.space('/dev/shm')
      const total = space?.totalBytes ?? container.shmSizeBytes
      if (total === undefined) return [skipped('the engine does not report the size of its /dev/shm')]
      const more = [recreate(container, '--shm-size=8g', 'shm_size: 8gb')]
      // Nearly full is as bad as small.
      if (space !== undefined && total > 0 && space.availableBytes < total / 20) {
        return [complain('warn', `its /dev/shm is full: ${memoryText(space.availableBytes)} of ${memoryText(total)} are left`, more)]
      }
      if (total >= LEAST) return [pass(`/dev/shm has ${memoryText(total)}`)]
      const torch = (await view.torches().catch(() => []))[0]
      if (torch === undefined) return [skipped(`/dev/shm has ${memoryText(total)}; no PyTorch is seen in it that would need more`)]
      return [
        complain(
          'warn',
          `/dev/shm has ${memoryText(total)}: loader workers of PyTorch (num_workers above 0) and NCCL fail with "No space left on device" or a bus error; expected ${memoryText(LEAST)} or more`,
          more,
        ),
      ]
    }),
})
