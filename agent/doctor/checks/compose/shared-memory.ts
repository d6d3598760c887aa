// Has each service that trains, or serves over several GPUs, enough shared memory, and does its memory limit leave room for it?
import { GIB, MIB, memoryText } from '../../../text/bytes.ts'
import { defineCheck, type Finding } from '../../definition.ts'
import { gpuGiven } from '../../compose/gpu.ts'
import { complainOf, eachService, passOf, write } from '../../compose/look.ts'
import { at, itemsOf, textOf, textsOf } from '../../compose/part.ts'
import type { ComposeService } from '../../compose/service.ts'
import { sizeOf } from '../../compose/size.ts'

/** What container-shared-memory asks for, too; Docker's default is 64 MiB. */
const LEAST = GIB
const DEFAULT = 64 * MIB
/** Launchers and flags that start several processes, or loader workers. */
const SEVERAL =
  /\btorchrun\b|\btorch\.distributed\b|\baccelerate launch\b|\bdeepspeed\b|--tensor-parallel-size|--tp(?:-size)?[= ]|--num[-_]workers|--nproc[-_]per[-_]node|\bray start\b/

/** The host's own, or a mount of any size. */
function mounted({ part }: ComposeService): boolean {
  const inside = (text: string): boolean => /(?:^|:)\/dev\/shm(?::|$)/.test(text)
  return textsOf(at(part, 'tmpfs')).some(inside) || itemsOf(at(part, 'volumes')).some((item) => inside(textOf(item) ?? textOf(at(item, 'target')) ?? ''))
}

export const composeSharedMemory = defineCheck({
  id: 'compose-shared-memory',
  group: 'compose',
  title: 'each service that trains or serves over several GPUs has enough shared memory, and a memory limit above it',
  covers: ['shm_exhausted', 'nccl_error', 'host_oom_kill'],
  run: async (around) =>
    await eachService(around, 'no service is known to need much shared memory', (service, project): readonly Finding[] => {
      const { part, family, command } = service
      const written = at(part, 'shm_size')
      const size = sizeOf(written)
      const limit = [at(part, 'mem_limit'), at(part, 'deploy', 'resources', 'limits', 'memory')].map(sizeOf).find((bytes) => typeof bytes === 'number')
      const bounded = typeof limit === 'number' && limit > 0
      const enough = bounded && limit < 16 * LEAST ? `shm_size: ${Math.max(1, Math.floor(limit / LEAST / 2))}gb` : 'shm_size: 8gb'
      if (size === 'invalid') {
        return [
          complainOf('fail', service, written, 'shm_size must be a size such as 8gb or 512m: Compose refuses the file', [
            write(service, project, 'Write a number with b, k, m or g.', enough),
          ]),
        ]
      }
      const raised = (text: string): string =>
        at(part, 'mem_limit') === undefined ? `deploy:\n  resources:\n    limits:\n      memory: ${text}` : `mem_limit: ${text}`
      const ipc = textOf(at(part, 'ipc'))
      if (ipc === 'host' || ipc?.startsWith('service:') || ipc?.startsWith('container:')) {
        return [
          passOf(service, written === undefined ? `ipc: ${ipc}: it uses that shared memory` : `ipc: ${ipc}: shm_size has no effect beside it`, at(part, 'ipc')),
        ]
      }
      if (mounted(service)) return [passOf(service, 'it has a mount of its own at /dev/shm')]
      const wants = (family?.sharedMemory ?? false) || (SEVERAL.test(command) && (gpuGiven(service, undefined) !== undefined || family?.gpu === 'cuda'))
      if (size === undefined && (written !== undefined || !wants)) return []
      const total = size ?? DEFAULT
      if (bounded && total >= limit && size !== undefined) {
        return [
          complainOf(
            'warn',
            service,
            written,
            `its shared memory (${memoryText(total)}) counts against its memory limit (${memoryText(limit)}), and alone can fill it: the kernel then kills it`,
            [write(service, project, 'Raise the limit.', raised(`${Math.ceil((total + limit) / LEAST)}g`)), write(service, project, 'Or take less.', enough)],
          ),
        ]
      }
      if (!wants || total >= LEAST) return [passOf(service, `/dev/shm has ${memoryText(total)}`, written)]
      const why = family?.sharedMemory === true ? family.name : 'several processes'
      return [
        complainOf(
          'warn',
          service,
          written,
          `${size === undefined ? `no shm_size, so that /dev/shm has ${memoryText(total)}` : `/dev/shm has ${memoryText(total)}`}: with ${why}, loader workers and NCCL end with "No space left on device" or a bus error; expected ${memoryText(LEAST)} or more`,
          [write(service, project, 'It is only a limit: memory is taken when it is used.', enough)],
        ),
      ]
    }),
})
