// Was each container that is made for a GPU given one, and one that this host has?
import { resolveGpuRequest, type HostGpu } from '../../../sources/containers/gpu-request.ts'
import { defineCheck } from '../../definition.ts'
import { complain, eachContainer, pass, recreate, skipped } from '../../container/view.ts'

const YAML = 'deploy: {resources: {reservations: {devices: [{driver: nvidia, count: all, capabilities: [gpu]}]}}}'

export const containerGpuGiven = defineCheck({
  id: 'container-gpu-given',
  group: 'container',
  title: 'each container that is made for a GPU was given one',
  covers: ['gpu_not_visible'],
  async run(around) {
    const nvml = await around.nvml().catch(() => undefined)
    const gpus: readonly HostGpu[] = nvml?.gpus ?? []
    return await eachContainer(
      around,
      async ({ container }) => {
        const { wish, wantsGpu, engine, runtime } = container
        if (wantsGpu === 'image') {
          const flag = engine.kind === 'podman' ? '--device nvidia.com/gpu=all' : '--gpus all'
          if (gpus.length === 0) return [skipped('its image is made for CUDA; no GPU of this host is seen that it could be given')]
          const variable = wish.visibleDevices !== undefined && !['', 'void', 'none'].includes(wish.visibleDevices)
          return [
            complain(
              'warn',
              variable
                ? `NVIDIA_VISIBLE_DEVICES=${wish.visibleDevices} does nothing under the runtime ${runtime ?? engine.defaultRuntime ?? 'runc'}: it has no GPU (fine, if it is meant to run on the CPU)`
                : 'its image is made for CUDA, but it was given no GPU (fine, if it is meant to run on the CPU)',
              [recreate(container, flag, YAML)],
            ),
          ]
        }
        const request = resolveGpuRequest(runtime === undefined ? wish : { ...wish, runtime: wish.runtime ?? runtime }, gpus)
        if (nvml === undefined || gpus.length === 0) return [skipped('it was given GPUs; which ones this host has is not known')]
        if (request === undefined) return [pass('it was given a GPU')]
        if (request.unknown.length > 0) {
          return [
            complain('fail', `asks for ${request.unknown.join(', ')}; this host has ${gpus.map(({ index, uuid }) => `${index} (${uuid})`).join(', ')}`, [
              { text: 'List the GPUs of this host, with their numbers and UUIDs.', command: 'nvidia-smi -L' },
              recreate(container, `--gpus '"device=${gpus[0]?.index ?? 0}"'`, YAML.replace('count: all', `device_ids: ["${gpus[0]?.index ?? 0}"]`)),
            ]),
          ]
        }
        const most = Math.max(0, ...wish.requests.map(({ count }) => count))
        if (most > gpus.length) {
          return [
            complain('fail', `asks for ${most} GPUs; this host has ${gpus.length}`, [
              recreate(container, `--gpus ${gpus.length}`, YAML.replace('all', String(gpus.length))),
            ]),
          ]
        }
        if (request.gpus.length === 0) return [skipped('which GPUs it was given cannot be determined')]
        return [pass(`was given GPU ${request.gpus.map(({ index }) => index).join(', ')}`)]
      },
      { alsoImages: true },
    )
  },
})
