// The buffers that llama.cpp's library and Ollama's engine write when they load a model: per device, weights, KV cache and computing.
import { bytesOf, inLog, linesOf } from '../log-figures.ts'
import { figures, type MemoryPart, type ServerFigures } from '../model.ts'
import { lookup } from '../../text/lookup.ts'

/** Buffers in host memory: `CPU`, `CPU_Mapped`, `CPU_REPACK`, `BLAS`, `CUDA_Host`, `ROCm_Host`. */
const HOST = /^CPU|^BLAS$|_Host$/
const BUFFER = /(\S{1,80}):\s{1,8}(\S{1,80})\s{1,8}(?:(model|KV|RS|compute|output)\s+)?buffer size =\s*([\d.]+) (MiB)/
/** Of llm_load_tensors up to b3001 without a word for what it holds. */
const PART_OF: Readonly<Record<string, MemoryPart>> = { model: 'weights', KV: 'kv_cache', RS: 'kv_cache', compute: 'other', output: 'other' }
const ENGINE = /msg="?(model weights|kv cache|compute graph)"?.*? device=(\S+).*? (?:size|buffer)="([\d.]+) (GiB|MiB|KiB|B)"/
const ENGINE_PART: Readonly<Record<string, MemoryPart>> = { 'model weights': 'weights', 'kv cache': 'kv_cache', 'compute graph': 'other' }
/** The model is loaded again: what trial loads or the load before it wrote counts no more. */
const ANEW = /llama_model_loader: loaded meta data|load_tensors: loading model tensors|llama_model_load(?:_from_file_impl)?: using device/

/** Up to b1700 buffers have no device; MB is 2^20 there. */
const OLD: readonly (readonly [MemoryPart, RegExp])[] = [
  ['weights', /llm_load_tensors: VRAM used\s*[:=]\s*([\d.]+) (MiB|MB)/],
  ['kv_cache', /llama_kv_cache_init: VRAM kv self\s*=\s*([\d.]+) (MiB|MB)/],
  ['other', /VRAM scratch buffer:\s*([\d.]+) (MiB|MB)/],
]

type Buffer = { readonly part: MemoryPart; readonly device: string; readonly kind: string; readonly bytes: number }

function bufferIn(line: string): Buffer | undefined {
  const ggml = BUFFER.exec(line)
  if (ggml !== null) {
    const [, speaker = '', device = '', what = 'model', amount, unit] = ggml
    const [bytes, part] = [bytesOf(amount, unit), lookup(PART_OF, what)]
    return bytes === undefined || part === undefined ? undefined : { part, device, kind: `${speaker} ${what}`, bytes }
  }
  const engine = ENGINE.exec(line)
  if (engine === null) return oldBufferIn(line)
  const [, what = '', device = '', amount, unit] = engine
  const [bytes, part] = [bytesOf(amount, unit), lookup(ENGINE_PART, what)]
  return bytes === undefined || part === undefined ? undefined : { part, device, kind: what, bytes }
}

function oldBufferIn(line: string): Buffer | undefined {
  if (!line.includes('VRAM')) return undefined
  for (const [part, pattern] of OLD) {
    const found = pattern.exec(line)
    const bytes = bytesOf(found?.[1], found?.[2])
    if (bytes !== undefined) return { part, device: 'GPU', kind: 'VRAM', bytes }
  }
  return undefined
}

/**
 * Lines of one set are added, since a model with a sliding window has two KV buffers on each device. A set begins with a load, or, where
 * that was not written, with weights behind other buffers.
 */
export function readGgmlLog(text: string): ServerFigures {
  let buffers: Buffer[] = []
  let context: number | undefined
  let cells: number | undefined
  let layers: readonly [number, number] | undefined
  let build: string | undefined
  const sizes: Sizes = {}
  for (const line of linesOf(text)) {
    build ??= /\bbuild:? (?:= )?(\d{3,6}) \(/.exec(line)?.[1]
    if (ANEW.test(line)) {
      buffers = []
      cells = undefined
    }
    noteSizes(sizes, line)
    const length = /llama_(?:context|new_context_with_model): n_ctx\s+= (\d+)/.exec(line)?.[1]
    if (length !== undefined) context = Number(length)
    const slot = /initializing, n_slots = \d+, n_ctx_slot = (\d+)/.exec(line)?.[1]
    if (slot !== undefined) context = Number(slot)
    const pool = /llama_kv_cache\w*: size =\s*[\d.]+ MiB \(\s*(\d+) cells,\s+\d+ layers,\s+(\d+)(?:\/(\d+))? seqs\)/.exec(line)
    // With n/n sequences each has cells of its own; with one of several they share them.
    if (pool !== null) cells = Math.max(cells ?? 0, Number(pool[1]) * (pool[3] === undefined ? 1 : Number(pool[3])))
    const loaded = /offloaded (\d+)\/(\d+) layers to GPU/.exec(line)
    if (loaded !== null) layers = [Number(loaded[1]), Number(loaded[2])]
    const buffer = bufferIn(line)
    if (buffer === undefined) continue
    if (buffer.part === 'weights' && buffers.some(({ part }) => part !== 'weights')) buffers = []
    buffers.push(buffer)
  }
  const inGpu = buffers.filter(({ device }) => !HOST.test(device))
  const sum = (part: MemoryPart): number | undefined => {
    const found = inGpu.filter((buffer) => buffer.part === part)
    return found.length === 0 ? undefined : found.reduce((all, { bytes }) => all + bytes, 0)
  }
  const memory = { weights: inLog(sum('weights')), kv_cache: inLog(sum('kv_cache')), other: inLog(sum('other')) }
  return figures({
    version: build === undefined ? undefined : `b${build}`,
    context,
    kvCapacityTokens: cells,
    offloadedRatio: offloaded(buffers, layers, tableOf(sizes)),
    layers: layers?.join('/'),
    memory: Object.fromEntries(Object.entries(memory).filter(([, figure]) => figure !== undefined)),
  })
}

/** Of the model, as its file says. */
type Sizes = { vocabulary?: number; width?: number; isF32?: boolean }
function noteSizes(sizes: Sizes, line: string): void {
  const [, name, value] = /(?:print_info|llm_load_print_meta): +n_(vocab|embd) += (\d{1,9})\b/.exec(line) ?? []
  if (name === 'vocab') sizes.vocabulary = Number(value)
  else if (name === 'embd') sizes.width = Number(value)
  else if (/(?:print_info: file type|llm_load_print_meta: model ftype) +=/.test(line)) sizes.isF32 = line.includes('F32')
}
/** A mapped buffer begins and ends with a page, and has the norms of the output beside the table. */
const TABLE_SPARE = 1.02
/** Bytes that the table of the first tokens takes at most: it stays in host memory, whatever is put on the GPU, and is a third of a small model of many words. */
const tableOf = ({ vocabulary, width, isF32 }: Sizes): number | undefined =>
  vocabulary === undefined || width === undefined ? undefined : vocabulary * width * (isF32 === true ? 4 : 2)

/** By bytes of weights, because all layers can be "on the GPU" while the experts of each are in host memory. A mapped file's span overlaps what was copied to the card. */
function offloaded(buffers: readonly Buffer[], layers: readonly [number, number] | undefined, table = 0): number | undefined {
  const weights = buffers.filter(({ part, bytes }) => part === 'weights' && bytes > 0)
  const host = weights.filter(({ device }) => HOST.test(device))
  const total = weights.reduce((sum, { bytes }) => sum + bytes, 0)
  if (total === 0) return layers === undefined || layers[1] === 0 ? undefined : 1 - layers[0] / layers[1]
  // Up to b1700 what stays in host memory is not written as weights.
  if (host.length === 0 && layers !== undefined && layers[0] < layers[1]) return 1 - layers[0] / layers[1]
  const inHost = host.reduce((sum, { bytes }) => sum + bytes, 0)
  return layers !== undefined && layers[0] >= layers[1] && inHost <= Math.max(total / 10, table * TABLE_SPARE) ? 0 : inHost / total
}
