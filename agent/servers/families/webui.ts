// Stable Diffusion web UI (A1111) and Forge: torch.cuda.memory_stats over HTTP, and how many tasks wait.
import * as z from 'zod/mini'
import { defineFamily } from '../family.ts'
import { amount, part, readJson } from '../json-page.ts'
import { figures, type ServerFigures } from '../model.ts'

const pool = part(z.object({ current: amount }))
const memory = z.object({ cuda: z.object({ active: pool, reserved: pool }) })

export function readMemory(body: string): ServerFigures | undefined {
  const cuda = readJson(body, memory)?.cuda
  if (cuda === undefined) return undefined
  const [active, reserved] = [cuda.active?.current, cuda.reserved?.current]
  if (active === undefined || reserved === undefined) return undefined
  return figures({ memory: { weights: { bytes: active, source: 'api' }, other: { bytes: Math.max(0, reserved - active), source: 'api' } } })
}

const tasks = z.object({ size: z.number() })
export function readTasks(body: string): ServerFigures | undefined {
  const size = readJson(body, tasks)?.size
  return size === undefined ? undefined : { state: 'ready', waiting: size }
}

export const webui = defineFamily({
  id: 'webui',
  title: 'Stable Diffusion web UI',
  command: /stable-diffusion-webui|sd-webui|\bpython[\d.]*(?: -\S+)* (?:\S*\/)?(?:webui|launch)\.py\b/i,
  image: /stable-diffusion-webui|(?:^|\/)(?:sd-webui|forge)[:@-]?/,
  port: 7_860,
  prefixFlag: '--subpath',
  // The answer is the same empty object for many; its path is not.
  proof: { path: '/internal/ping', read: ({ body }) => (body.trim() === '{}' ? { state: 'ready' } : undefined) },
  pages: [
    { path: '/internal/pending-tasks', rate: 'scrape', read: readTasks },
    { path: '/sdapi/v1/memory', rate: 'scrape', read: readMemory },
  ],
})
