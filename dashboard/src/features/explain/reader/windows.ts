// Which lines of a log are shown: all of a short one, of a long one those around what was found.

export type LogLine = { readonly line: number; readonly text: string }
/** Both ends are part of it; lines count from 1. */
export type LogWindow = { readonly from: number; readonly to: number }

/** Shown whole up to here. */
const WHOLE_LINES = 400
const AROUND = 12
/** A page of more lines is read by nobody, and slow. */
const SHOWN_LINES = 3_000

/** In the order of the log. What does not fit is left out from the end of `marked`: the most important comes first there. */
export function windowsAround(marked: readonly number[], lineCount: number): readonly LogWindow[] {
  if (lineCount <= WHOLE_LINES) return [{ from: 1, to: lineCount }]
  const shown = new Set<number>()
  for (const mark of marked) {
    if (shown.size >= SHOWN_LINES) break
    for (let line = Math.max(1, mark - AROUND); line <= Math.min(lineCount, mark + AROUND); line += 1) shown.add(line)
  }
  const windows: { from: number; to: number }[] = []
  for (const line of [...shown].sort((a, b) => a - b)) {
    const last = windows.at(-1)
    if (last !== undefined && last.to === line - 1) last.to = line
    else windows.push({ from: line, to: line })
  }
  return windows
}
