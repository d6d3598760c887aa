// `warpwatch alerts`: who is notified and how that goes, a test message to one of them, and what was set aside tried again.
import { nearest } from '../../lib/nearest.ts'
import { INCIDENT_KINDS, isIncidentKind, type IncidentKind } from '../../model/kinds.ts'
import type { NotifierRow } from '../../model/notification.ts'
import { utcText } from '../../text/time.ts'
import { callAgent } from '../change.ts'
import { UsageError, type Arguments, type Command, type Io } from '../command.ts'
import { plain } from '../plain.ts'
import { CONFIG_FLAG, isLoaded, problemLines, settingsFor } from '../config/settings.ts'

const ACTIONS = ['test', 'retry'] as const
type Asked =
  | { readonly action: 'list' }
  | { readonly action: 'retry'; readonly name: string }
  | { readonly action: 'test'; readonly name: string; readonly kind: IncidentKind; readonly resolved: boolean; readonly print: boolean }

const ONLY_TEST = ['kind', 'resolved', 'print']

function askedFrom({ flags, positionals: [action, name] }: Arguments): Asked {
  const misplaced = action === 'test' ? undefined : ONLY_TEST.find((flag) => flags.has(flag))
  if (misplaced !== undefined) throw new UsageError(`alerts: --${misplaced} only goes with "test NAME"`)
  if (action === undefined) return { action: 'list' }
  if (action !== 'test' && action !== 'retry')
    throw new UsageError(
      `alerts: unknown action ${JSON.stringify(action)}: write ${ACTIONS.join(' or ')}, or nothing; the nearest valid one is ${nearest(action, ACTIONS) ?? 'test'}`,
    )
  if (name === undefined) throw new UsageError(`alerts: ${action}: the name of a notifier is missing: alerts ${action} NAME`)
  if (action === 'retry') return { action, name }
  const kind = flags.get('kind') ?? 'cuda_oom'
  if (typeof kind !== 'string' || !isIncidentKind(kind))
    throw new UsageError(
      `alerts: --kind: must be a kind of incident such as ${nearest(String(kind), INCIDENT_KINDS) ?? 'cuda_oom'}, not ${JSON.stringify(kind)}`,
    )
  return { action, name, kind, resolved: flags.has('resolved'), print: flags.has('print') }
}

const isRow = (value: unknown): value is NotifierRow =>
  typeof value === 'object' &&
  value !== null &&
  'name' in value &&
  typeof value.name === 'string' &&
  'waiting' in value &&
  typeof value.waiting === 'number' &&
  'host' in value

export function rowLines(row: NotifierRow): string {
  const waits =
    row.waiting === 0 ? 'nothing waits' : `${row.waiting} waiting${row.oldest_waiting_at === undefined ? '' : ` since ${utcText(row.oldest_waiting_at)}`}`
  const lines = [
    `${row.name}  ${row.type} at ${row.host}: ${row.status}, ${waits}, ${row.delivered} delivered${row.last_delivered_at === undefined ? '' : `, last ${utcText(row.last_delivered_at)}`}`,
    ...(row.last_error === undefined ? [] : [`  last error ${utcText(row.last_error.at)}: ${row.last_error.text}`]),
    ...(row.next_try_at === undefined ? [] : [`  next try ${utcText(row.next_try_at)}`]),
    ...(row.expired === 0 ? [] : [`  ${row.expired} expired before they could be delivered`]),
    ...(row.set_aside === 0 ? [] : [`  ${row.set_aside} set aside because the receiver refused them; once that is fixed: warpwatch alerts retry ${row.name}`]),
  ]
  return lines.map((line) => `${plain(line.replaceAll('\n', ' '))}\n`).join('')
}

export const alerts: Command = {
  name: 'alerts',
  summary: 'shows the status of each notifier; test NAME sends a test message, retry NAME sends again what its receiver refused',
  positionals: [],
  optionalPositionals: ['test|retry', 'NAME'],
  flags: {
    ...CONFIG_FLAG,
    listen: { kind: 'value', value: 'ADDRESS:PORT', help: 'where the agent listens (default: 127.0.0.1:9839)' },
    kind: { kind: 'value', value: 'KIND', help: 'with test: kind of the sample incident (default: cuda_oom)' },
    resolved: { kind: 'switch', help: 'with test: send the resolved message of the sample' },
    print: { kind: 'switch', help: 'with test: print the request, secrets hidden, and send nothing' },
    json: { kind: 'switch', help: 'print JSON' },
  },
  async run(args: Arguments, io: Io) {
    const asked = askedFrom(args)
    const loaded = await settingsFor(args, io)
    if (!isLoaded(loaded)) {
      io.err(problemLines(loaded))
      return 2
    }
    const asJson = args.flags.has('json')
    const { config } = loaded
    if (asked.action === 'test') {
      // Needs no agent, and no agent needs it.
      const { testNotifier } = await import('./test.ts')
      return testNotifier(config, asked, asJson, io)
    }
    if (asked.action === 'retry') {
      const answer = await callAgent(config, 'alerts', 'POST', `/api/v1/notifiers/${encodeURIComponent(asked.name)}/retry`, {})
      const retried = typeof answer === 'object' && answer !== null && 'retried' in answer ? answer.retried : undefined
      if (typeof retried !== 'number')
        throw new UsageError('alerts: the agent did not answer with a number of messages; is it of another version? See: warpwatch version')
      io.out(asJson ? `${JSON.stringify(answer)}\n` : `${plain(asked.name)}: ${retried === 0 ? 'nothing was set aside' : `${retried} tried again`}\n`)
      return 0
    }
    const rows = await callAgent(config, 'alerts', 'GET', '/api/v1/notifiers')
    if (!Array.isArray(rows) || !rows.every(isRow))
      throw new UsageError('alerts: the agent did not answer with a list of notifiers; is it of another version? See: warpwatch version')
    io.out(
      asJson
        ? `${JSON.stringify(rows)}\n`
        : rows.length === 0
          ? 'Nobody is notified: the agent runs without notifiers (docs/notifications.md shows how)\n'
          : rows.map(rowLines).join(''),
    )
    return 0
  },
}
