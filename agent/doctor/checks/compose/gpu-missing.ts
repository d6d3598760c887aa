// Does a service whose image is made for CUDA get a GPU?
import { defineCheck } from '../../definition.ts'
import { gpuAsks, gpuGiven, visibleNames } from '../../compose/gpu.ts'
import { complainOf, eachService, passOf, reservation, write } from '../../compose/look.ts'
import { at, textOf } from '../../compose/part.ts'
import type { ComposeService } from '../../compose/service.ts'
import { requestProblems } from '../../compose/request.ts'

/** Its author says so. */
function forCpu({ env, command }: ComposeService): boolean {
  const is = (name: string, values: readonly string[]): boolean => values.includes(env.get(name)?.value?.toLowerCase() ?? '?')
  return (
    is('CUDA_VISIBLE_DEVICES', ['', '-1', 'none']) ||
    is('NVIDIA_VISIBLE_DEVICES', ['', 'none', 'void']) ||
    ['DEVICE', 'TORCH_DEVICE', 'VLLM_TARGET_DEVICE', 'JAX_PLATFORMS'].some((name) => is(name, ['cpu'])) ||
    /--device[= ]cpu\b|--cpu(?:\s|$)/.test(command)
  )
}

export const composeGpuMissing = defineCheck({
  id: 'compose-gpu-missing',
  group: 'compose',
  title: 'each service whose image is made for CUDA gets a GPU',
  covers: ['gpu_not_visible'],
  async run(around) {
    const [nvml, engine] = await Promise.all([around.nvml().catch(() => undefined), around.engine().catch(() => undefined)])
    const hasGpu = (nvml?.gpus.length ?? 0) > 0
    return await eachService(around, 'no service has an image that is known to be made for CUDA', (service, project) => {
      const { family, env } = service
      const visible = visibleNames(service).length > 0
      if (family?.gpu !== 'cuda' && family?.gpu !== 'either' && !visible) return []
      // compose-gpu-request reports what is wrong with a request.
      if (gpuGiven(service, engine?.defaultRuntime) !== undefined || gpuAsks(service).length > 0 || requestProblems(service).length > 0)
        return [passOf(service, 'it asks for a GPU')]
      if (forCpu(service)) return [passOf(service, 'it is meant for the CPU')]
      const ask = write(service, project, 'Give it one (or several).', reservation(service, 'count: 1'))
      if (visible) {
        const runtime = textOf(at(service.part, 'runtime'))
        return [
          complainOf(
            'warn',
            service,
            env.get('NVIDIA_VISIBLE_DEVICES'),
            `NVIDIA_VISIBLE_DEVICES does nothing under the runtime ${runtime ?? engine?.defaultRuntime ?? 'runc'}: it gets no GPU`,
            [ask],
          ),
        ]
      }
      if (family?.gpu === 'either') {
        if (!hasGpu) return [passOf(service, `${family.name} works on the CPU, and no GPU is seen here`)]
        return [complainOf('warn', service, undefined, `${family.name} gets no GPU and works on the CPU, many times slower (fine, if that is meant)`, [ask])]
      }
      return [
        complainOf(
          'warn',
          service,
          at(service.part, 'image'),
          `its image (${family?.name ?? 'CUDA'}) is made for CUDA, but it asks for no GPU (fine, if it is meant to run on the CPU)`,
          [ask],
        ),
      ]
    })
  },
})
