// What the agent may do when an incident fires: nothing unless it is configured here.
import * as z from 'zod/mini'
import { ACTION_SIGNALS, type Action, type ActionSignal } from '../../model/action.ts'
import { durationText } from '../../text/duration.ts'
import { duration, onOff, text, wholeNumber, type Field, type PartProblem, type ReadParts } from '../field.ts'
import { readGroups } from '../groups.ts'
import { describeValue } from '../problem.ts'
import { incidentMatch } from './routes.ts'

const MAX_ACTIONS = 64
const MAX_ARGUMENTS = 64
const MAX_ENV = 64
const problem = (said: string) => ({ problems: [{ path: [], text: said }] })
const texts = (max: number, valid: (one: string) => boolean, expected: string, description: string): Field<readonly string[]> => ({
  kind: 'parts',
  schema: z.custom<readonly string[]>((value) => Array.isArray(value)),
  expected,
  default: [],
  description,
  secret: false,
  read(value) {
    const found = Array.isArray(value) ? value.filter((one: unknown): one is string => typeof one === 'string' && one.length <= 1_000 && valid(one)) : []
    return Array.isArray(value) && found.length === value.length && found.length <= max
      ? { value: found }
      : problem(`must be ${expected}, not ${describeValue(value)}`)
  },
})
const isSignal = (value: unknown): value is ActionSignal => ACTION_SIGNALS.some((signal) => signal === value)
const signal: Field<ActionSignal | undefined> = {
  kind: 'parts',
  schema: z.custom<ActionSignal | undefined>((value) => value === undefined || isSignal(value)),
  expected: `one of ${ACTION_SIGNALS.join(', ')}`,
  default: undefined,
  description: 'Signal sent to the first process of the job.',
  secret: false,
  read: (value) => (isSignal(value) ? { value } : problem(`must be one of ${ACTION_SIGNALS.join(', ')}, not ${describeValue(value)}`)),
}

const fields = {
  name: text({ default: '', pattern: /^[\w.-]{1,63}$/, expected: 'a name of letters, digits, ".", "_" and "-"', description: 'Its name in incidents.' }),
  match: incidentMatch,
  command: texts(MAX_ARGUMENTS, () => true, 'a list of a program by its absolute path and its arguments', 'A program with its arguments; no shell reads them.'),
  signal,
  dry_run: onOff({ default: false, description: 'Dry run: only record in the incident what would be done.' }),
  cooldown: duration({ default: 600_000, max: 7 * 24 * 3_600_000, description: 'Minimum time between two runs, for all incidents together.' }),
  per_hour: wholeNumber({ default: 6, min: 1, max: 1_000, description: 'Limit per hour.' }),
  timeout: duration({ default: 30_000, min: 100, max: 3_600_000, description: 'Commands that take longer are ended.' }),
  env: texts(
    MAX_ENV,
    (name) => /^[A-Za-z_]\w{0,127}$/.test(name),
    'a list of names of variables',
    "Variables of the agent's environment that the command gets; it gets no others.",
  ),
}

function whatIsWrong(action: { readonly command: readonly string[]; readonly signal: ActionSignal | undefined }): string | undefined {
  const [program] = action.command
  if ((program === undefined) === (action.signal === undefined)) return 'give either command or signal'
  if (program !== undefined && !program.startsWith('/')) return `command: the program must be an absolute path, not ${JSON.stringify(program.slice(0, 80))}`
  return undefined
}

const read: ReadParts<readonly Action[]> = (value) => {
  if (value === null) return { value: [] }
  const { groups, problems } = readGroups(value, { fields, required: ['name', 'match'], expected: 'a list of actions', max: MAX_ACTIONS })
  const wrong: PartProblem[] = [...problems]
  const names = new Set<string>()
  for (const { at, values } of groups) {
    const what = whatIsWrong(values) ?? (names.has(values.name) ? `there are two actions called ${values.name}` : undefined)
    if (what !== undefined) wrong.push({ path: [at], text: what })
    if (Object.keys(values.match).length === 0)
      wrong.push({ path: [at, 'match'], text: 'must name at least the kind of incident: an action for all of them is a mistake' })
    names.add(values.name)
  }
  if (wrong.length > 0) return { problems: wrong }
  return {
    value: groups.map(({ values: { name, match, command, signal: sent, dry_run: dryRun, cooldown, per_hour: perHour, timeout, env } }) => ({
      name,
      match,
      command,
      ...(sent === undefined ? {} : { signal: sent }),
      dryRun,
      cooldownMs: cooldown,
      perHour,
      timeoutMs: timeout,
      env,
    })),
  }
}

export const actions: Field<readonly Action[]> = {
  kind: 'parts',
  schema: z.custom<readonly Action[]>((value) => Array.isArray(value)),
  read,
  expected: 'a list of actions',
  default: [],
  description: 'Commands or signals to run when an incident fires, once per incident (docs/actions.md). None by default.',
  secret: false,
  shown: (found) =>
    found.map(({ name, match, command, signal: sent, dryRun, cooldownMs, perHour, timeoutMs, env }) => ({
      name,
      match,
      ...(command.length === 0 ? {} : { command }),
      ...(sent === undefined ? {} : { signal: sent }),
      dry_run: dryRun,
      cooldown: durationText(cooldownMs),
      per_hour: perHour,
      timeout: durationText(timeoutMs),
      env,
    })),
  example: [
    'A command is a list, which no shell reads; {incident}, {kind}, {gpu}, {uuid}, {container}, {container_id}, {pid} and {host} are replaced by those of the incident.',
    '- {name: checkpoint, match: {kind: memory_exhaustion_forecast}, signal: SIGUSR1, cooldown: 15m}',
    '- {name: drain, match: {kind: [gpu_lost, row_remap_failure]}, command: [/usr/bin/scontrol, update, "NodeName={host}", State=DRAIN, "Reason=warpwatch {incident}"], dry_run: true}',
  ],
}
