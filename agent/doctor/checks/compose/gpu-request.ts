// Is each request for GPUs in a compose file one that Compose and the engine take, and one that this host can meet?
import { gpusByName, type HostGpu } from '../../../sources/containers/gpu-request.ts'
import { counted } from '../../../text/grammar.ts'
import { defineCheck, type Finding } from '../../definition.ts'
import { gpuAsks, gpuGiven, visibleNames, type GpuAsk } from '../../compose/gpu.ts'
import { complainOf, eachService, passOf, reservation, skipOf, write, writeEnv } from '../../compose/look.ts'
import { at, textOf } from '../../compose/part.ts'
import { requestProblems } from '../../compose/request.ts'
import type { ComposeService } from '../../compose/service.ts'

const WHERE = 'the GPUs of this host cannot be asked, so whether it has them is not known'
const named = (gpus: readonly HostGpu[]): string => gpus.map(({ index, uuid }) => `${index} (${uuid})`).join(', ')

/** What it wants by name or number. */
function wanted(service: ComposeService, asks: readonly GpuAsk[], byRuntime: boolean): { readonly ids: readonly string[]; readonly count: number } {
  const ids = asks.length > 0 ? asks.flatMap((ask) => ask.ids) : byRuntime ? visibleNames(service) : []
  return { ids, count: Math.max(0, ...asks.map(({ count }) => (typeof count === 'number' ? count : 0))) }
}
const ofAsks = (asks: readonly GpuAsk[]): string =>
  asks
    .map(({ ids, count }) => (ids.length > 0 ? `GPU ${ids.join(', ')}` : count === 'all' ? 'all GPUs' : count === undefined ? 'GPUs' : counted(count, 'GPU')))
    .join(' and ')

export const composeGpuRequest = defineCheck({
  id: 'compose-gpu-request',
  group: 'compose',
  title: 'each request for a GPU in a compose file is valid, and this host can meet it',
  covers: ['gpu_not_visible'],
  async run(around) {
    const [nvml, engine] = await Promise.all([around.nvml().catch(() => undefined), around.engine().catch(() => undefined)])
    const gpus: readonly HostGpu[] = nvml?.gpus ?? []
    return await eachService(around, 'no service asks for a GPU', (service, project) => {
      const problems = requestProblems(service)
      if (problems.length > 0) {
        return problems.map(({ status, place, message, why, yaml }): Finding =>
          complainOf(status, service, place, message, [write(service, project, why, yaml)]),
        )
      }
      const given = gpuGiven(service, engine?.defaultRuntime)
      if (given === undefined) return []
      const runtime = at(service.part, 'runtime')
      if (textOf(runtime) === 'nvidia' && engine?.kind === 'docker' && !engine.runtimes.has('nvidia')) {
        return [
          complainOf('fail', service, runtime, 'runtime: nvidia, but this engine has no such runtime: "unknown or invalid runtime name: nvidia"', [
            {
              text: 'Enter it in the engine (with the container toolkit installed).',
              command: 'sudo nvidia-ctk runtime configure --runtime=docker\nsudo systemctl restart docker',
            },
            write(service, project, 'Or ask for GPUs without it: take the line runtime out.', reservation(service, 'count: all')),
          ]),
        ]
      }
      const asks = gpuAsks(service)
      const [place] = asks
      const { ids, count } = wanted(service, asks, given === 'runtime')
      const words = asks.length > 0 ? ofAsks(asks) : ids.length > 0 ? `GPU ${ids.join(', ')}` : 'GPUs'
      if (ids.length === 0 && count === 0) return [passOf(service, `asks for ${words}`, place)]
      if (gpus.length === 0) return [skipOf(service, `asks for ${words}: ${WHERE}`, place)]
      const unknown = ids.filter((id) => gpusByName(id, gpus) === undefined)
      const list = { text: 'List the GPUs of this host, with their numbers and UUIDs.', command: 'nvidia-smi -L' }
      if (unknown.length > 0) {
        const first = gpus[0]?.index ?? 0
        return [
          complainOf('fail', service, place ?? service.env.get('NVIDIA_VISIBLE_DEVICES'), `asks for GPU ${unknown.join(', ')}; this host has ${named(gpus)}`, [
            list,
            given === 'runtime'
              ? writeEnv(service, project, 'Name one that there is.', 'NVIDIA_VISIBLE_DEVICES', String(first))
              : write(service, project, 'Name one that there is.', reservation(service, `device_ids: ["${first}"]`)),
          ]),
        ]
      }
      if (count > gpus.length) {
        return [
          complainOf('fail', service, place, `asks for ${count} GPUs; this host has ${gpus.length}`, [
            list,
            write(service, project, 'Ask for those that there are.', reservation(service, `count: ${gpus.length}`)),
          ]),
        ]
      }
      return [passOf(service, `asks for ${words}, which this host has`, place)]
    })
  },
})
