// The lines whose names say nothing: a shape that repeats while one of its figures counts. Step, total, epoch and loss are known by how they move.
import type { Field } from './fields.ts'
import { roleOf } from './roles.ts'

export type Learned = {
  readonly step?: number
  readonly total?: number
  readonly epoch?: number
  readonly loss?: number
  /** A figure named like a step's time that rises with the steps: it is the time since the start. */
  readonly elapsedNotStepTime?: boolean
  /** A figure named like the time since the start that goes up and down: the time of one step. */
  readonly stepTimeNotElapsed?: number
  /** How often the counter has risen in a row. */
  readonly risen: number
}
export type Learner = { readonly learn: (shape: string, fields: readonly Field[]) => Learned | undefined }

/** What counts in other logs: requests, records, packets, and names with a number. */
const NO_COUNTER =
  /\b(?:requests?|req|id|pid|tid|uid|port|conn\w*|sessions?|users?|clients?|lines?|offset|seq|packets?|messages?|msg|events?|channel|ring|node|workers?|threads?|cores?|attempts?|retry|retries|version|level|shards?|files?|partition|block|addr\w*|bytes|size|height|width|year|day|layer|gpu|rank|device|temp\w*|memory|mem|config|trials?|timer|code|status|errors?|warnings?)\b/
const NO_LOSS =
  /\b(?:latency|delay|usage|util\w*|load|temp\w*|temperature|mem\w*|size|cpu|disk|ping|time|dur\w*|took|power|watts?|volt\w*|clock|freq\w*|price|version|uptime|age|ratio|percent|progress|bandwidth)\b/
const MAX_SHAPES = 32
const ROWS = 6
const ENOUGH = 3

type Row = readonly number[]
type Shape = { rows: Row[]; risen: Map<number, number>; seen: number }

const rising = (values: readonly number[]): boolean => values.length >= ENOUGH && values.every((value, at) => at === 0 || value > (values[at - 1] ?? Infinity))
const constant = (values: readonly number[]): boolean => values.every((value) => value === values[0])
/** Even steps, as counters make them: the largest at most three times the smallest. */
function even(values: readonly number[]): boolean {
  const gaps = values.slice(1).map((value, at) => value - (values[at] ?? 0))
  return Math.max(...gaps) <= 3 * Math.min(...gaps)
}
/** Counts within an epoch begin again while the figure beside them goes up by one. */
const restarts = (values: readonly number[]): boolean => values.length >= ENOUGH && rising(values.slice(-2).concat(Infinity))

export function createLearner(): Learner {
  const shapes = new Map<string, Shape>()
  return {
    learn(shape, fields) {
      let known = shapes.get(shape)
      if (known === undefined) {
        if (shapes.size >= MAX_SHAPES) {
          const oldest = shapes.keys().next().value
          if (oldest !== undefined) shapes.delete(oldest)
        }
        known = { rows: [], risen: new Map(), seen: 0 }
      }
      // The newest shape stands last: what has not been seen for long is forgotten first.
      shapes.delete(shape)
      shapes.set(shape, known)
      known.rows.push(fields.map(({ value }) => value))
      known.seen += 1
      if (known.rows.length > ROWS) known.rows.shift()
      return known.rows.length < ENOUGH ? undefined : judge(known.rows, fields)
    },
  }
}

function judge(rows: readonly Row[], fields: readonly Field[]): Learned {
  const column = (at: number): readonly number[] => rows.map((row) => row[at] ?? Number.NaN)
  const free = (at: number): boolean => {
    const field = fields[at]
    return field !== undefined && field.unit === undefined && field.duration === undefined && !field.aside && roleOf(field) === undefined
  }
  const counters = fields.flatMap((field, at) => {
    const values = column(at)
    return free(at) &&
      !NO_COUNTER.test(field.key) &&
      field.whole &&
      values.every((value) => Number.isInteger(value) && value >= 0) &&
      (rising(values) || restarts(values)) &&
      !constant(values)
      ? [at]
      : []
  })
  const steady = counters.filter((at) => rising(column(at)) && even(column(at)))
  const at = steady.find((each) => fields[each]?.total !== undefined) ?? steady[0] ?? counters[0]
  const step = at === undefined ? undefined : fields[at]
  const out: { -readonly [K in keyof Learned]: Learned[K] } = { risen: at === undefined ? 0 : rows.length - 1 }
  if (at !== undefined && step !== undefined) {
    out.step = step.value
    const next = fields[at + 1]
    if (step.total !== undefined) out.total = step.total
    else if (next !== undefined && free(at + 1) && next.whole && constant(column(at + 1)) && next.value >= step.value && next.value > 1) out.total = next.value
  }
  // A loss: a broken figure that changes with each line, and not in proportion to the counter as a schedule does.
  const floats = fields.flatMap((field, each) =>
    free(each) && !NO_LOSS.test(field.key) && !field.whole && field.total === undefined && moves(column(each)) ? [each] : [],
  )
  const [only] = floats
  if (only !== undefined && floats.length === 1) out.loss = fields[only]?.value ?? Number.NaN
  const times = fields.findIndex((field) => roleOf(field)?.is === 'rate' && /\b(?:time|seconds|sec|secs|took|in)$/.test(field.key))
  if (times >= 0 && rising(column(times)) && proportional(column(times))) out.elapsedNotStepTime = true
  const since = fields.findIndex((field) => field.duration === undefined && roleOf(field)?.is === 'elapsed')
  if (since >= 0 && column(since).some((value, row, all) => row > 0 && value < (all[row - 1] ?? 0))) out.stepTimeNotElapsed = fields[since]?.value ?? Number.NaN
  return out
}

const moves = (values: readonly number[]): boolean => {
  const gaps = values.slice(1).map((value, at) => value - (values[at] ?? 0))
  return gaps.every((gap) => gap !== 0) && !(rising(values) && even(values)) && values.some((value) => !Number.isInteger(value))
}
/** Grows from line to line by about as much each time, and by more than it would as noise. */
const proportional = (values: readonly number[]): boolean => {
  const first = values[0] ?? 0
  const last = values.at(-1) ?? 0
  return even(values) && last > first * 1.2
}
