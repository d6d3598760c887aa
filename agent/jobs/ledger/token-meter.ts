// Tokens of inference servers, charged to the job whose container or process serves.
import type { Series } from '../../model/series.ts'
import type { LiveRun } from '../live-run.ts'
import type { LedgerBook } from './book.ts'
import { ownerOfRun } from './looks.ts'

const MAX_SERIES = 1_000

export function createTokenMeter(running: ReadonlyMap<string, LiveRun>, book: LedgerBook): (series: Series, value: number, t: number) => void {
  const last = new Map<string, number>()
  const runOf = ({ container, pid }: Series['labels']): LiveRun | undefined => {
    for (const run of running.values()) {
      if (container === undefined ? pid !== undefined && run.identity.pid === Number(pid) : run.identity.container === container) return run
    }
    return undefined
  }
  return ({ key, labels }, value, t) => {
    const before = last.get(key)
    if (before === undefined && last.size >= MAX_SERIES) return
    last.set(key, value)
    // What it counted before the agent saw it is nobody's; a counter that fell has started over.
    const rise = before === undefined ? 0 : value >= before ? value - before : value
    if (rise === 0) return
    const run = runOf(labels)
    if (run !== undefined) {
      run.tokens += rise
      run.hasMoved = true
    }
    book.tokens(run === undefined ? {} : ownerOfRun(run), rise, t)
  }
}
