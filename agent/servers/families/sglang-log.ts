// The head of SGLang's log: weights, all KV pools and graphs of each rank. Its GB are 2^30 bytes.
import { bytesOf, inLog, linesOf, sumOfLast } from '../log-figures.ts'
import { figures, type ServerFigures } from '../model.ts'

/** `[2026-06-10 07:23:48 TP0]`, also `DP1 TP0 EP0`; without a rank there is one. */
const RANK = /^.{0,60}?\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?((?: [A-Z]+\d+)*)\]/
const SIZE = String.raw`([\d.]+) GB`
const WEIGHTS = new RegExp(`Load weight end\\..*\\bmem usage=${SIZE}`)
const POOL = new RegExp(`KV Cache is allocated\\..*?\\bK size: ${SIZE}, V size: ${SIZE}`)
/** Of models with latent attention. */
const ONE_POOL = new RegExp(`KV Cache is allocated\\..*?\\bKV size: ${SIZE}`)
const GRAPHS = new RegExp(`Capture .*?graph end\\..*?mem usage=${SIZE}`, 'i')

export function readSglangLog(text: string): ServerFigures {
  const [weights, pools, graphs] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()]
  let quantization: string | undefined
  let tokens: number | undefined
  let context: number | undefined
  for (const line of linesOf(text)) {
    const who = RANK.exec(line)?.[1] ?? ''
    const add = (map: Map<string, number>, found: RegExpExecArray | null): void => {
      if (found === null) return
      for (const amount of found.slice(1)) map.set(who, (map.get(who) ?? 0) + (bytesOf(amount, 'GB') ?? 0))
    }
    // A new load of the same rank begins anew.
    if (line.includes('Load weight begin.')) for (const map of [weights, pools, graphs]) map.delete(who)
    add(weights, WEIGHTS.exec(line))
    // A model with a sliding window has two pools, each with its line.
    add(pools, POOL.exec(line) ?? ONE_POOL.exec(line))
    add(graphs, GRAPHS.exec(line))
    const quant = /Load weight end\..*\bquant=([\w-]{1,50})/.exec(line)?.[1]
    if (quant !== undefined) quantization = quant
    const total = /\bmax_total_num_tokens=(\d+)/.exec(line)?.[1]
    if (total !== undefined) tokens = Number(total)
    const length = /\bmax_total_num_tokens=.*\bcontext_len=(\d+)/.exec(line)?.[1]
    if (length !== undefined) context = Number(length)
  }
  // The last pool's lines name their tokens where the summary was not written.
  tokens ??= Math.max(0, ...Array.from(text.matchAll(/KV Cache is allocated\. #tokens: (\d+)/g), ([, count]) => Number(count))) || undefined
  const memory = { weights: inLog(sumOfLast(weights)), kv_cache: inLog(sumOfLast(pools)), graphs: inLog(sumOfLast(graphs)) }
  return figures({
    quantization,
    context,
    kvCapacityTokens: tokens,
    memory: Object.fromEntries(Object.entries(memory).filter(([, figure]) => figure !== undefined)),
  })
}
