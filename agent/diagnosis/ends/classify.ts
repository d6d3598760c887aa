// Which kind an error is: each kind claims it with a weight, the surest has it.
import type { Facts } from '../../model/facts.ts'
import { WEIGHT, type EndKind, type ErrorPart } from './end-kind.ts'
import { errnoIn, kindOfErrno } from './errno.ts'
import type { ErrorSeen } from './evidence.ts'
import * as registry from './kinds/index.ts'

// Sorted, since a bundler keeps the order of the file and Node does not.
export const END_KINDS: readonly EndKind[] = Object.values(registry).toSorted((a, b) => (a.kind < b.kind ? -1 : 1))

export type Classified = { readonly end: EndKind; readonly weight: number; readonly facts: Facts }

const TAIL_LINES = 12
const LONGEST = 6_000

function partOf(error: Pick<ErrorSeen, 'name' | 'module' | 'message' | 'tail' | 'frames'>, weak: boolean): ErrorPart {
  const lines = error.tail.split('\n')
  const blank = lines.findIndex((line) => line.trim() === '')
  const tail = weak ? lines.slice(0, blank === -1 ? 2 : Math.min(blank, 2)) : lines.slice(0, TAIL_LINES)
  const full = `${error.message}\n${tail.join('\n')}`.trim().slice(0, LONGEST)
  return { ...error, full, errno: errnoIn(full) }
}

function surest(part: ErrorPart): Classified | undefined {
  let best: Classified | undefined
  const byErrno = kindOfErrno(part.errno)
  for (const end of END_KINDS) {
    const claim = end.claims?.(part)
    const errno = end.kind === byErrno ? WEIGHT.errno : 0
    const weight = Math.max(claim?.weight ?? 0, errno)
    if (weight > (best?.weight ?? 0)) best = { end, weight, facts: claim?.facts ?? {} }
  }
  if (best === undefined) return undefined
  return part.errno === undefined ? best : { ...best, facts: { errno: part.errno, ...best.facts } }
}

/** An error is asked for more than once while an end is judged. */
const known = new WeakMap<ErrorSeen, Classified | 'none'>()
export function classify(error: ErrorSeen, weak: boolean): Classified | undefined {
  const before = known.get(error)
  if (before !== undefined) return before === 'none' ? undefined : before
  const found = classifyAnew(error, weak)
  known.set(error, found ?? 'none')
  return found
}

/** The kind of an error; what it was raised from counts where the error itself says nothing in particular. */
function classifyAnew(error: ErrorSeen, weak: boolean): Classified | undefined {
  const own = surest(partOf(error, weak))
  let best = own
  for (const cause of error.causes) {
    const other = surest(partOf(cause, weak))
    if (other === undefined) continue
    if (best?.end === other.end) best = { ...best, facts: { ...other.facts, ...best.facts } }
    else if (
      cause.handled !== true &&
      (other.weight > Math.max(best?.weight ?? 0, WEIGHT.exception - 1) ||
        // That a worker is gone says less than by which signal it went.
        (best?.end.kind === 'worker_died' && other.end.stage === 'crash' && other.weight >= best.weight))
    )
      best = { ...other, facts: { ...best?.facts, ...other.facts } }
  }
  return best
}
