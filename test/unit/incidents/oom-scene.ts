// Jobs with a probe on one GPU, and what is reported when their memory does not suffice.
import type { AllocatorOom, AllocatorSample, Event } from '../../../agent/model/event.ts'
import type { Incident } from '../../../agent/model/incident.ts'
import { box, reading, scrape, T, uuid, type Scene } from './scene.ts'

export const GIB = 2 ** 30
export const MIB = 2 ** 20
export const TOTAL = 24 * GIB
export const CONTEXT = 600 * MIB
export const trainer = box('trainer', [0])
const notebook = box('notebook', [0])
export const TRAINER = 4_242
export const NOTEBOOK = 5_555

type Second = { readonly allocated: number; readonly reserved: number; readonly notebook?: number; readonly outside?: number; readonly probe?: boolean }

const holds = (pid: number, { name, id }: typeof trainer, bytes: number) =>
  reading('process_gpu_memory_bytes', { gpu: '0', uuid: uuid(0), pid: String(pid), process: 'python', container: name, container_id: id }, bytes)

/** One second of a GPU with a job on it, and perhaps a neighbour. */
export function secondOf(
  t: number,
  { allocated, reserved, notebook: other = 0, outside = 0, probe = true }: Second,
  more: Partial<AllocatorSample> = {},
  neighbour = NOTEBOOK,
): readonly Event[] {
  const used = reserved + CONTEXT + outside + other
  const place = { gpu: '0', uuid: uuid(0) }
  return [
    scrape(t, 'gpu', [reading('gpu_memory_used_bytes', place, used), reading('gpu_memory_free_bytes', place, TOTAL - used)]),
    scrape(t, 'processes', [holds(TRAINER, trainer, reserved + CONTEXT + outside), ...(other === 0 ? [] : [holds(neighbour, notebook, other)])]),
    ...(probe
      ? [
          {
            type: 'allocator' as const,
            t: t + 400,
            pid: TRAINER,
            uuid: uuid(0),
            container: 'trainer',
            backend: 'native' as const,
            expandable: false,
            limit_bytes: null,
            stats: { allocated_bytes: allocated, reserved_bytes: reserved, inactive_split_bytes: 0 },
            ...more,
          },
        ]
      : []),
  ]
}
export const minutes = (scene: Scene, count: number, at: (minute: number) => Second, more: Partial<AllocatorSample> = {}): number => {
  for (let second = 0; second < count * 60; second++) scene.feed(...secondOf(T + second * 1_000, at(second / 60), more))
  return T + count * 60_000
}
export const oomOf = (t: number, allocated: number, reserved: number, request: number, free: number, limit = TOTAL): AllocatorOom => ({
  type: 'allocator_oom',
  t,
  pid: TRAINER,
  uuid: uuid(0),
  container: 'trainer',
  request_bytes: request,
  limit_bytes: limit,
  free_bytes: free,
  stats: { allocated_bytes: allocated, reserved_bytes: reserved, num_ooms: 1 },
})
export const gib = (bytes: number): string => `${(bytes / GIB).toFixed(2)} GiB`
export const message = (allocated: number, reserved: number, request: number, free: number, processes = ''): string =>
  `torch.OutOfMemoryError: CUDA out of memory. Tried to allocate ${gib(request)}. GPU 0 has a total capacity of ${gib(TOTAL)} of which ${gib(free)} is free. ${processes}` +
  `Of the allocated memory ${gib(allocated)} is allocated by PyTorch, and ${gib(reserved - allocated)} is reserved by PyTorch but unallocated.`
export const texts = ({ remedies }: Incident): string => remedies.map(({ text, command = '' }) => `${text} ${command}`).join('\n')
