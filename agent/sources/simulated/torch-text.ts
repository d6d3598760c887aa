// What a PyTorch job prints when it dies, in PyTorch's form (2.6), so that readers of logs find what they would find on a real host.
import { GIB, MIB } from './allocator.ts'

function size(bytes: number): string {
  if (bytes < GIB) return `${(bytes / MIB).toFixed(2)} MiB`
  return `${(bytes / GIB).toFixed(2)} GiB`
}

export type OomText = {
  readonly script: string
  readonly requestBytes: number
  readonly capacityBytes: number
  readonly freeBytes: number
  readonly processBytes: number
  readonly others: readonly { readonly pid: number; readonly bytes: number }[]
  readonly allocatedBytes: number
  readonly reservedBytes: number
}

function traceback(script: string, last: string): readonly string[] {
  return [
    'Traceback (most recent call last):',
    `  File "${script}", line 148, in <module>`,
    '    main()',
    `  File "${script}", line 131, in main`,
    '    output = model(batch)',
    last,
  ]
}

/** GPU 0: inside its container a process with one GPU counts from zero. */
export function oomLines(oom: OomText): readonly string[] {
  const others = oom.others.map(({ pid, bytes }) => `Process ${pid} has ${size(bytes)} memory in use. `).join('')
  return traceback(
    oom.script,
    `torch.OutOfMemoryError: CUDA out of memory. Tried to allocate ${size(oom.requestBytes)}. GPU 0 has a total capacity of ${size(oom.capacityBytes)} of which ${size(oom.freeBytes)} is free. ` +
      `${others}Including non-PyTorch memory, this process has ${size(oom.processBytes)} memory in use. ` +
      `Of the allocated memory ${size(oom.allocatedBytes)} is allocated by PyTorch, and ${size(oom.reservedBytes - oom.allocatedBytes)} is reserved by PyTorch but unallocated. ` +
      'If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  ' +
      'See documentation for Memory Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)',
  )
}

export function cudaErrorLines(script: string, error: string): readonly string[] {
  return [
    ...traceback(script, `RuntimeError: CUDA error: ${error}`),
    'CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.',
  ]
}
