// Quiet hours of a route: when its messages wait.
import * as z from 'zod/mini'
import { nearest } from '../../lib/nearest.ts'
import type { QuietHours } from '../../model/alert-settings.ts'
import { SEVERITIES, type Severity } from '../../model/severity.ts'
import { clockOfDay } from '../../text/time.ts'
import type { Field, PartProblem, ReadParts } from '../field.ts'
import { readGroups } from '../groups.ts'
import { describeValue, mustBe } from '../problem.ts'

const MAX_SPANS = 16
/** As `Date` counts them. */
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const
const ALL_DAYS = DAYS.map((_, day) => day)
const DAY_MINUTES = 24 * 60

/** Minutes since midnight; `24:00` is the day's end. */
function minutesOf(text: string): number | undefined {
  const [, hours, minutes] = /^([01]?\d|2[0-4]):([0-5]\d)$/.exec(text) ?? []
  const found = Number(hours) * 60 + Number(minutes)
  return found <= DAY_MINUTES ? found : undefined
}

/** A field that is read by a function of its own, which gives undefined where the value is none. */
function field<T>(
  about: Pick<Field<T>, 'expected' | 'default' | 'description'>,
  read: (value: unknown) => T | undefined,
  why?: (value: unknown) => string | undefined,
): Field<T> {
  return {
    kind: 'parts',
    schema: z.custom<T>(() => true),
    secret: false,
    ...about,
    read(value) {
      const found = read(value)
      return found === undefined ? { problems: [{ path: [], text: why?.(value) ?? mustBe(about.expected, describeValue(value)) }] } : { value: found }
    },
  }
}

function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
const time = (description: string): Field<number> =>
  field({ expected: 'a time of day such as "22:00"', default: 0, description }, (value) => (typeof value === 'string' ? minutesOf(value) : undefined))

const fields = {
  from: time('When it begins.'),
  to: time('When it ends, on the next day where it is not after "from".'),
  days: field<readonly number[]>({ expected: `a list of ${DAYS.join(', ')}`, default: ALL_DAYS, description: 'Days on which it begins.' }, (value) => {
    const days = Array.isArray(value) ? value.map((name: unknown) => DAYS.findIndex((day) => day === name)) : []
    return days.length === 0 || days.includes(-1) ? undefined : days
  }),
  zone: field<string | undefined>(
    { expected: 'a time zone such as Europe/Berlin', default: undefined, description: "Whose clock it is; the host's unless set." },
    (value) => (typeof value === 'string' && isZone(value) ? value : undefined),
    (value) =>
      typeof value === 'string'
        ? `unknown time zone ${JSON.stringify(value)}; the nearest valid one is ${nearest(value, Intl.supportedValuesOf('timeZone')) ?? 'UTC'}`
        : undefined,
  ),
  except: field<Severity | undefined>(
    { expected: `one of ${SEVERITIES.join(', ')}`, default: undefined, description: 'Incidents of this severity or worse are sent even then.' },
    (value) => SEVERITIES.find((severity) => severity === value),
  ),
}

/** Whether no minute of the week is left; spans of several zones are not weighed against each other. */
function coverTheWeek(spans: readonly QuietHours[]): boolean {
  if (new Set(spans.map(({ zone }) => zone)).size !== 1) return false
  const week = new Set<number>()
  for (const { from, to, days } of spans)
    for (const day of days)
      for (let minute = from; minute < (to > from ? to : to + DAY_MINUTES); minute++) week.add((day * DAY_MINUTES + minute) % (7 * DAY_MINUTES))
  return week.size === 7 * DAY_MINUTES
}

const read: ReadParts<readonly QuietHours[]> = (value) => {
  const { groups, problems } = readGroups(value, { fields, required: ['from', 'to'], expected: 'a list of quiet hours', max: MAX_SPANS })
  const spans = groups.map(({ values: { from, to, days, zone, except } }): QuietHours => ({
    from,
    to,
    days,
    ...(zone === undefined ? {} : { zone }),
    ...(except === undefined ? {} : { except }),
  }))
  const never: readonly PartProblem[] = coverTheWeek(spans)
    ? [{ path: [], text: 'the quiet hours cover the whole week, so nothing would ever be sent: leave some time free, or match only what is to be sent' }]
    : []
  const all = [...problems, ...never]
  return all.length === 0 ? { value: spans } : { problems: all }
}

export const quietHours: Field<readonly QuietHours[]> = {
  kind: 'parts',
  schema: z.custom<readonly QuietHours[]>((value) => Array.isArray(value)),
  expected: 'a list of quiet hours',
  default: [],
  description: 'When messages wait.',
  secret: false,
  read,
}

/** As it is in the file. */
export const shownQuiet = ({ from, to, days, zone, except }: QuietHours): unknown => ({
  from: clockOfDay(from),
  to: clockOfDay(to),
  ...(days.length === DAYS.length ? {} : { days: days.map((day) => DAYS[day]) }),
  zone,
  except,
})
