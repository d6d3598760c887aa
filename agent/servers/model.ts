// What an inference server says of itself, in one form for all families. What a server does not tell is absent.
import type { Histogram } from '../model/histogram.ts'

/** `dead`: something answers for it, but the process that held the GPU has ended. */
export const SERVER_STATES = ['loading', 'ready', 'sleeping', 'dead'] as const
export type ServerState = (typeof SERVER_STATES)[number]

/** How requests ended, in words that fit all servers. `rejected`: refused before any work; `aborted`: the client left or it was cancelled. */
export const REQUEST_OUTCOMES = ['completed', 'aborted', 'rejected', 'failed'] as const
export type RequestOutcome = (typeof REQUEST_OUTCOMES)[number]

export const MEMORY_PARTS = ['weights', 'kv_cache', 'graphs', 'other'] as const
export type MemoryPart = (typeof MEMORY_PARTS)[number]
/** `api`: a JSON page; `gauge`: a metric; `log`: the head of its log. */
export type FigureSource = 'gauge' | 'api' | 'log'
export type MemoryFigure = { readonly bytes: number; readonly source: FigureSource }

export type ServerFigures = {
  readonly version?: string
  /** Names as the server serves them. */
  readonly models?: readonly string[]
  readonly quantization?: string
  /** Tokens that one request may have, as in force. */
  readonly context?: number
  /** Tokens of the longest request since it started. */
  readonly longestRequest?: number
  readonly state?: ServerState
  /** One that only hands requests on to servers of its own. */
  readonly router?: true
  readonly running?: number
  readonly waiting?: number
  /** Share of the KV cache in use, of the fullest engine. */
  readonly kvUsage?: number
  readonly kvCapacityTokens?: number
  /** Counters since the server started. */
  readonly preemptions?: number
  readonly prefixHits?: number
  readonly prefixQueries?: number
  readonly promptTokens?: number
  readonly generationTokens?: number
  readonly outcomes?: Readonly<Partial<Record<RequestOutcome, number>>>
  /** Share of prompt tokens found in the prefix cache, where the server tells a share instead of counts. */
  readonly prefixHitRatio?: number
  readonly timeToFirstToken?: Histogram
  /** Between two tokens of a request. */
  readonly interTokenLatency?: Histogram
  /** Of a request as a whole: what follows its first token, by the number of these tokens. */
  readonly timePerOutputToken?: Histogram
  readonly requestDuration?: Histogram
  /** Share of the model that is outside of GPU memory. */
  readonly offloadedRatio?: number
  /** Layers on the GPU and all: `40/41`. */
  readonly layers?: string
  /** Share of each card that it was told to take, of the whole card's memory. */
  readonly memoryShare?: number
  /** Of all its GPUs together. */
  readonly memory?: Readonly<Partial<Record<MemoryPart, MemoryFigure>>>
}

/** Keys whose value is undefined, or no number, are left out, so that they hide nothing when figures are joined. */
export function figures(values: { readonly [K in keyof ServerFigures]: ServerFigures[K] | undefined }): ServerFigures {
  const said: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(values)) if (isSaid(value)) said[name] = value
  return said
}
const isSaid = (value: unknown): boolean => value !== undefined && !isNoNumber(value) && !(Array.isArray(value) && value.length === 0) && !isEmptyRecord(value)
/** Sums of what a stranger says may leave the numbers. */
const isNoNumber = (value: unknown): boolean => typeof value === 'number' && !Number.isFinite(value)
function isEmptyRecord(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  for (const _ in value) return false
  return true
}

/** The first that tells a figure is believed. */
export function joined(...all: readonly ServerFigures[]): ServerFigures {
  const last: readonly ServerFigures[] = all.toReversed()
  const whole: ServerFigures = Object.assign({}, ...last)
  // Each part of the memory is a figure of its own.
  if (whole.memory === undefined) return figures(whole)
  const memory: ServerFigures['memory'] = Object.assign({}, ...last.map((one) => one.memory))
  return figures({ ...whole, memory })
}
