// Pure readers of /proc/PID/stat and /proc/PID/status.

/** The name is in parentheses and may itself hold parentheses, blanks and newlines: it ends at the last one. Field numbers as in proc(5). */
export function parseStat(text: string): { readonly comm: string; readonly startTicks: number } | undefined {
  const open = text.indexOf('(')
  const close = text.lastIndexOf(')')
  if (open < 0 || close < open) return undefined
  // The field after the parenthesis is number 3; field 22 is the start time in clock ticks since boot.
  let at = close + 2
  for (let field = 3; field < 22; field++) {
    at = text.indexOf(' ', at) + 1
    if (at === 0) return undefined
  }
  const end = text.indexOf(' ', at)
  const digits = end < 0 ? text.slice(at).trimEnd() : text.slice(at, end)
  if (!/^\d+$/.test(digits)) return undefined
  return { comm: text.slice(open + 1, close), startTicks: Number(digits) }
}

/** Real user id, and the pid in the innermost namespace: `NSpid: 4242 17` lists them from the reader's namespace inwards (Linux 4.1). */
export function parseStatus(text: string): { readonly uid?: number; readonly innerPid?: number } {
  const uid = /^Uid:\t(\d+)/m.exec(text)?.[1]
  const pids = /^NSpid:\t([\d\t ]+)$/m.exec(text)?.[1]?.trim().split(/\s+/)
  const inner = pids !== undefined && pids.length > 1 ? pids.at(-1) : undefined
  return { ...(uid === undefined ? {} : { uid: Number(uid) }), ...(inner === undefined ? {} : { innerPid: Number(inner) }) }
}

export type Family = { readonly comm: string; readonly parent: number; readonly session: number; readonly tty: number; readonly startTicks: number }
/** Of /proc/PID/stat: who started it, the session that it is in and its terminal (0: none). */
export function parseFamily(text: string): Family | undefined {
  const stat = parseStat(text)
  const [, parent, , session, tty] = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return stat === undefined ? undefined : { ...stat, parent: Number(parent), session: Number(session), tty: Number(tty) }
}
