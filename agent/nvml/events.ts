// Xid events from NVML's event set, polled without waiting.
import { GPU_IS_LOST, NOT_SUPPORTED, SUCCESS, failureOf } from './codes.ts'
import type { Failure } from './codes.ts'
import { EVENT_DATA, NONE } from './layouts.ts'
import type { Library } from './library.ts'
import { bind } from './query.ts'

const XID_EVENT = 0x8n
/** More in one poll than any driver queues; the rest comes with the next one. */
const MOST_EVENTS = 64

export type XidEvent = { readonly index: number; readonly xid: number; readonly gi?: number; readonly ci?: number }
export type XidWatch = {
  /** Hands over what has happened since the last poll. */
  readonly poll: (seen: (event: XidEvent) => void) => void
  readonly close: () => void
  /** Why the Xids of a GPU cannot be heard of; undefined when they can. */
  readonly failure: (index: number) => Failure | undefined
}

/** Registers each GPU by itself: one that cannot (WSL2, lost) must not silence the others. */
export function watchXids(library: Library, gpus: readonly { readonly index: number; readonly handle: bigint }[]): XidWatch {
  const pointer = new BigUint64Array(1)
  const failures = new Map<number, Failure>()
  const register = (set: bigint, index: number, handle: bigint): Failure | undefined => {
    const supported = new BigUint64Array(1)
    const asked = bind(library, index, 'nvmlDeviceGetSupportedEventTypes', [handle, supported])()
    if (asked !== SUCCESS) return failureOf('nvmlDeviceGetSupportedEventTypes', asked)
    if (((supported[0] ?? 0n) & XID_EVENT) === 0n) return failureOf('nvmlDeviceRegisterEvents', NOT_SUPPORTED)
    const code = bind(library, index, 'nvmlDeviceRegisterEvents', [handle, XID_EVENT, set])()
    return code === SUCCESS ? undefined : failureOf('nvmlDeviceRegisterEvents', code)
  }
  const open = (): bigint | undefined => {
    failures.clear()
    const code = bind(library, undefined, 'nvmlEventSetCreate', [pointer])()
    const set = code === SUCCESS ? (pointer[0] ?? 0n) : undefined
    for (const { index, handle } of gpus) {
      const failure = set === undefined ? failureOf('nvmlEventSetCreate', code) : register(set, index, handle)
      if (failure !== undefined) failures.set(index, failure)
    }
    return set
  }
  const words = new Uint32Array(EVENT_DATA.size / 4)
  const longs = new BigUint64Array(words.buffer)
  let set = open()
  const prepare = () => bind(library, undefined, 'nvmlEventSetWait_v2', [set ?? 0n, words, 0])
  let wait = prepare()
  const close = (): void => {
    if (set !== undefined) bind(library, undefined, 'nvmlEventSetFree', [set])()
    set = undefined
  }
  return {
    poll(seen) {
      if (set === undefined) return
      for (let i = 0; i < MOST_EVENTS; i++) {
        const code = wait()
        if (code === GPU_IS_LOST) {
          // One lost GPU spoils the whole set: a new one takes those that still answer.
          close()
          set = open()
          wait = prepare()
          return
        }
        if (code !== SUCCESS) return
        const index = gpus.find(({ handle }) => handle === longs[EVENT_DATA.device / 8])?.index
        if (index === undefined || longs[EVENT_DATA.eventType / 8] !== XID_EVENT) continue
        const gi = words[EVENT_DATA.gpuInstanceId / 4] ?? NONE
        const ci = words[EVENT_DATA.computeInstanceId / 4] ?? NONE
        seen({ index, xid: Number(longs[EVENT_DATA.eventData / 8] ?? 0n), ...(gi === NONE ? {} : { gi }), ...(ci === NONE ? {} : { ci }) })
      }
    },
    close,
    failure: (index) => failures.get(index),
  }
}
