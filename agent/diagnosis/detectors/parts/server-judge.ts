// The frame of a detector that judges inference servers one by one: a sign must last, its end too, and a server that is gone is over.
import type { DetectedKind } from '../../../model/kinds.ts'
import type { TypedFaulty, TypedFinding } from '../../../model/finding.ts'
import { createHold, type Hold } from './hold.ts'
import { createFindingDeduper, type FindingDeduper } from './per-gpu.ts'
import type { Present } from './present.ts'
import { aboutServer, serverRowsOf, serversAreRead, type ServerRow } from './server-rows.ts'

export type ServerSigns = {
  readonly kind: DetectedKind
  readonly forMs: number
  readonly clearMs: number
  /** undefined: nobody can tell. */
  readonly sees: (row: ServerRow, t: number) => boolean | undefined
  readonly tell: (row: ServerRow, sinceT: number, t: number) => TypedFaulty
  /** Why it is over. */
  readonly over: (row: ServerRow) => string
  readonly forget?: (key: string) => void
}
type State = { readonly hold: Hold; readonly deduper: FindingDeduper; sinceT: number | undefined }

const MAX_SERVERS = 512

export function createServerJudge(present: Present, signs: ServerSigns): (t: number) => readonly TypedFinding[] {
  const { kind, forMs, clearMs, sees, tell, over, forget } = signs
  const states = new Map<string, State>()
  const stateOf = (row: ServerRow): State => {
    let state = states.get(row.key)
    if (state === undefined) {
      if (states.size >= MAX_SERVERS) for (const oldest of states.keys()) if (states.delete(oldest)) break
      const hold = createHold({ forMs, clearMs })
      states.set(row.key, (state = { hold, deduper: createFindingDeduper({ kind, key: row.key, about: aboutServer(row) }), sinceT: undefined }))
    }
    return state
  }
  return (t) => {
    const found: TypedFinding[] = []
    const rows = serverRowsOf(present)
    for (const row of rows) {
      const state = stateOf(row)
      const faulty = sees(row, t)
      if (faulty === true) state.sinceT ??= t
      const held = state.hold.see(t, faulty)
      if (held === 'faulty') state.deduper.faulty(found, tell(row, state.sinceT ?? t, t))
      else if (held === 'healthy') {
        state.sinceT = undefined
        state.deduper.healthy(found, over(row))
      }
    }
    if (!serversAreRead(present, t)) return found
    for (const [key, { deduper }] of states) {
      if (rows.some((row) => row.key === key)) continue
      deduper.healthy(found, 'the server has ended')
      states.delete(key)
      forget?.(key)
    }
    return found
  }
}
