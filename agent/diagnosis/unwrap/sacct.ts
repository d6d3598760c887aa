// Slurm's record of what became of one job (sacct, scontrol show job), in the words of seff: `Job ID:` and `State: TIMEOUT (exit code 0)`. The columns of sacct are whichever were asked for, as wide as the dashes below their names.

const HEAD = /^\s*JobID\s.*\bState\b/
const DASHES = /^\s*-{2,}(?: +-{2,})*\s*$/
const JOB = /^\d{1,12}(?:_\d{1,9})?$/
const ENDED = /^(?:FAILED|TIMEOUT|DEADLINE|CANCELLED|NODE_FAIL|PREEMPTED|OUT_OF_MEMORY)/
const MOST_ROWS = 200
const SHOWN_LINES = 12

/** Cells by the places of the dashes. */
function cellsOf(line: string, dashes: string): readonly string[] {
  const columns = [...dashes.matchAll(/-+/g)]
  return columns.map(({ index, 0: { length } }) => line.slice(index, index + length).trim())
}

/** `1:0` is a code, `0:9` a signal, which shells give as 137. */
function exitCode(text: string | undefined): number {
  const [code = 0, signal = 0] = (text ?? '').split(':').map(Number)
  return code === 0 && signal > 0 ? 128 + signal : code
}

const ended = (state: string, code: string | undefined): string | undefined => {
  const word = ENDED.exec(state)?.[0]
  return word === undefined ? undefined : `State: ${word} (exit code ${exitCode(code)})`
}

/** `scontrol show job`: names and values in pairs, with --oneliner all in one line. */
function shown(lines: readonly string[]): readonly string[] | undefined {
  const heads = lines.flatMap((line, at) => (/^\s*JobId=\d{1,12} /.test(line) ? [at] : []))
  const [head] = heads
  if (head === undefined || heads.length > 1) return undefined
  const oneLine = /\sJobState=(\w{1,20})\s.*\sExitCode=(\d{1,3}:\d{1,3})/.exec(lines[head] ?? '')
  const whole = oneLine === null ? undefined : ended(oneLine[1] ?? '', oneLine[2])
  if (whole !== undefined) return lines.with(head, whole)
  const state = lines.findIndex((line, at) => at > head && /^\s*JobState=/.test(line))
  if (state < 0 || state > head + SHOWN_LINES) return undefined
  const code = lines.slice(state, state + SHOWN_LINES).find((line) => line.includes(' ExitCode='))
  const reported = ended(/JobState=(\w{1,20})/.exec(lines[state] ?? '')?.[1] ?? '', / ExitCode=(\d{1,3}:\d{1,3})/.exec(code ?? '')?.[1])
  return reported === undefined ? undefined : lines.with(head, `Job ID: ${/\d+/.exec(lines[head] ?? '')?.[0]}`).with(state, reported)
}

const PIPED_HEAD = /^\s*JobID(?:Raw)?\|.*\bState\b/
const PIPED_JOB = /^\d{1,12}(?:_\d{1,9})?\|/
/** `sacct -P`: bars between the columns, with or without their names above. */
function piped(lines: readonly string[]): readonly string[] | undefined {
  const rows = lines.flatMap((line, at) => (PIPED_JOB.test(line.trimStart()) ? [at] : []))
  const [row] = rows
  if (row === undefined || rows.length > 1) return undefined
  const cells = (lines[row] ?? '').trim().split('|')
  const head = lines.findIndex((line, at) => at < row && PIPED_HEAD.test(line))
  const names = head < 0 ? [] : (lines[head] ?? '').trim().split('|')
  const state = names.length === 0 ? cells.find((cell) => /^(?:CANCELLED by \d{1,12}|OUT_OF_MEMORY|NODE_FAIL)$/.test(cell)) : cells[names.indexOf('State')]
  const reported = ended(state ?? '', names.length === 0 ? cells.find((cell) => /^\d{1,3}:\d{1,3}$/.test(cell)) : cells[names.indexOf('ExitCode')])
  if (reported === undefined) return undefined
  return head < 0 ? lines.with(row, reported) : lines.with(head, `Job ID: ${cells[0]}`).with(row, reported)
}

const BARE = /^\s{0,40}(\d{1,12}(?:_\d{1,9})?) .{1,200}\s(FAILED|TIMEOUT|DEADLINE|CANCELLED|NODE_FAIL|PREEMPTED|OUT_OF_ME)\+? {1,20}(\d{1,3}:\d{1,3})\s*$/
/** Rows of one job and its steps without the names of their columns. */
function bare(lines: readonly string[]): readonly string[] | undefined {
  const rows = lines.flatMap((line, at) => (BARE.test(line) ? [at] : []))
  const [row] = rows
  if (row === undefined || rows.length > 1) return undefined
  const [, job = '', state = '', code] = BARE.exec(lines[row] ?? '') ?? []
  const reported = ended(state.replace('OUT_OF_ME', 'OUT_OF_MEMORY'), code)
  return reported !== undefined && lines.some((line) => line.trimStart().startsWith(`${job}.`)) ? lines.with(row, reported) : undefined
}

/** The lines, where they tell of one job that did not complete; with several nobody can say which is meant. */
export function accounted(lines: readonly string[]): readonly string[] {
  const head = lines.findIndex((line, at) => HEAD.test(line) && DASHES.test(lines[at + 1] ?? ''))
  if (head < 0) return shown(lines) ?? piped(lines) ?? bare(lines) ?? lines
  const dashes = lines[head + 1] ?? ''
  const names = cellsOf(lines[head] ?? '', dashes)
  const [id, state, code] = ['JobID', 'State', 'ExitCode'].map((name) => names.indexOf(name))
  if (id !== 0 || state === undefined || state < 0) return lines
  const jobs = lines.slice(head + 2, head + 2 + MOST_ROWS).flatMap((line, at) => {
    const cells = cellsOf(line, dashes)
    return JOB.test(cells[0] ?? '') ? [{ at: head + 2 + at, job: cells[0], state: cells[state] ?? '', code: cells[code ?? -1] }] : []
  })
  const [one] = jobs
  const reported = one === undefined || jobs.length > 1 ? undefined : ended(one.state, one.code)
  if (one === undefined || reported === undefined) return lines
  return lines.with(head + 1, `Job ID: ${one.job}`).with(one.at, reported)
}
