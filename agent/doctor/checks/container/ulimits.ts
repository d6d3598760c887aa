// Do the limits of each container's main process let it open its files, lock memory for InfiniBand, and grow its stack?
import { defineCheck } from '../../definition.ts'
import { complain, eachContainer, pass, recreate, type ContainerFinding } from '../../container/view.ts'

/** What Linux gives every process unless it is changed. */
const FILES = 1_024
const STACK = 8 * 2 ** 20
/** Registering memory for RDMA locks it; NCCL registers buffers of some hundred MiB. */
const LOCKED = 2 ** 30

export const containerUlimits = defineCheck({
  id: 'container-ulimits',
  group: 'container',
  title: 'open files, locked memory and stack of each container are not limited too tightly',
  covers: ['nccl_error'],
  run: async (around) =>
    await eachContainer(around, async (view) => {
      const { container } = view
      const limits = await view.limits()
      const found: ContainerFinding[] = []
      const soft = (name: string): number | undefined => limits.get(name)?.soft
      const [open, stack, locked] = [soft('open files'), soft('stack size'), soft('locked memory')]
      if (open !== undefined && open < FILES) {
        found.push(
          complain('warn', `it may open ${open} files: loader workers end with "Too many open files"; expected ${FILES} or more`, [
            recreate(container, '--ulimit nofile=65536:524288', 'ulimits: {nofile: {soft: 65536, hard: 524288}}'),
          ]),
        )
      }
      if (stack !== undefined && stack < STACK) {
        found.push(
          complain('warn', `its stack is limited to ${Math.round(stack / 1_024)} KiB: native code may end with a segmentation fault; expected 8 MiB or more`, [
            recreate(container, '--ulimit stack=67108864', 'ulimits: {stack: 67108864}'),
          ]),
        )
      }
      const rdma = ((await view.files().list('/dev')) ?? []).includes('infiniband')
      if (rdma && locked !== undefined && locked < LOCKED) {
        found.push(
          complain(
            'warn',
            `it has InfiniBand and may lock ${Math.round(locked / 1_024)} KiB: NCCL ends with "ibv_reg_mr … Cannot allocate memory"; expected no limit`,
            [recreate(container, '--ulimit memlock=-1', 'ulimits: {memlock: -1}')],
          ),
        )
      }
      if (found.length > 0) return found
      return [
        pass(
          `${open === undefined ? 'its limits are' : `${open === Infinity ? 'any number of' : open} open files${rdma ? ', locked memory for InfiniBand' : ''}: its limits are`} wide enough`,
        ),
      ]
    }),
})
