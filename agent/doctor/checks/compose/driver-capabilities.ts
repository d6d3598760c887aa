// Does each service that gets a GPU get the parts of the driver that it needs: compute for CUDA, utility for NVML?
import { defineCheck } from '../../definition.ts'
import type { Remedy } from '../../../model/fault.ts'
import { DRIVER_CAPABILITIES, givenOf, gpuAsks, gpuGiven } from '../../compose/gpu.ts'
import { complainOf, eachService, passOf, reservation, skipOf, write, writeEnv } from '../../compose/look.ts'
import { at } from '../../compose/part.ts'

const NAME = 'NVIDIA_DRIVER_CAPABILITIES'

export const composeDriverCapabilities = defineCheck({
  id: 'compose-driver-capabilities',
  group: 'compose',
  title: 'each service with a GPU gets compute and utility of the driver',
  covers: ['nvml_allocator_assert', 'gpu_not_visible', 'cuda_library_missing'],
  async run(around) {
    const [distribution, engine] = await Promise.all([around.distribution().catch(() => undefined), around.engine().catch(() => undefined)])
    return await eachService(around, 'no service asks for a GPU', (service, project) => {
      const given = gpuGiven(service, engine?.defaultRuntime)
      if (given === undefined || given === 'node') return []
      if (distribution?.wsl === 2) return [skipOf(service, 'under WSL2 all libraries of the driver are given')]
      if (given === 'CDI') return [passOf(service, 'given by CDI, which gives all of the driver')]
      // The engine hands on the capabilities of a request; where there are none, the variable counts.
      const asks = gpuAsks(service)
      const asked = asks.flatMap(({ capabilities }) => capabilities).filter((one) => DRIVER_CAPABILITIES.includes(one))
      const variable = service.env.get(NAME)
      if (asked.length === 0 && variable !== undefined && variable.value === undefined)
        return [skipOf(service, `${NAME} comes from a variable that is not set here`, variable)]
      const text = asked.length > 0 ? asked.join(',') : (variable?.value ?? '')
      if (text === '') return [passOf(service, 'compute and utility, unless its image says otherwise')]
      const [ask] = asks
      const requested = asked.length > 0 && ask !== undefined
      const place = requested ? at(ask.part, 'capabilities') : variable
      const remedy = (why: string): Remedy =>
        requested
          ? write(service, project, why, reservation(service, givenOf(ask), 'gpu, compute, utility'))
          : writeEnv(service, project, why, NAME, 'compute,utility')
      const names = text.split(',').map((one) => one.trim())
      const unknown = names.filter((one) => !DRIVER_CAPABILITIES.includes(one))
      if (unknown.length > 0) {
        const message = `${NAME} must be some of ${DRIVER_CAPABILITIES.join(', ')}, not "${unknown.join(',').slice(0, 60)}": the container does not start`
        return [complainOf('fail', service, place, message, [remedy('Name those that there are.')])]
      }
      const has = (one: string): boolean => names.includes('all') || names.includes(one)
      const cuda = service.family?.gpu === 'cuda' && service.family.name !== 'dcgm-exporter'
      if (!has('compute')) {
        if (!cuda) return [passOf(service, `${text}: NVML without CUDA, as monitors want it`, place)]
        return [
          complainOf('fail', service, place, `it gets ${text} of the driver, not compute: without libcuda.so.1 it finds no GPU`, [remedy('Ask for both.')]),
        ]
      }
      if (has('utility')) return [passOf(service, text, place)]
      return [
        complainOf(
          cuda ? 'fail' : 'warn',
          service,
          place,
          `it gets ${text} of the driver, not utility: without NVML PyTorch's out of memory becomes "NVML_SUCCESS == r INTERNAL ASSERT FAILED", and nvidia-smi is missing`,
          [remedy('Ask for both.')],
        ),
      ]
    })
  },
})
