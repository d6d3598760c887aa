// Does CUDA_VISIBLE_DEVICES of each container leave GPUs that are there? It counts within what the container was given, not on the host.
import { defineCheck } from '../../definition.ts'
import { complain, eachContainer, pass, recreate, skipped } from '../../container/view.ts'
import { resolveGpuRequest } from '../../../sources/containers/gpu-request.ts'

const NAME = 'CUDA_VISIBLE_DEVICES'

export const containerVisibleDevices = defineCheck({
  id: 'container-visible-devices',
  group: 'container',
  title: `${NAME} of each container names GPUs that it has`,
  covers: ['gpu_not_visible', 'unused_gpu'],
  async run(around) {
    const nvml = await around.nvml().catch(() => undefined)
    const wsl = (await around.distribution()).wsl === 2
    return await eachContainer(around, async (view) => {
      const { container } = view
      const text = (await view.env()).get(NAME)
      if (text === undefined) return [pass('not set: it sees all GPUs that it was given')]
      const drop = { text: `Take ${NAME} out of the container's environment: which GPUs it has is decided when it is given them.`, command: `unset ${NAME}` }
      const names = text.split(',').map((name) => name.trim())
      // CUDA takes the list up to the first name that it does not know (CUDA C++ programming guide, environment variables).
      if (names[0] === '' || names[0] === '-1' || names[0] === 'NoDevFiles') {
        return [complain('warn', `${NAME}="${text}" hides every GPU from its programs, though it was given some`, [drop])]
      }
      const odd = names.find((name) => !/^(\d+|GPU-[0-9a-fA-F-]+|MIG-\S+)$/.test(name))
      if (odd !== undefined) return [complain('fail', `${NAME}="${text}" must be numbers or UUIDs with commas between, not "${odd}"`, [drop])]
      if (new Set(names).size < names.length) return [complain('fail', `${NAME}="${text}" names one GPU twice: CUDA then shows none`, [drop])]
      if (nvml === undefined || nvml.gpus.length === 0) return [skipped(`${NAME}=${text}; the GPUs of this host are not known`)]
      const given = wsl
        ? nvml.gpus
        : (resolveGpuRequest({ ...container.wish, ...(container.runtime === undefined ? {} : { runtime: container.runtime }) }, nvml.gpus)?.gpus ?? [])
      if (given.length === 0) return [skipped(`${NAME}=${text}; which GPUs it was given cannot be determined`)]
      if (names.some((name) => name.startsWith('MIG-'))) return [skipped(`${NAME}=${text}: MIG devices are not compared`)]
      const there = (name: string): boolean =>
        /^\d+$/.test(name) ? Number(name) < given.length : given.some(({ uuid }) => uuid.toLowerCase().startsWith(name.toLowerCase()))
      const first = names.findIndex((name) => !there(name))
      if (first < 0) return [pass(`${NAME}=${text}`)]
      const numbers = `inside the container its ${given.length === 1 ? 'one GPU is number 0' : `${given.length} GPUs are numbers 0 to ${given.length - 1}`}, whatever their numbers on the host`
      const right = given.map((_, at) => at).join(',')
      return [
        complain(
          'fail',
          `${NAME}=${text}: ${names[first] ?? ''} is not there${first === 0 ? ', so CUDA shows none' : ', so CUDA stops before it'}; ${numbers}`,
          [drop, recreate(container, `-e ${NAME}=${right}`, `environment: {${NAME}: "${right}"}`)],
        ),
      ]
    })
  },
})
