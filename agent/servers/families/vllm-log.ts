// The head of vLLM's log, 0.3 to main of 2026: weights, KV cache and graphs of each worker, the cache in tokens, version and quantisation.
import { bytesOf, inLog, linesOf, sumOfLast } from '../log-figures.ts'
import { figures, type MemoryPart, type ServerFigures } from '../model.ts'

/** Who says a line: `(Worker_TP0 pid=4)`, `(VllmWorker rank=0 pid=4)`; without a prefix there is one engine. */
const SPEAKER = /\((?:[\w.:]+ )?(?:rank=\d+ )?pid=(\d+)\)/
const SIZE = String.raw`([\d.,]+) ?(GiB|GB|MiB)`
const PARTS: readonly (readonly [MemoryPart, RegExp])[] = [
  ['weights', new RegExp(`Model loading took ${SIZE}`)],
  ['weights', new RegExp(`Loading model weights took ${SIZE}`)],
  ['weights', new RegExp(`model weights take\\s+${SIZE}`)],
  ['weights', new RegExp(`Actual usage is ${SIZE} for weight`)],
  ['kv_cache', new RegExp(`Available KV cache memory: ${SIZE}`)],
  ['kv_cache', new RegExp(`reserved for KV Cache is ${SIZE}`)],
  ['kv_cache', new RegExp(`available_kv_cache_memory\\s+${SIZE}`)],
  ['kv_cache', new RegExp(`kv_cache_size=${SIZE}`)],
  ['kv_cache', new RegExp(`reserved ${SIZE} memory for KV Cache`)],
  ['kv_cache', new RegExp(`Current kv cache memory in use is ${SIZE}`)],
  ['graphs', new RegExp(`Graph capturing finished in .{1,40}took ${SIZE}`)],
  ['graphs', new RegExp(`CUDA graph pool memory: ${SIZE} \\(actual\\)`)],
]
const OTHER = [new RegExp(`${SIZE} for peak activation`), new RegExp(`PyTorch activation peak memory(?: takes)?\\s+${SIZE}`)]
const NON_TORCH = [new RegExp(`${SIZE} for non-torch memory`), new RegExp(`non_torch_memory(?: takes|=)?\\s*${SIZE}`)]

const setting = (line: string, name: string): string | undefined =>
  new RegExp(`\\b${name}=(?:'([^']{1,200})'|([\\w.+-]{1,100}))`)
    .exec(line)
    ?.slice(1)
    .find((text) => text !== undefined)
const worth = (text: string | undefined): string | undefined => (text === undefined || text === 'None' || text === 'auto' ? undefined : text)

/** Which values stand for each worker, under the name of the worker. */
function note(into: Map<string, number>, who: string, patterns: readonly RegExp[], line: string): void {
  for (const pattern of patterns) {
    const found = pattern.exec(line)
    const bytes = bytesOf(found?.[1], found?.[2])
    if (bytes !== undefined) into.set(who, bytes)
  }
}

export function readVllmLog(text: string): ServerFigures {
  const parts: Readonly<Record<MemoryPart, Map<string, number>>> = { weights: new Map(), kv_cache: new Map(), graphs: new Map(), other: new Map() }
  const [activation, beyond] = [new Map<string, number>(), new Map<string, number>()]
  let [version, front]: [string | undefined, string | undefined] = [undefined, undefined]
  let model: string | undefined
  let quantization: string | undefined
  let context: number | undefined
  let tokens: number | undefined
  let share: number | undefined
  for (const line of linesOf(text)) {
    const who = SPEAKER.exec(line)?.[1] ?? ''
    // V0 profiles each worker once: a second time is another start below the one before, which need not have come as far.
    if (/model weights take\s/.test(line) && parts.kv_cache.has(who)) {
      for (const map of [...Object.values(parts), activation, beyond]) map.delete(who)
      tokens = undefined
    }
    for (const [name, pattern] of PARTS) note(parts[name], who, [pattern], line)
    note(activation, who, OTHER, line)
    note(beyond, who, NON_TORCH, line)
    // Of the API server; engines up to 0.3 do not name theirs.
    front = /vLLM API server version v?(\d[\w.+-]{0,80})/.exec(line)?.[1] ?? front
    const engine = /Initializing an? (?:V[01] )?LLM engine (?:\(v([\w.+-]{1,80})\) )?with config: (.*)/.exec(line)
    if (engine !== null) {
      // Another start of the server below the one before.
      for (const map of [...Object.values(parts), activation, beyond]) map.clear()
      const [, found, config = ''] = engine
      version = found
      model = setting(config, 'model')
      quantization = worth(setting(config, 'quantization'))
      const length = setting(config, 'max_seq_len')
      context = length !== undefined && /^\d+$/.test(length) ? Number(length) : undefined
      tokens = undefined
    }
    const reported = /Desired GPU memory utilization is \((0?\.\d+|1(?:\.0)?),|\bgpu_memory_utilization(?:': | \(|=)(0?\.\d+|1(?:\.0)?)\b/.exec(line)
    if (reported !== null) share = Number(reported[1] ?? reported[2])
    const size = /GPU KV cache size: ([\d,]+) tokens/.exec(line)?.[1]
    if (size !== undefined) tokens = Number(size.replaceAll(',', ''))
    // Blocks of 16 tokens unless --block-size says otherwise; only engines before V1 count so in the log.
    const blocks = /(?:# )?(?:GPU|CUDA) blocks: (\d+),/.exec(line)?.[1]
    if (blocks !== undefined) tokens = Number(blocks) * 16
  }
  for (const who of new Set([...activation.keys(), ...beyond.keys()])) parts.other.set(who, (activation.get(who) ?? 0) + (beyond.get(who) ?? 0))
  return figures({
    version: version ?? front,
    models: model === undefined ? undefined : [model],
    quantization,
    context,
    kvCapacityTokens: tokens,
    memoryShare: share,
    memory: figuresOf(parts),
  })
}

function figuresOf(parts: Readonly<Record<MemoryPart, ReadonlyMap<string, number>>>): ServerFigures['memory'] {
  const { weights, kv_cache: cache, graphs, other } = parts
  return Object.fromEntries(
    Object.entries({ weights, kv_cache: cache, graphs, other }).flatMap(([name, values]) => {
      const figure = inLog(sumOfLast(values))
      return figure === undefined ? [] : [[name, figure]]
    }),
  )
}
