// ComfyUI: what PyTorch took of the card, and how many prompts wait.
import * as z from 'zod/mini'
import { defineFamily } from '../family.ts'
import { amount, part, readJson, words } from '../json-page.ts'
import { figures, type ServerFigures } from '../model.ts'

const stats = z.object({
  system: part(z.object({ comfyui_version: words })),
  devices: z.array(z.object({ type: words, torch_vram_total: amount, torch_vram_free: amount })),
})

export function readStats(body: string): ServerFigures | undefined {
  const found = readJson(body, stats)
  if (found === undefined) return undefined
  const reserved = found.devices.reduce((sum, device) => sum + (device.torch_vram_total ?? 0), 0)
  const free = found.devices.reduce((sum, device) => sum + (device.torch_vram_free ?? 0), 0)
  // At rest with cudaMallocAsync both are 0 whatever is held.
  const memory: ServerFigures['memory'] =
    reserved > 0 ? { weights: { bytes: Math.max(0, reserved - free), source: 'api' }, other: { bytes: free, source: 'api' } } : undefined
  return figures({ state: 'ready', version: found.system?.comfyui_version, memory })
}

const queue = z.object({ exec_info: z.object({ queue_remaining: z.number() }) })
export function readQueue(body: string): ServerFigures | undefined {
  const remaining = readJson(body, queue)?.exec_info.queue_remaining
  if (remaining === undefined || remaining < 0) return undefined
  // The prompt that runs is counted; one runs at a time.
  return { running: Math.min(1, remaining), waiting: Math.max(0, remaining - 1) }
}

export const comfyui = defineFamily({
  id: 'comfyui',
  title: 'ComfyUI',
  command:
    /comfyui\b.*\bmain\.py\b|\bcomfy launch\b|\bpython[\d.]*(?: -\S+)* (?:\S*\/)?main\.py\b.* --(?:preview-method|listen|lowvram|highvram|use-pytorch-cross-attention)/i,
  image: /(?:^|\/)comfyui/i,
  port: 8_188,
  proof: { path: '/system_stats', read: ({ body }) => readStats(body) },
  pages: [
    { path: '/system_stats', rate: 'scrape', read: readStats },
    { path: '/prompt', rate: 'scrape', read: readQueue },
  ],
})
