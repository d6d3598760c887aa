// Was each container given the parts of the driver that it needs: compute for CUDA, utility for NVML?
import { defineCheck } from '../../definition.ts'
import { cdiNames } from '../../parts/cdi.ts'
import { complain, eachContainer, pass, recreate, skipped } from '../../container/view.ts'

const NAME = 'NVIDIA_DRIVER_CAPABILITIES'
/** Of the container toolkit's documentation. */
const KNOWN = ['all', 'compute', 'compat32', 'display', 'graphics', 'ngx', 'utility', 'video']
/** What the toolkit gives where nothing is said. */
const DEFAULT = 'utility,compute'

export const containerDriverCapabilities = defineCheck({
  id: 'container-driver-capabilities',
  group: 'container',
  title: `${NAME} has compute and utility`,
  covers: ['nvml_allocator_assert', 'gpu_not_visible', 'cuda_library_missing'],
  async run(around) {
    const wsl = (await around.distribution()).wsl === 2
    return await eachContainer(around, async (view) => {
      const { container } = view
      if (wsl) return [skipped('under WSL2 all libraries of the driver are given')]
      if (cdiNames(container).length > 0) return [pass('given by CDI, which gives all of the driver')]
      const { wish } = container
      const bare = wish.requests.length === 0 && wish.runtime !== 'nvidia' && container.runtime !== 'nvidia' && container.engine.defaultRuntime !== 'nvidia'
      if (bare) return [skipped('it got device nodes without the container toolkit; its image has to bring the libraries')]
      // --gpus '"device=0","capabilities=utility"' goes before the variable.
      const flagged = wish.requests.flatMap(({ capabilities }) => capabilities).filter((one) => KNOWN.includes(one))
      const env = container.env.get(NAME)
      const text = flagged.length > 0 ? flagged.join(',') : env === undefined || env === '' ? DEFAULT : env
      const given = text.split(',').map((one) => one.trim())
      const unknown = given.filter((one) => !KNOWN.includes(one))
      const set = recreate(container, `-e ${NAME}=compute,utility`, `environment: {${NAME}: "compute,utility"}`)
      if (unknown.length > 0)
        return [complain('fail', `${NAME} must be some of ${KNOWN.join(', ')}, not "${unknown.join(',')}": such a container does not start`, [set])]
      const has = (one: string): boolean => given.includes('all') || given.includes(one)
      if (!has('compute')) {
        // Monitors want NVML alone.
        if ((await view.torches().catch(() => [])).length === 0) return [pass(`${text}: NVML without CUDA, as monitors want it`)]
        return [complain('fail', `${NAME}=${text} lacks compute: there is no libcuda.so.1 in it, PyTorch finds no GPU`, [set])]
      }
      if (!has('utility')) {
        // An image may bring NVML's library by itself, or the engine may use CDI behind the flag.
        const there = await (async () => await (await view.libraries()).find('libnvidia-ml.so.1'))().catch(() => undefined)
        if (there !== undefined) return [pass(`${text}; NVML is there all the same`)]
        return [
          complain(
            'fail',
            `${NAME}=${text} lacks utility: NVML is missing, nvidia-smi too, and PyTorch's out of memory becomes "NVML_SUCCESS == r INTERNAL ASSERT FAILED"`,
            [set],
          ),
        ]
      }
      return [pass(text === env ? `${NAME}=${text}` : text)]
    })
  },
})
