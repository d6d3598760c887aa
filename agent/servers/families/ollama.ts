// Ollama before and after 0.30: it has no metrics; /api/ps lists the loaded models and how much of each is on the GPU.
import * as z from 'zod/mini'
import { defineFamily, type Known } from '../family.ts'
import { amount, part, readJson, words } from '../json-page.ts'
import { bytesOf, inLog, linesOf } from '../log-figures.ts'
import { figures, joined, type ServerFigures } from '../model.ts'
import { readGgmlLog } from './ggml-log.ts'
import { readProps, readSlots } from './llama-server-pages.ts'

const ps = z.object({
  models: z.array(
    z.object({
      name: words,
      size: amount,
      size_vram: amount,
      context_length: amount,
      details: part(z.object({ quantization_level: words })),
    }),
  ),
})

export function readPs(body: string): ServerFigures | undefined {
  const models = readJson(body, ps)?.models.slice(0, 64)
  if (models === undefined) return undefined
  const known = models.flatMap(({ size, size_vram: onGpu }) => (size === undefined || onGpu === undefined || size <= 0 ? [] : [{ size, onGpu }]))
  const total = known.reduce((sum, { size }) => sum + size, 0)
  const onGpu = known.reduce((sum, one) => sum + one.onGpu, 0)
  return figures({
    state: 'ready',
    models: models.flatMap(({ name }) => name ?? []).slice(0, 8),
    quantization: models[0]?.details?.quantization_level,
    context: models[0]?.context_length,
    offloadedRatio: total === 0 ? undefined : Math.max(0, 1 - onGpu / total),
  })
}

const version = z.object({ version: z.string() })
const readVersion = (body: string): ServerFigures | undefined => {
  const found = readJson(body, version)
  return found === undefined ? undefined : { version: found.version.slice(0, 100) }
}

/** Up to 0.6 the only figures are those that it estimated before the load: `msg=offload`. */
export function readOllamaLog(text: string): ServerFigures {
  let estimate: ServerFigures = {}
  for (const line of linesOf(text)) {
    if (!/\bmsg="?offload\b/.test(line)) continue
    const number = (key: string): number | undefined => {
      const found = new RegExp(`\\b${key}=(\\d+)`).exec(line)?.[1]
      return found === undefined ? undefined : Number(found)
    }
    const size = (key: string): number | undefined => {
      const found = new RegExp(`\\b${key}="([\\d.]+) (GiB|MiB|KiB|B)"`).exec(line)
      return bytesOf(found?.[1], found?.[2])
    }
    const [all, there] = [number('layers\\.model'), number('layers\\.offload')]
    // Its figures are of the whole model; what of it the GPU got is known only when that is all.
    const whole = all !== undefined && there !== undefined && there >= all
    const [weights, cache] = whole ? [inLog(size('memory\\.weights\\.total')), inLog(size('memory\\.required\\.kv'))] : []
    estimate = figures({
      layers: all === undefined || there === undefined ? undefined : `${there}/${all}`,
      offloadedRatio: all === undefined || there === undefined || all === 0 ? undefined : 1 - there / all,
      memory: { ...(weights === undefined ? {} : { weights }), ...(cache === undefined ? {} : { kv_cache: cache }) },
    })
  }
  const { version: _, ...buffers } = readGgmlLog(text)
  const whole = joined(buffers, estimate)
  const [onGpu = 0, all = Infinity] = (whole.layers ?? '').split('/').map(Number)
  // It puts whole layers on the CPU, nothing of a layer: the table of the first tokens, which stays in host memory in any case, is not computed with.
  return whole.layers !== undefined && onGpu >= all ? { ...whole, offloadedRatio: 0 } : whole
}

const LLAMA_SERVER = /\/ollama\/[\w./-]*llama-server\b/
/** Only what Ollama does not say of its models itself: how many requests are computed, and how full the KV cache is. */
function readChildSlots(body: string, known: Known): ServerFigures | undefined {
  const { running, kvUsage, kvCapacityTokens } = readSlots(body, known) ?? {}
  return figures({ running, kvUsage, kvCapacityTokens })
}
/** Whether it sleeps: /slots would load its model again. */
const readChildProps = (body: string): ServerFigures | undefined => (readProps(body)?.state === 'sleeping' ? { state: 'sleeping' } : {})

export const ollama = defineFamily({
  id: 'ollama',
  title: 'Ollama',
  command: /(?:^|[\s/])ollama serve\b/,
  helper: new RegExp(`(?:^|[\\s/])ollama runner\\b|ollama_llama_server|${LLAMA_SERVER.source}`),
  image: /(?:^|\/)ollama(?:[:@]|$)/,
  processName: 'ollama',
  port: 11_434,
  proof: { path: '/api/version', read: ({ body }) => readVersion(body) },
  pages: [
    { path: '/api/ps', rate: 'scrape', read: readPs },
    { path: '/api/version', rate: 'rare', read: readVersion },
  ],
  log: readOllamaLog,
  modelPerEngine: true,
  child: {
    command: LLAMA_SERVER,
    proof: { path: '/props', read: ({ body }) => readChildProps(body) },
    pages: [
      { path: '/props', rate: 'scrape', read: readChildProps },
      { path: '/slots', rate: 'scrape', read: readChildSlots },
    ],
  },
})
