// Whether a job that has made no step for long is in a loop that does not end. Long work looks the same for a while, so it is one only where looks over
// minutes find the same loop of the program, always computing and with nothing to show for it: no byte read or written, no memory taken. Pure.
import type { Frame } from '../model.ts'
import type { LoopLook } from '../live/request.ts'

export type Loop = { readonly pid: number; readonly rank: number; readonly at: Frame }
export type LoopWatch = {
  /** `silentMs`: for how long the job has done nothing that can be counted. */
  readonly looked: (t: number, silentMs: number, look: LoopLook | undefined) => void
  readonly reset: () => void
  /** The loop, once it is sure enough. */
  readonly found: () => Loop | undefined
}

const LOOKS = 3
const MOST_SEEN = 16
/** So many times `hangs.after` must the job be silent (8 min with 20 s), and half of that is between the first look and the last. */
export const LOOP_SILENT = 24
const LOOP_SEEN = 12
/** A loop of Python keeps one core busy, or waits for it on a host with more programs than cores; several cores are a library's work. */
const LEAST_WANTED = 0.5
/** The same where the waits are not known. */
const LEAST_CORES = 0.1
const MOST_CORES = 1.2
/** Threads that wake up now and then do as much; a bar of progress writes more. */
const BYTES_PER_SECOND = 100
const FAULTS_PER_SECOND = 1
const FAULTS_AT_ONCE = 64
const MEMORY_BYTES = 512 * 1024
/** How deep below the loop the program may be when it is seen. */
const MOST_BELOW = 2

type Seen = { readonly at: number; readonly look: LoopLook }

/** It computed all the time between the two looks, and nothing came of it. */
function inVain(before: Seen, now: Seen): boolean {
  const seconds = (now.at - before.at) / 1000
  const more = (name: keyof LoopLook['work']): number => now.look.work[name] - before.look.work[name]
  const cores = more('cpuSeconds') / seconds
  const wanted = before.look.wanted === undefined || now.look.wanted === undefined ? undefined : (now.look.wanted - before.look.wanted) / seconds
  return (
    (wanted === undefined ? cores >= LEAST_CORES : wanted >= LEAST_WANTED) &&
    cores <= MOST_CORES &&
    more('bytes') <= BYTES_PER_SECOND * seconds &&
    more('faults') <= FAULTS_AT_ONCE + FAULTS_PER_SECOND * seconds &&
    Math.abs(more('memory')) <= MEMORY_BYTES
  )
}

const sameCode = (a: Frame | undefined, b: Frame): boolean => a?.file === b.file && a.function === b.function

/**
 * The deepest function in which all stacks are, called from the same lines in all of them. Its own line goes to and fro in a loop; where it only
 * goes forward, it may be a program that does one thing after the other.
 */
function loopIn(stacks: readonly (readonly Frame[])[]): Frame | undefined {
  const [first = []] = stacks
  let depth = -1
  for (const [i, frame] of first.entries()) {
    if (!stacks.every((stack) => sameCode(stack[i], frame))) break
    depth = i
    if (!stacks.every((stack) => stack[i]?.line === frame.line)) break
  }
  if (depth === -1 || stacks.some((stack) => stack.length - 1 - depth > MOST_BELOW)) return undefined
  const lines = stacks.map((stack) => stack[depth]?.line ?? 0)
  const forward = lines.every((line, i) => i === 0 || line >= (lines[i - 1] ?? 0))
  return forward && new Set(lines).size > 1 ? undefined : stacks.at(-1)?.[depth]
}

export function createLoopWatch(afterMs: number): LoopWatch {
  let seen: Seen[] = []
  let found: Loop | undefined
  const reset = (): void => {
    seen = []
    found = undefined
  }
  return {
    looked(t, silentMs, look) {
      const before = seen.at(-1)
      if (look === undefined) return reset()
      const now = { at: t, look }
      const goesOn = before?.look.pid === look.pid && inVain(before, now)
      if (!goesOn) {
        reset()
        seen = [now]
        return
      }
      seen.push(now)
      if (seen.length > MOST_SEEN) seen.splice(1, 1)
      const [first] = seen
      if (first === undefined || seen.length < LOOKS || silentMs < LOOP_SILENT * afterMs || t - first.at < LOOP_SEEN * afterMs || !inVain(first, now)) return
      const at = loopIn(seen.flatMap((one) => one.look.stacks))
      // In a call into C nothing shows whether it ends.
      found = at !== undefined && seen.some((one) => one.look.moves) ? { pid: look.pid, rank: look.rank, at } : undefined
      // The first look may be of what it did before the loop.
      if (at === undefined) seen.shift()
    },
    reset,
    found: () => found,
  }
}
