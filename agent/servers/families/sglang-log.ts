// The head of SGLang's log: weights, all KV pools and graphs of each rank. Its GB are 2^30 bytes.
import { bytesOf, inLog, linesOf, sumOfLast } from '../log-figures.ts'
import { figures, type ServerFigures } from '../model.ts'

/** `[2026-06-10 07:23:48 TP0]`, also `DP1 TP0 EP0` or the time alone; without a rank there is one. Up to 0.3.4 `[gpu=0]`, later in 0.3 `[07:23:48 TP0]`. */
const RANK = /^.{0,60}?\[(?:(?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d(?:\.\d+)?((?: [A-Z]+\d+)*)|(gpu=\d+))\]/
const SIZE = String.raw`([\d.]+) ?GB`
const WEIGHTS = new RegExp(`Load weight end\\..*\\bmem usage=${SIZE}`)
const POOL = new RegExp(`KV Cache is allocated\\..*?\\bK size: ${SIZE}, V size: ${SIZE}`)
/** Of models with latent attention. */
const ONE_POOL = new RegExp(`KV Cache is allocated\\..*?\\bKV size: ${SIZE}`)
/** Of layers that keep a state in place of keys and values. */
const STATES = new RegExp(`Mamba Cache is allocated\\..*?\\bconv_state size: ${SIZE}, ssm_state size: ${SIZE}`)
const GRAPHS = new RegExp(`Capture .*?graph end\\..*?mem usage=${SIZE}`, 'i')
const FREE = new RegExp(`avail mem=${SIZE}`)

type Sums = Map<string, number>
/** What is free before and behind a step: up to 0.4.3 weights have no size of their own, and the pools of some models have none in any version. */
type Steps = { begun?: number | undefined; loaded?: number | undefined; weights: number; pools?: number | undefined }

export function readSglangLog(text: string): ServerFigures {
  const [weights, pools, graphs]: [Sums, Sums, Sums] = [new Map(), new Map(), new Map()]
  const ranks = new Map<string, Steps>()
  let quantization: string | undefined
  let tokens: number | undefined
  /** Of the largest pool, where the summary is not written. */
  let pooled: number | undefined
  let context: number | undefined
  const begin = (who: string, free: number | undefined): void => {
    const before = ranks.get(who)
    // A draft model is loaded beside the first one, with what that left free; about as much is free as before it when the server was started again.
    const isAnew = before?.begun !== undefined && free !== undefined && free > (before.begun + (before.loaded ?? -Infinity)) / 2
    if (isAnew) {
      for (const map of [weights, pools, graphs]) map.delete(who)
      tokens = pooled = undefined
    }
    ranks.set(who, before === undefined || isAnew ? { begun: free, weights: 0 } : { ...before, begun: free })
  }
  for (const line of linesOf(text)) {
    if (line.includes('server_args=ServerArgs(')) {
      for (const map of [weights, pools, graphs, ranks]) map.clear()
      quantization = tokens = pooled = undefined
    }
    const [, named, numbered] = RANK.exec(line) ?? []
    const who = named ?? numbered ?? ''
    const add = (map: Sums, found: RegExpExecArray | null): void => {
      if (found === null) return
      for (const amount of found.slice(1)) map.set(who, (map.get(who) ?? 0) + (bytesOf(amount, 'GB') ?? 0))
    }
    const free = bytesOf(FREE.exec(line)?.[1], 'GB')
    if (line.includes('Load weight begin.')) begin(who, free)
    else if (line.includes('Load weight end.')) {
      const step = ranks.get(who) ?? { weights: 0 }
      if (step.begun !== undefined && free !== undefined) step.weights += Math.max(0, step.begun - free)
      ranks.set(who, { ...step, loaded: free })
    } else if (line.includes('Memory pool end.')) {
      const step = ranks.get(who)
      if (step?.loaded !== undefined && free !== undefined && step.pools === undefined) step.pools = Math.max(0, step.loaded - free)
    }
    add(weights, WEIGHTS.exec(line))
    // A model with a sliding window has two pools, each with its line.
    add(pools, POOL.exec(line) ?? ONE_POOL.exec(line))
    add(pools, STATES.exec(line))
    add(graphs, GRAPHS.exec(line))
    const quant = /Load weight end\..*\bquant=([\w-]{1,50})/.exec(line)?.[1]
    if (quant !== undefined) quantization ??= quant
    const inPool = /KV Cache is allocated\. #tokens: (\d+)/.exec(line)?.[1]
    if (inPool !== undefined) pooled = Math.max(pooled ?? 0, Number(inPool))
    const total = /\bmax_total_num_tokens=(\d+)/.exec(line)?.[1]
    if (total !== undefined) tokens = Number(total)
    const length = /\bmax_total_num_tokens=.*\bcontext_len=(\d+)/.exec(line)?.[1]
    if (length !== undefined) context = Number(length)
  }
  for (const [who, step] of ranks) {
    if (!weights.has(who) && step.weights > 0) weights.set(who, step.weights)
    if (!pools.has(who) && step.pools !== undefined) pools.set(who, step.pools)
  }
  const memory = { weights: inLog(sumOfLast(weights)), kv_cache: inLog(sumOfLast(pools)), graphs: inLog(sumOfLast(graphs)) }
  return figures({
    quantization,
    context,
    kvCapacityTokens: tokens ?? pooled,
    memory: Object.fromEntries(Object.entries(memory).filter(([, figure]) => figure !== undefined)),
  })
}
