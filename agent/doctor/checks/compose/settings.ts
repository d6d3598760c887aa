// Settings of services that end a job, or hide why it ended: the allocator's, CUDA_VISIBLE_DEVICES, restart, limits.
import { defineCheck, type Finding } from '../../definition.ts'
import { parseAllocConf } from '../../parts/alloc-conf.ts'
import { gpuAsks, gpuGiven } from '../../compose/gpu.ts'
import { complainOf, eachService, passOf, write, writeEnv } from '../../compose/look.ts'
import { at, textOf } from '../../compose/part.ts'
import type { ComposeProject } from '../../compose/project.ts'
import type { ComposeService } from '../../compose/service.ts'
import { sizeOf } from '../../compose/size.ts'

type Judge = (service: ComposeService, project: ComposeProject, gpus: number | undefined) => readonly Finding[]

const allocator: Judge = (service, project) =>
  ['PYTORCH_CUDA_ALLOC_CONF', 'PYTORCH_ALLOC_CONF'].flatMap((name) => {
    const set = service.env.get(name)
    if (set?.value === undefined || set.value.trim() === '') return []
    return parseAllocConf(set.value).problems.map(({ level, message }) =>
      complainOf(
        level === 'refused' ? 'fail' : 'warn',
        service,
        set,
        `${name}: ${message}${level === 'refused' ? '; PyTorch ends at its first use of the GPU' : ''}`,
        [writeEnv(service, project, 'A setting that helps most against fragmentation, and needs no tuning.', name, 'expandable_segments:True')],
      ),
    )
  })

/** Inside a container the GPUs that it was given are counted from 0 again. */
const visible: Judge = (service, project, gpus) => {
  const set = service.env.get('CUDA_VISIBLE_DEVICES')
  const text = set?.value?.trim()
  const asks = gpuAsks(service)
  if (set === undefined || text === undefined || asks.length === 0) return []
  if (text === '' || text === '-1') {
    return [
      complainOf('warn', service, set, 'CUDA_VISIBLE_DEVICES hides every GPU, though it asks for some', [
        { text: 'Take the variable out, or the reservation of GPUs if it is meant for the CPU.' },
      ]),
    ]
  }
  const counts = asks.map(({ ids, count }) => (ids.length > 0 ? ids.length : count === 'all' ? gpus : count))
  const given = counts.every((count) => count !== undefined) ? counts.reduce((sum: number, count) => sum + (count ?? 0), 0) : undefined
  const numbers = text.split(',').map((one) => one.trim())
  const beyond = numbers.filter((one) => /^\d+$/.test(one) && given !== undefined && Number(one) >= given)
  if (beyond.length === 0 || given === undefined) return []
  return [
    complainOf(
      'fail',
      service,
      set,
      `CUDA_VISIBLE_DEVICES=${text}: it is given ${given === 1 ? 'one GPU, which is' : `${given} GPUs, which are`} number ${given === 1 ? '0' : `0 to ${given - 1}`} in it, whatever their numbers on the host; CUDA finds no GPU ${beyond.join(', ')}`,
      [
        writeEnv(
          service,
          project,
          'Take CUDA_VISIBLE_DEVICES out: the reservation chooses the GPU already. Or count from 0.',
          'CUDA_VISIBLE_DEVICES',
          Array.from({ length: Math.min(numbers.length, given) }, (_, index) => index).join(','),
        ),
      ],
    ),
  ]
}

const restart: Judge = (service, project) => {
  const written = at(service.part, 'restart')
  const text = textOf(written)
  if (written === undefined || (written.kind === 'scalar' && !written.known)) return []
  const valid = written.kind === 'scalar' && typeof written.value === 'string' && /^(?:no|always|unless-stopped|on-failure(?::\d+)?)$/.test(text ?? '')
  if (valid) return []
  const yaml = written.kind === 'scalar' && written.value === false ? 'restart: "no"' : 'restart: unless-stopped'
  return [
    complainOf('fail', service, written, 'restart must be no (in quotes), always, unless-stopped or on-failure:N: Compose refuses the file', [
      write(service, project, 'Write one of those.', yaml),
    ]),
  ]
}

const limits: Judge = (service, project) => {
  const [old, own] = [at(service.part, 'mem_limit'), at(service.part, 'deploy', 'resources', 'limits', 'memory')]
  const wrong = [old, own].find((part) => sizeOf(part) === 'invalid')
  if (wrong !== undefined) {
    return [
      complainOf('fail', service, wrong, 'the memory limit must be a size such as 16g or 512m: Compose refuses the file', [
        write(service, project, 'Write a number with b, k, m or g.', 'mem_limit: 16g'),
      ]),
    ]
  }
  const sizes = [sizeOf(old), sizeOf(own)]
  if (sizes[0] === undefined || sizes[1] === undefined || sizes[0] === sizes[1]) return []
  return [
    complainOf('fail', service, old, 'mem_limit and deploy.resources.limits.memory differ: Compose refuses the project', [
      { text: 'Keep one of them: take the line mem_limit out.' },
    ]),
  ]
}

export const composeSettings = defineCheck({
  id: 'compose-settings',
  group: 'compose',
  title: 'settings of services are valid: the allocator, CUDA_VISIBLE_DEVICES, restart, memory limits',
  covers: ['fragmentation_pressure', 'cuda_oom', 'gpu_not_visible', 'oom_restart_loop'],
  async run(around) {
    const nvml = await around.nvml().catch(() => undefined)
    return await eachService(around, 'no service has one of these settings', (service, project) => {
      const found = [allocator, visible, restart, limits].flatMap((judge) => judge(service, project, nvml?.gpus.length))
      if (found.length > 0) return found
      const policy = textOf(at(service.part, 'restart'))
      // Worth knowing and no mistake: it is what most want.
      if (policy === 'always' && gpuGiven(service, undefined) !== undefined)
        return [
          passOf(
            service,
            'restart: always also hides a crash loop; docker ps shows "Restarting", Warpwatch reports oom_restart_loop',
            at(service.part, 'restart'),
          ),
        ]
      const any =
        ['restart', 'mem_limit'].some((key) => at(service.part, key) !== undefined) ||
        [...service.env.keys()].some((name) => /ALLOC_CONF$|^CUDA_VISIBLE_DEVICES$/.test(name))
      return any ? [passOf(service, 'its settings are valid')] : []
    })
  },
})
