// What the sampler child and its supervisor say to each other over IPC. Imports no native code.
import type { Gap } from '../model/reading.ts'
import type { Labels } from '../model/series.ts'

/** How often a collector runs: fast 1 s, slow 10 s, rare 60 s. */
export const RATE_MS = { fast: 1_000, slow: 10_000, rare: 60_000 } as const
export type Rate = keyof typeof RATE_MS
export const RATES: readonly Rate[] = ['fast', 'slow', 'rare']

/** First message to a child. GPUs are named by NVML index, since a hung one may not even report its UUID. */
export type StartRequest = {
  readonly type: 'start'
  /** Paths or sonames to try, in order. */
  readonly libraries: readonly string[]
  /** Sample only this GPU (a probe for one that was left out), or all when absent. */
  readonly only?: number
  /** Never touch these GPUs: a call on each hangs. */
  readonly leaveOut: readonly number[]
  /** Fast samples per second of memory and utilization, for the peaks; 0 turns them off. */
  readonly peakHz: number
  /** Cards that are read from the kernel's files, instead of NVIDIA's through NVML. */
  readonly cards?: CardsRequest
  /** Least time between two starts of NVML by one child (shutdown and init after a GPU was lost or the driver reloaded); 10 s when absent. */
  readonly reinitMs?: number
  /** Descriptor of a file of 16 bytes to which each call is written before it is made. */
  readonly callFd?: number
}
export type CardsRequest = {
  /** `amd`, `intel`. */
  readonly vendor: string
  /** Where /sys and /proc are. */
  readonly sys: string
  readonly proc: string
  /** PCI addresses of the cards to read, in the order of their numbers; the first is number `firstIndex`. */
  readonly slots: readonly string[]
  readonly firstIndex: number
}
/** Asks for one pass over all GPUs; answered by one `gpu` message per GPU and rate, then `done`. */
export type ScrapeRequest = { readonly type: 'scrape'; readonly id: number; readonly rates: readonly Rate[] }
/** Asks for a connection inside a network namespace; answered by one `connection`, whose handle is the socket. Has nothing to do with GPUs: it is here because this child may die. */
export type ConnectRequest = {
  readonly type: 'connect'
  readonly id: number
  /** Such as `/proc/4242/ns/net`. */
  readonly namespace: string
  /** An IPv4 address, or ::1. */
  readonly host: string
  readonly port: number
}
export type ToChild = StartRequest | ScrapeRequest | ConnectRequest

export type GpuSummary = {
  readonly index: number
  readonly uuid: string
  readonly name: string
  readonly pciBusId: string
  /** As `9.0`. */
  readonly computeCapability?: string
  /** Why its Xid events cannot be heard of (WSL2, an old driver); absent when they can. */
  readonly xidGap?: Pick<Gap, 'reason' | 'code' | 'detail'>
}

/** One process that holds GPU memory, as NVML lists it. */
export type ProcessRow = {
  readonly pid: number
  /** NVML's lists it is in: C compute, G graphics, M MPS; several joined by `+`. */
  readonly type: string
  /** null: the driver does not report it (WDDM, some containers). */
  readonly bytes: number | null
  readonly gi?: number
  readonly ci?: number
}

/** How busy a process kept the SMs of a GPU since the last look, 0 to 1; it may have ended meanwhile. */
export type ProcessLoad = { readonly pid: number; readonly ratio: number }

export type Hello = {
  readonly type: 'hello'
  readonly driverVersion: string
  readonly library: string
  /** Functions that the agent asks for and this driver does not have; absent when there are none. */
  readonly missing?: readonly string[]
  readonly gpus: readonly GpuSummary[]
  /** GPUs that NVML counts but does not open, such as one that fell off the bus. */
  readonly lost: readonly { readonly index: number; readonly reason: Gap['reason']; readonly code: number; readonly detail: string }[]
}

/** Announces series before their first use: number, metric name, labels. Numbers hold for one child's life. */
export type SeriesAnnouncement = { readonly type: 'series'; readonly series: readonly (readonly [id: number, metric: string, labels: Labels])[] }

export type GpuSample = {
  readonly type: 'gpu'
  readonly id: number
  readonly index: number
  readonly uuid: string
  readonly rate: Rate
  readonly durationMs: number
  /** Series numbers and, at the same places, their values. */
  readonly series: readonly number[]
  readonly values: readonly number[]
  /** Absent = as in the previous sample of this GPU and rate. */
  readonly gaps?: readonly Gap[]
  /** Xid events since the previous sample of this GPU, from NVML's event set; counted by the parent, so that a new child loses none. */
  readonly xids?: readonly { readonly xid: number; readonly gi?: number; readonly ci?: number }[]
  /** Present with the rate that reads processes; absent when they could not be read (then a gap says why). */
  readonly processes?: readonly ProcessRow[]
  /** In place of `processes`: they are those of the sample before, of this GPU and rate, as nearly always. */
  readonly sameProcesses?: true
  /** With the same rate; absent where the driver does not say (MIG), then a gap says why. Empty: no new samples. */
  readonly loads?: readonly ProcessLoad[]
}
/** `hello` follows again before `done` whenever the set of GPUs changed. */
export type Done = { readonly type: 'done'; readonly id: number }
/** NVML as a whole cannot be used (no library, no driver, version mismatch, …); the child exits after it. */
export type Failed = { readonly type: 'failed'; readonly reason: Gap['reason']; readonly code?: number; readonly detail: string }
/** `error`: why there is no handle. */
export type Connection = { readonly type: 'connection'; readonly id: number; readonly error?: string }
export type FromChild = Hello | SeriesAnnouncement | GpuSample | Done | Failed

/**
 * The call in flight: before each native call the child writes `nvml:<gpu index or ->:<ordinal of the function>` into its own thread name
 * (prctl PR_SET_NAME, at most 15 bytes, 0.2 µs), so that /proc/PID/comm shows which call hangs when it no longer answers.
 */
export type InFlightCall = {
  readonly gpu: number | undefined
  readonly functionOrdinal: number
  /** Instead of a function of NVML: the collector that reads files of a card. */
  readonly part?: string
}
/** A thread's name has 15 bytes. */
export const formatCardCall = (gpu: number, part: string): string => `card:${gpu}:${part}`.slice(0, 15)
export function formatInFlightCall(gpu: number | undefined, functionOrdinal: number): string {
  return `nvml:${gpu ?? '-'}:${functionOrdinal}`
}
export function parseInFlightCall(comm: string): InFlightCall | undefined {
  const card = /^card:(\d+):(.+?)\s*$/.exec(comm)
  if (card?.[2] !== undefined) return { gpu: Number(card[1]), functionOrdinal: -1, part: card[2] }
  const match = /^nvml:(\d+|-):(\d+)\s*$/.exec(comm)
  if (!match) return undefined
  return { gpu: match[1] === '-' ? undefined : Number(match[1]), functionOrdinal: Number(match[2]) }
}
