// "HIP out of memory" on a host with cards of two makers: the figures, the neighbour and the advice are of the AMD card.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { expect, test } from 'vitest'

const GIB = 1024 ** 3
const AMD = { gpu: '1', uuid: 'amd-00a1b2c3d4e5f607' }
const NVIDIA = { gpu: '0', uuid: 'GPU-1' }
const T = 1_763_600_000_000
const memory = (labels: object, total: number, used: number): readonly unknown[] => [
  ['warpwatch_gpu_memory_total_bytes', labels, total * GIB],
  ['warpwatch_gpu_memory_used_bytes', labels, used * GIB],
  ['warpwatch_gpu_memory_free_bytes', labels, (total - used) * GIB],
]
const holder = (pid: string, container: string, gib: number): unknown => [
  'warpwatch_process_gpu_memory_bytes',
  { ...AMD, pid, process: 'python3', type: 'C', container, container_id: pid.padStart(12, '0') },
  gib * GIB,
]

test('a neighbour on the AMD card is the cause, and a free NVIDIA GPU is no way out', () => {
  const lines: unknown[] = [{ type: 'meta', format: 'warpwatch-recording', version: 1, host: 'h' }]
  for (let second = 0; second < 60; second++) {
    const t = T + second * 1_000
    const card = ['warpwatch_gpu_info', { ...AMD, name: 'Radeon', vendor: 'amd', pci_bus_id: '0000:03:00.0' }, 1]
    lines.push({
      type: 'scrape',
      t,
      source: 'amd',
      duration_ms: 1,
      readings: [card, ...memory(AMD, 16, 15), holder('41', 'train', 9), holder('42', 'other', 6)],
    })
    const nvidia = ['warpwatch_gpu_info', { ...NVIDIA, name: 'H100', vendor: 'nvidia' }, 1]
    lines.push({ type: 'scrape', t, source: 'gpu', duration_ms: 1, readings: [nvidia, ...memory(NVIDIA, 80, 1)] })
    const text =
      'torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 16.00 GiB of which 1.00 GiB is free. Of the allocated memory 8.20 GiB is allocated by PyTorch, and 300.00 MiB is reserved by PyTorch but unallocated.'
    if (second === 40) lines.push({ type: 'log', t: t + 10, stream: 'container', origin: { container: 'train', container_id: '000000000041' }, text })
  }
  const file = join(mkdtempSync(join(tmpdir(), 'hip-')), 'recording.jsonl')
  writeFileSync(file, lines.map((line) => JSON.stringify(line)).join('\n'))
  const main = join(import.meta.dirname, '../../../agent/main.ts')
  const reported = JSON.parse(execFileSync(process.execPath, [main, 'replay', file, '--json'], { encoding: 'utf8' }))
  const { incidents } = z
    .object({
      incidents: z.array(
        z.looseObject({
          kind: z.string(),
          subject: z.looseObject({ gpu: z.optional(z.looseObject({ uuid: z.optional(z.string()) })) }),
          facts: z.looseObject({ causes: z.optional(z.array(z.string())) }),
          remedies: z.array(z.object({ text: z.string(), command: z.optional(z.string()) })),
        }),
      ),
    })
    .parse(reported)
  const [oom] = incidents.filter(({ kind }) => kind === 'cuda_oom')
  expect(oom?.subject.gpu?.uuid).toBe(AMD.uuid)
  expect(oom?.facts.causes?.[0]).toBe('other_process')
  const advice = oom?.remedies.map(({ text, command = '' }) => `${text} ${command}`).join('\n') ?? ''
  expect(advice).toContain('rocm-smi')
  expect(advice).toContain('HIP_VISIBLE_DEVICES')
  expect(advice).not.toMatch(/nvidia-smi|CUDA_VISIBLE_DEVICES|--gpus|GPU 0 of this host/)
})
