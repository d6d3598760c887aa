// Who is notified of which incidents, and when.
import * as z from 'zod/mini'
import { durationText } from '../../text/duration.ts'
import {
  INCIDENT_LABELS,
  isIncidentRoute,
  isRunRoute,
  isWasteRoute,
  RUN_LABELS,
  WASTE_LABELS,
  type IncidentLabel,
  type Route,
  type RunLabel,
  type WasteLabel,
} from '../../model/alert-settings.ts'
import { OUTCOMES } from '../../model/job.ts'
import { WASTE_PERIODS } from '../../model/ledger.ts'
import { SEVERITIES } from '../../model/severity.ts'
import { INCIDENT_KINDS } from '../../model/kinds.ts'
import { duration, onOff, optionalDuration, type Field, type PartProblem, type ReadParts } from '../field.ts'
import { isGroup, readGroups } from '../groups.ts'
import { nearest } from '../../lib/nearest.ts'
import { describeValue } from '../problem.ts'
import { quietHours, shownQuiet } from './quiet-hours.ts'

/** Beyond these a list is none that a person wrote. */
const MAX_ROUTES = 128
const MAX_NAMES = 64
const MAX_PATTERN = 256

/** What a route has that says nothing else. */
export const routeDefaults: Omit<Route, 'to' | 'match'> = { groupBy: [], waitMs: 200, repeatMs: 4 * 3_600_000, quiet: [], resolved: true }

const isLabel = (name: string): name is IncidentLabel => (INCIDENT_LABELS as readonly string[]).includes(name)
type RouteLabel = IncidentLabel | RunLabel | WasteLabel
const ROUTE_LABELS: readonly RouteLabel[] = [...new Set<RouteLabel>([...INCIDENT_LABELS, ...RUN_LABELS, ...WASTE_LABELS])]
const isRouteLabel = (name: string): name is RouteLabel => (ROUTE_LABELS as readonly string[]).includes(name)
const isRunLabel = (name: string): name is RunLabel => (RUN_LABELS as readonly string[]).includes(name)
const isWasteLabel = (name: string): name is WasteLabel => (WASTE_LABELS as readonly string[]).includes(name)
const problem = (text: string, ...path: PartProblem['path']) => ({ problems: [{ path, text }] })

/** One text, or a list of them; YAML's numbers are taken as they are written. */
function textsIn(value: unknown): readonly string[] | undefined {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  const fit = list.length > 0 && list.length <= MAX_NAMES && list.every((one) => typeof one === 'number' || (typeof one === 'string' && one !== ''))
  return fit ? list.map(String) : undefined
}

function listField<T extends string>(
  about: { readonly expected: string; readonly default: readonly T[]; readonly description: string },
  read: ReadParts<readonly T[]>,
) {
  const schema = z.custom<readonly T[]>((value) => Array.isArray(value))
  const field: Field<readonly T[]> = { kind: 'parts', schema, secret: false, read, ...about }
  return field
}

const unknownKind = (text: string): string => `unknown kind ${JSON.stringify(text)}; the nearest valid one is ${nearest(text, INCIDENT_KINDS) ?? ''}`
const unknownSeverity = (text: string): string => `must be one of ${SEVERITIES.join(', ')}, or a pattern with *, not ${describeValue(text)}`
/** Labels whose values are known, and what is said of all others. */
const unknownOutcome = (text: string): string => `unknown outcome ${JSON.stringify(text)}; there are ${OUTCOMES.join(', ')}`
const KNOWN: Partial<Record<RouteLabel, { readonly values: readonly string[]; readonly unknown: (text: string) => string }>> = {
  kind: { values: INCIDENT_KINDS, unknown: unknownKind },
  severity: { values: SEVERITIES, unknown: unknownSeverity },
  outcome: { values: OUTCOMES, unknown: unknownOutcome },
  waste: { values: WASTE_PERIODS, unknown: (text) => `must be one of ${WASTE_PERIODS.join(', ')}, not ${describeValue(text)}` },
}
/** What is wrong with the patterns of one label. */
function patternProblems(label: RouteLabel, patterns: readonly string[]): readonly PartProblem[] {
  return patterns.flatMap((pattern): readonly PartProblem[] => {
    if (pattern.length > MAX_PATTERN) return [{ path: [label], text: `must be at most ${MAX_PATTERN} characters, not ${pattern.length}` }]
    const known = KNOWN[label]
    const isKnown = known === undefined || pattern.includes('*') || known.values.includes(pattern)
    return isKnown ? [] : [{ path: [label], text: known.unknown(pattern) }]
  })
}

const unknownLabel = (name: string, labels: readonly string[] = INCIDENT_LABELS): string =>
  `unknown label ${JSON.stringify(name)}; the nearest valid one is ${nearest(name, labels) ?? ''}`

/** Incidents have no outcome and runs no severity, so a route that asks for both would fit nothing. */
function mixedProblems(match: Route['match']): readonly PartProblem[] {
  const names = Object.keys(match)
  if (isWasteRoute({ match }))
    return names
      .filter((name) => !isWasteLabel(name))
      .map((name) => ({
        path: [name],
        text: `does not go with waste: a route with waste is about summaries of waste, and asks for ${WASTE_LABELS.join(', ')}`,
      }))
  if (isRunRoute({ match }))
    return names
      .filter((name) => !isRunLabel(name))
      .map((name) => ({ path: [name], text: `is a label of incidents: a route with outcome is about runs that ended, and asks for ${RUN_LABELS.join(', ')}` }))
  return names
    .filter((name) => !isLabel(name))
    .map((name) => ({
      path: [name],
      text: `is a label of runs: add outcome, such as outcome: [failed, out_of_memory], or outcome: "*" for every end${isWasteLabel(name) ? '; or waste: [daily] for the summary of waste' : ''}`,
    }))
}

const readMatch: ReadParts<Route['match']> = (value) => {
  if (!isGroup(value)) return problem(`must be labels with their values, not ${describeValue(value)}`)
  const problems: PartProblem[] = []
  const match: Partial<Record<RouteLabel, readonly string[]>> = {}
  for (const [label, wanted] of Object.entries(value)) {
    const patterns = textsIn(wanted)
    if (!isRouteLabel(label)) problems.push({ path: [label], text: unknownLabel(label, ROUTE_LABELS) })
    else if (patterns === undefined) problems.push({ path: [label], text: `must be a text or a list of up to ${MAX_NAMES}, not ${describeValue(wanted)}` })
    else {
      problems.push(...patternProblems(label, patterns))
      match[label] = patterns
    }
  }
  if (problems.length === 0) problems.push(...mixedProblems(match))
  return problems.length === 0 ? { value: match } : { problems }
}

/** Which incidents an action is for: labels of incidents, none of runs. */
export const incidentMatch: Field<Route['match']> = {
  kind: 'parts',
  schema: z.custom<Route['match']>(isGroup),
  expected: 'labels with what they must be',
  default: {},
  description: 'Incidents it applies to, as in routes.',
  secret: false,
  read(value) {
    const found = readMatch(value)
    return 'value' in found && !isIncidentRoute({ match: found.value })
      ? problem('must not ask for outcome or waste: runs and summaries call for no action')
      : found
  },
}

const fields = {
  to: listField({ expected: 'the name of a notifier, or a list of them', default: [], description: 'Who is notified.' }, (value) => {
    const names = textsIn(value)
    return names === undefined ? problem(`must be the name of a notifier, or a list of them, not ${describeValue(value)}`) : { value: names }
  }),
  match: {
    kind: 'parts',
    schema: z.custom<Route['match']>(isGroup),
    expected: 'labels with what they must be',
    default: {},
    description: 'Which incidents it applies to; with outcome, which runs that ended; with waste, which waste summaries.',
    secret: false,
    read: readMatch,
  } satisfies Field<Route['match']>,
  group_by: listField<IncidentLabel>(
    { expected: 'a list of labels', default: routeDefaults.groupBy, description: 'Which incidents share one message.' },
    (value) => {
      const names = Array.isArray(value) && value.length === 0 ? [] : textsIn(value)
      if (names === undefined) return problem(`must be a list of labels, not ${describeValue(value)}`)
      const problems = names.flatMap((name, at) => (isLabel(name) ? [] : [{ path: Array.isArray(value) ? [at] : [], text: unknownLabel(name) }]))
      return problems.length === 0 ? { value: names.filter(isLabel) } : { problems }
    },
  ),
  wait: duration({ default: routeDefaults.waitMs, max: 3_600_000, description: 'How long to wait for related incidents before the first message.' }),
  repeat: optionalDuration({ default: 4 * 3_600_000, min: 60_000, never: true, description: 'Time between repeated notifications while the incident fires.' }),
  quiet: quietHours,
  resolved: onOff({ default: routeDefaults.resolved, description: 'Whether a notification is sent when an incident is resolved.' }),
}

const read: ReadParts<readonly Route[]> = (value) => {
  if (value === null) return { value: [] }
  const { groups, problems } = readGroups(value, { fields, required: ['to'], expected: 'a list of routes', max: MAX_ROUTES })
  if (problems.length > 0) return { problems }
  return {
    value: groups.map(({ values: { to, match, group_by, wait, repeat, quiet, resolved } }) => ({
      to,
      match,
      groupBy: group_by,
      waitMs: wait,
      ...(repeat === undefined ? {} : { repeatMs: repeat }),
      quiet,
      resolved,
    })),
  }
}

export const routes: Field<readonly Route[]> = {
  kind: 'parts',
  schema: z.custom<readonly Route[]>((value) => Array.isArray(value)),
  read,
  expected: 'a list of routes',
  default: [],
  description:
    'Which incidents go to which notifier: for each notifier the first matching route decides. Without routes, every notifier gets warnings and worse.',
  secret: false,
  shown: (found) =>
    found.map(({ to, match, groupBy, waitMs, repeatMs, quiet, resolved }) => ({
      to,
      match,
      group_by: groupBy,
      wait: durationText(waitMs),
      repeat: repeatMs === undefined ? 'never' : durationText(repeatMs),
      quiet: quiet.map(shownQuiet),
      resolved,
    })),
  example: [
    `match asks for ${INCIDENT_LABELS.join(', ')}; "*" matches any text. group_by names those that part messages; none: one for the host.`,
    `With outcome (${OUTCOMES.join(', ')}) a route is about runs that ended, and asks for ${RUN_LABELS.slice(1).join(', ')} too: one message for each run.`,
    `With waste (${WASTE_PERIODS.join(', ')}) a route is about the summary of unused GPU time of the day or week before, sent at alerts.summary_at; user asks for some users.`,
    'A group waits 200ms (wait) before its first message; what still fires is sent again after 4h (repeat, or never). In quiet hours all but "except" waits.',
    '- {to: [team], match: {severity: [warning, critical], container: "train-*"}, group_by: [container], quiet: [{from: "22:00", to: "07:00", days: [mon, tue, wed, thu, fri], zone: Europe/Berlin, except: critical}]}',
    '- {to: [team], match: {outcome: [failed, out_of_memory, completed], job: "train-*"}}',
    '- {to: [team], match: {waste: [weekly]}}',
  ],
}
