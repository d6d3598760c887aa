// What the figures of a statement are by how they move from line to line: a counter rises evenly, an epoch rises when the counter starts again, a time since the start grows with the steps,
// a time left falls, a loss goes up and down. Names decide where they say something; here is what they leave open.
import type { Field } from './fields.ts'
import type { Role } from './roles.ts'
import { secondsOf } from './quantity.ts'

/** Indexes of fields. */
export type Learned = {
  readonly step?: number
  readonly total?: number
  readonly epoch?: number
  /** Called a total, but it rises: so many so far. */
  readonly count?: number
  /** Of `3/400` the second rises and the first stands: epoch and step. */
  readonly pair?: number
  readonly loss?: number
  /** Times that only grow, and by about as much each time: since the start, whatever they are called. */
  readonly elapsed: ReadonlySet<number>
  /** Called the time since the start, but goes up and down: the time of one step. */
  readonly each?: number
  /** It is that of so many steps. */
  readonly every?: number
  /** A length of time without a name that falls. */
  readonly left?: number
  /** Figures that never moved. */
  readonly still: ReadonlySet<number>
  /** Called steps, but hardly rise while another counter does: `critical_steps=0`. */
  readonly idle: ReadonlySet<number>
  /** What seems to be its total rises with it: `2706/3000/3000`, `2886/3200/3200`. */
  readonly grown: ReadonlySet<number>
  /** How often the counter has risen in a row. */
  readonly risen: number
}
export type Roles = readonly (Role | undefined)[]
/** `roles`: what the names of the fields say; `at`: when the line was written, in seconds. */
export type Learner = { readonly learn: (shape: string, fields: readonly Field[], roles: Roles, at?: number) => Learned | undefined }

/** What counts in other logs: requests, records, packets, and names with a number. */
const NO_COUNTER =
  /\b(?:requests?|req|id|pid|subprocess|process|tid|uid|port|conn\w*|sessions?|users?|clients?|lines?|offset|seq|packets?|messages?|msg|events?|channel|ring|node|workers?|threads?|cores?|attempts?|retry|retries|version|level|shards?|files?|partition|block|addr\w*|bytes|size|height|width|year|day|layer|gpu|rank|device|temp\w*|memory|mem|config|trials?|timer|code|status|errors?|warnings?|fails?|docs?|documents?|rows?|records?|jobs?|tasks?|pods?|class|classes|category|label|cluster|topic|component|module|example|folds?|player|seed|improve\w*|patience|counter|count|chunks?|bins?|splits?|quantiles?|points|sees|datasets?|domain|client|residuals?|players?|depth|height|blob|bucket)\b/
const NO_LOSS =
  /\b(?:latency|delay|usage|util\w*|load|temp\w*|temperature|mem\w*|size|cpu|disk|ping|time|dur\w*|took|power|watts?|volt\w*|clock|freq\w*|price|version|uptime|age|ratio|percent|progress|bandwidth|rtt|avg|min|max|p\d\d|ap|map|acc|accuracy|auc|f1|iou|dice|precision|recall|score|mean|std|median|mspt|reward|psnr|ssim|bleu|wer|cer|r2|epsilon|eps|wr|force|imbalance)\b/
/** Of all steps since the last line, where others say `duration` of one. */
const SINCE_LAST = /\btraining time\b|\bwall time\b|\bsince last\b/
const MAX_SHAPES = 32
const ROWS = 6
const ENOUGH = 3

/** The figures and what each counts to, then the time of the line. */
type Row = readonly number[]
type Values = readonly number[]

const gapsOf = (values: Values): Values => values.slice(1).map((value, at) => value - (values[at] ?? Number.NaN))
const rising = (values: Values): boolean => gapsOf(values).every((gap) => gap > 0)
const constant = (values: Values): boolean => values.every((value) => value === values[0])
const counts = (values: Values): boolean => values.every((value) => Number.isInteger(value) && value >= 0)
/** The largest gap is at most so many times the smallest. */
const even = (gaps: Values, times: number): boolean => Math.max(...gaps) <= times * Math.min(...gaps)
/** Counters are printed each so many steps. */
const regular = (values: Values): boolean => rising(values) && even(gapsOf(values), 1.5)
/** Grows by about as much each time, and by more than a time that hardly changes would. */
const grows = (values: Values): boolean => rising(values) && even(gapsOf(values), 3) && (values.at(-1) ?? 0) > 1.2 * (values[0] ?? 0)
/** A clock that began long ago grows little by little, by more than one step of it takes. */
const sinceLong = (values: Values): boolean => rising(values) && even(gapsOf(values), 1.5) && values.length >= ENOUGH

export function createLearner(): Learner {
  const shapes = new Map<string, Row[]>()
  return {
    learn(shape, fields, roles, at = Number.NaN) {
      const rows = shapes.get(shape) ?? []
      if (!shapes.has(shape) && shapes.size >= MAX_SHAPES) for (const oldest of shapes.keys()) if (shapes.delete(oldest)) break
      // The newest shape is last: what has not been seen for long is forgotten first.
      shapes.delete(shape)
      shapes.set(shape, rows)
      const row: number[] = []
      for (const { value, total } of fields) row.push(value, total ?? Number.NaN)
      // The same line again: a bar that was read twice, the other rank.
      const before = rows.at(-1)
      if (before?.length === row.length + 1 && row.every((value, index) => Object.is(value, before[index]))) rows.pop()
      row.push(at)
      rows.push(row)
      if (rows.length > ROWS) rows.shift()
      const alike = rows.filter((row) => row.length === 2 * fields.length + 1)
      return alike.length < ENOUGH ? early(alike, roles) : judge(alike, fields, roles)
    },
  }
}

/** Twice as far, twice as long. */
const IN_STEP = 0.15
/** In seconds: hardly any step takes as long, and none as much longer each time as the steps went on. */
const LONG = 60

/** After two lines: what is called a total, but has risen; a time that has grown as the step has is the time since the start. */
function early(rows: readonly Row[], roles: Roles): Learned | undefined {
  const [first, second] = rows
  if (first === undefined || second === undefined) return undefined
  const growth = (at: number): number => (second[2 * at] ?? Number.NaN) / (first[2 * at] ?? Number.NaN)
  const count = roles.findIndex((role, at) => role?.is === 'total' && (second[2 * at] ?? 0) > (first[2 * at] ?? Infinity))
  const further = growth(roles.findIndex((role, at) => role?.is === 'step' && growth(at) > 1))
  const elapsed = new Set(
    roles.flatMap((role, at) => {
      if (role?.is !== 'rate' || role.took !== true) return []
      const alike = further > 1 + 2 * IN_STEP ? growth(at) / further : (role.rate.secondsEach ?? 0) > LONG ? (growth(at) - 1) / (further - 1) : Number.NaN
      return Math.abs(alike - 1) < IN_STEP ? [at] : []
    }),
  )
  // Called the time since the start, but the steps went on and it is less than it was.
  const each = further > 1 ? roles.findIndex((role, at) => role?.is === 'elapsed' && growth(at) < 1) : -1
  // What it counts to has risen, and the counter stays: `Batch 3/400`, `Batch 3/500`.
  const pair = roles.findIndex(
    (role, at) => role?.is === 'step' && first[2 * at] === second[2 * at] && (second[2 * at + 1] ?? 0) > (first[2 * at + 1] ?? Infinity),
  )
  if (count < 0 && elapsed.size === 0 && each < 0 && pair < 0) return undefined
  return {
    ...(count < 0 ? {} : { count }),
    ...(each < 0 ? {} : { each }),
    ...(pair < 0 ? {} : { pair }),
    elapsed,
    idle: new Set(),
    grown: new Set(),
    risen: 0,
    still: new Set(),
  }
}

/** Counters of an epoch start again when the figure of the epoch rises by one. */
function epochOf(values: Values, columns: readonly Values[]): number | undefined {
  const gaps = gapsOf(values)
  const drops = gaps.flatMap((gap, at) => (gap < 0 ? [at] : []))
  const rises = gaps.filter((gap) => gap > 0)
  if (drops.length === 0 || drops.length + rises.length < gaps.length || rises.length === 0 || !even(rises, 1.5)) return undefined
  const found = columns.findIndex((column) => counts(column) && gapsOf(column).every((gap, at) => gap === (drops.includes(at) ? 1 : 0)))
  return found < 0 ? undefined : found
}

function judge(rows: readonly Row[], fields: readonly Field[], roles: Roles): Learned {
  const columns = fields.map((_, at) => rows.map((row) => row[2 * at] ?? Number.NaN))
  const column = (at: number): Values => columns[at] ?? []
  const plain = ({ unit, duration, aside }: Field): boolean => unit === undefined && duration === undefined && !aside
  const free = (at: number): boolean => {
    const field = fields[at]
    return field !== undefined && plain(field) && roles[at] === undefined
  }
  const all = fields.map((_, at) => at)
  const totals = (at: number): Values => rows.map((row) => row[2 * at + 1] ?? Number.NaN)
  const counters = all.filter(
    (at) => free(at) && !isSize(fields[at]) && fields[at]?.whole === true && !NO_COUNTER.test(fields[at]?.key ?? '') && counts(column(at)),
  )
  const steady = counters.filter((at) => regular(column(at)))
  const still = new Set(all.filter((at) => constant(column(at))))
  const passed = gapsOf(rows.map((row) => row.at(-1) ?? Number.NaN))
  const [from, to] = longestRun(column(roles.findIndex((role) => role?.is === 'step')))
  const out: { -readonly [K in keyof Learned]: Learned[K] } = {
    risen: 0,
    still,
    grown: new Set(all.filter((at) => fields[at]?.total !== undefined && rising(totals(at)) && rising(column(at)))),
    idle: idleOf(
      all.filter((at) => roles[at]?.is === 'step' && fields[at]?.total === undefined),
      column,
    ),
    elapsed: new Set(
      all.filter((at) => isElapsed(fields[at], roles[at], column(at).slice(from, to), passed.slice(from, to === undefined ? undefined : to - 1))),
    ),
  }
  const count = all.find((at) => roles[at]?.is === 'total' && regular(column(at)))
  if (count !== undefined) out.count = count
  const pair = all.find((at) => {
    const changed = totals(at).filter((total, row, before) => total !== before[row - 1])
    return changed.length > 1 && constant(column(at)) && regular(changed)
  })
  if (pair !== undefined) out.pair = pair
  const restarted = counters.find((at) => epochOf(column(at), columns) !== undefined)
  const step = steady.find((at) => fields[at]?.total !== undefined) ?? steady[0] ?? restarted
  if (step !== undefined) {
    out.step = step
    out.risen = rows.length - 1
    const epoch = epochOf(column(step), columns)
    const around = epoch ?? all.find((at) => at < step && free(at) && fields[at]?.total !== undefined && still.has(at))
    if (around !== undefined) out.epoch = around
    const [own, next] = [fields[step], fields[step + 1]]
    if (own?.total !== undefined) out.total = own.total
    else if (
      next !== undefined &&
      free(step + 1) &&
      !isSize(next) &&
      next.whole &&
      constant(column(step + 1)) &&
      next.value >= (own?.value ?? 0) &&
      next.value > 1
    )
      out.total = next.value
  }
  const floats = all.filter(
    (at) =>
      free(at) &&
      !NO_LOSS.test(fields[at]?.key ?? '') &&
      fields[at]?.whole === false &&
      fields[at]?.total === undefined &&
      moves(column(at)) &&
      !isEnergy(fields[at], column(at)),
  )
  const falls = floats.filter((at) => (fields[at]?.key.length ?? 9) <= 2 && (column(at).at(-1) ?? 0) < (column(at)[0] ?? 0))
  const loss = floats.length === 1 ? floats[0] : (floats.find((at) => isSum(at, floats, rows)) ?? falls[0])
  if (loss !== undefined) out.loss = loss
  const each = all.find((at) => fields[at]?.duration === undefined && roles[at]?.is === 'elapsed' && gapsOf(column(at)).some((gap) => gap < 0))
  if (each !== undefined) {
    out.each = each
    // A line for many steps may give the time of them all.
    const gap = gapsOf(column(step ?? roles.findIndex((role) => role?.is === 'step'))).at(-1) ?? 1
    if (gap > 1 && SINCE_LAST.test(fields[each]?.key ?? '')) out.every = gap
  }
  const left = all.find((at) => fields[at]?.duration !== undefined && roles[at] === undefined && rising(column(at).map((value) => -value)))
  if (left !== undefined) out.left = left
  return out
}

/** Of several counters those that stand still or wander, where another counts evenly. */
function idleOf(steps: readonly number[], column: (at: number) => Values): ReadonlySet<number> {
  if (steps.length < 2 || !steps.some((at) => regular(column(at)))) return new Set()
  return new Set(steps.filter((at) => 2 * gapsOf(column(at)).filter((gap) => gap > 0).length < column(at).length))
}

/** `812M` without a name: how large something is. */
const isSize = (field: Field | undefined): boolean => field?.kilo === true && field.key === ''

/** Where the counter rises longest: with it starts again what is counted since the beginning of an epoch. */
function longestRun(steps: Values): readonly [from: number, to: number | undefined] {
  let best: readonly [number, number] = [0, 0]
  let from = 0
  for (const [at, gap] of [...gapsOf(steps), -1].entries())
    if (gap <= 0) {
      if (at + 1 - from > best[1] - best[0]) best = [from, at + 1]
      from = at + 1
    }
  return best[1] - best[0] >= ENOUGH ? best : [0, undefined]
}

/** Named as the time of a step, or a bare time, but it only grows. Said in so many words ("per step") it is believed. */
function isElapsed(field: Field | undefined, role: Role | undefined, values: Values, passed: Values): boolean {
  if (field === undefined || field.duration !== undefined) return false
  const took = role?.is === 'rate' && role.took === true && /\b(?:time|seconds|sec|secs|took|in|ms|dt)$/.test(field.key)
  const bare = role === undefined && field.key === '' && /^(?:m?s|secs?|seconds?)$/.test(field.unit ?? '')
  if (!took && !bare) return false
  // No step takes many times as long as from one line to the next.
  const scale = secondsOf(field.unit ?? 's') ?? 1
  const long = rising(values) && passed.every((gap, at) => gap > 0 && (values[at + 1] ?? 0) * scale > 5 * gap)
  const clock = values.length > ENOUGH + 1 && sinceLong(values)
  return grows(values) || long || clock || (/^(?:train|total|training|wall) /.test(field.key) && sinceLong(values))
}

/** A column without a name that stays far below zero: an energy of a simulation. */
const isEnergy = (field: Field | undefined, values: Values): boolean => field?.key === '' && values.every((value) => value < -1_000)

/** One of several figures is the sum of the others in each row: the whole of a loss beside its parts. */
const isSum = (at: number, among: readonly number[], rows: readonly Row[]): boolean =>
  among.length >= 3 &&
  rows.every((row) => {
    const whole = row[2 * at] ?? Number.NaN
    const parts = among.reduce((sum, other) => sum + (other === at ? 0 : (row[2 * other] ?? Number.NaN)), 0)
    return Math.abs(whole) > 0 && Math.abs(parts - whole) <= 0.002 * Math.abs(whole)
  })

/** A loss that is none once is none from then on. */
const comesBack = (values: Values): boolean => values.some((value, at) => at > 0 && Number.isNaN(values[at - 1]) && !Number.isNaN(value))
const moves = (values: Values): boolean => {
  if (comesBack(values)) return false
  const gaps = gapsOf(values)
  return gaps.every((gap) => gap !== 0) && !rising(values) && values.some((value) => !Number.isInteger(value))
}
