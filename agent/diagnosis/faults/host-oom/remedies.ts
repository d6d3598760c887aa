// What to change when host memory ran out.
import type { Remedy } from '../../../model/fault.ts'

export const HOST_OOM_REMEDIES: readonly Remedy[] = [
  { text: 'See what fills the memory now.', command: 'ps -eo pid,user,rss,args --sort=-rss | head' },
  { text: 'Give each container a limit, so that one job cannot take the others down.', command: 'docker update --memory 64g --memory-swap 64g CONTAINER' },
  { text: 'Need less host memory: fewer DataLoader workers, smaller prefetch_factor, load weights with mmap (safetensors, low_cpu_mem_usage=True).' },
]
export const LIMIT_REMEDIES: readonly Remedy[] = [
  { text: 'Raise the limit: in Docker', command: 'docker update --memory 64g --memory-swap 64g CONTAINER' },
  { text: 'in Kubernetes', command: 'kubectl set resources deployment NAME --limits=memory=64Gi' },
  { text: 'Need less host memory: fewer DataLoader workers, smaller prefetch_factor, load weights with mmap (safetensors, low_cpu_mem_usage=True).' },
  { text: 'Remember that files in /dev/shm and in tmpfs count against the limit.' },
]
export const WORKER_REMEDIES: readonly Remedy[] = [
  { text: "Look in the kernel's log whether its out-of-memory killer did it.", command: "sudo dmesg -T | grep -iE 'killed process|oom-kill'" },
  { text: 'Use fewer DataLoader workers (num_workers) and a smaller prefetch_factor; each worker holds a copy of what the dataset keeps in Python objects.' },
  ...LIMIT_REMEDIES.slice(0, 2),
]
