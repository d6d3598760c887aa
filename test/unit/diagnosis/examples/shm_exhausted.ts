// Full shared memory; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['shm_exhausted']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  { name: 'a worker', text: 'ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).', kinds: one },
  {
    name: 'a torch file',
    text: 'RuntimeError: unable to write to file </torch_51_2233_4>: No space left on device (28)',
    kinds: one,
    facts: { path: '/torch_51_2233_4' },
  },
  {
    name: 'the loader',
    text: "RuntimeError: DataLoader worker (pid 81) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory.",
    kinds: one,
    facts: { pid: 81 },
  },
  {
    name: 'NCCL',
    text: 'host1:90:90 [1] misc/shmutils.cc:87 NCCL WARN Error: failed to extend /dev/shm/nccl-AbC123 to 9637888 bytes',
    kinds: one,
    facts: { path: '/dev/shm/nccl-AbC123' },
  },
  {
    name: 'a path under /dev/shm',
    text: "OSError: [Errno 28] No space left on device: '/dev/shm/pym-77-abc'",
    kinds: one,
    facts: { path: '/dev/shm/pym-77-abc' },
  },
  { name: 'quiet: df', text: 'tmpfs            64M     0   64M   0% /dev/shm', kinds: [] },
  {
    name: 'Triton',
    text: "Unable to initialize shared memory key 'region_3' to requested size (134217728 bytes). Error: No space left on device",
    kinds: ['shm_exhausted'],
  },
]
