// Do two services get the same GPUs without their author having said so?
import { defineCheck, type Finding } from '../../definition.ts'
import { gpuAsks } from '../../compose/gpu.ts'
import { eachProject, reservation, write } from '../../compose/look.ts'
import { placeText, subjectOf } from '../../compose/part.ts'
import type { ComposeService } from '../../compose/service.ts'

type Taker = { readonly service: ComposeService; readonly count: number | 'all' }

/** Those that compute: what wants NVML alone, as monitors do, takes no memory from anybody. */
function takersOf(service: ComposeService): readonly Taker[] {
  const asks = gpuAsks(service).filter(({ capabilities, driver }) => capabilities.includes('gpu') || driver === 'nvidia')
  const watches = (capabilities: readonly string[]): boolean =>
    capabilities.includes('utility') && !capabilities.includes('compute') && !capabilities.includes('all')
  const [first] = asks.filter(({ capabilities, count }) => !watches(capabilities) && count !== undefined && count !== 0)
  if (first?.count === undefined || service.family?.gpu === 'none' || service.family?.name === 'dcgm-exporter') return []
  return [{ service, count: first.count }]
}

export const composeGpuShared = defineCheck({
  id: 'compose-gpu-shared',
  group: 'compose',
  title: 'no two services get the same GPUs by count, which always begins at the first',
  covers: ['shared_gpu', 'neighbour_pressure', 'cuda_oom'],
  async run(around) {
    const gpus = (await around.nvml().catch(() => undefined))?.gpus ?? []
    return await eachProject(around, 'no two services ask for GPUs by count', (project): readonly Finding[] => {
      const takers = project.services.flatMap(takersOf)
      const [first, second] = takers
      if (first === undefined || second === undefined) return []
      const names = takers.map(({ service, count }) => `${service.name} (count: ${count}, ${placeText(service)})`).join(', ')
      if (gpus.length === 1) return [{ status: 'pass', summary: `${names} share the one GPU of this host` }]
      return [
        {
          status: 'warn',
          subject: subjectOf(second.service),
          summary: `several services get the same GPUs: ${names}. A count starts at GPU 0 for each of them, and the engine does not divide them; one may take the memory that another needs`,
          remedies: takers.slice(0, 8).map(({ service }, index) => {
            const gpu = gpus.length === 0 ? index : (gpus[index % gpus.length]?.index ?? index)
            return write(service, project, `On a host with several GPUs name that of ${service.name}.`, reservation(service, `device_ids: ["${gpu}"]`))
          }),
        },
      ]
    })
  },
})
