// `warpwatch incidents [ID]`: lists incidents, or shows one with its evidence.
import { incidentReport, placedTitle } from '../../diagnosis/incidents/report.ts'
import { INCIDENT_STATUSES, type Consequence, type IncidentFilter, type IncidentStatus, type IncidentSummary } from '../../model/incident.ts'
import { INCIDENT_KINDS, isIncidentKind } from '../../model/kinds.ts'
import { nearest } from '../../lib/nearest.ts'
import { incidentContext } from '../../diagnosis/incidents/incident-context.ts'
import { utcText } from '../../text/time.ts'
import { callAgent, userOf } from '../change.ts'
import { UsageError, type Arguments, type Command } from '../command.ts'
import { openIncidents, type IncidentReader } from './from.ts'
import { isSummary } from './is-summary.ts'
import { isColoured, painter } from '../paint.ts'
import { plain } from '../plain.ts'
import { hanging } from '../wrapped.ts'
import { incidentPage } from './page.ts'
import { CONFIG_FLAG, isLoaded, problemLines, settingsFor } from '../config/settings.ts'

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 1_000
const isStatus = (text: string): text is IncidentStatus => (INCIDENT_STATUSES as readonly string[]).includes(text)

function filterFrom({ flags }: Arguments): IncidentFilter {
  const [status, kind, limit] = [flags.get('status'), flags.get('kind'), flags.get('limit')]
  if (typeof status === 'string' && !isStatus(status))
    throw new UsageError(`incidents: --status: must be one of ${INCIDENT_STATUSES.join(', ')}, not ${JSON.stringify(status)}`)
  if (typeof kind === 'string' && !isIncidentKind(kind))
    throw new UsageError(`incidents: --kind: must be a kind of incident such as ${nearest(kind, INCIDENT_KINDS) ?? 'cuda_oom'}, not ${JSON.stringify(kind)}`)
  if (typeof limit === 'string' && !(/^\d{1,4}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= MAX_LIMIT))
    throw new UsageError(`incidents: --limit: must be a whole number from 1 to ${MAX_LIMIT}, not ${JSON.stringify(limit)}`)
  return {
    ...(typeof status === 'string' && isStatus(status) ? { status } : {}),
    ...(typeof kind === 'string' && isIncidentKind(kind) ? { kind } : {}),
    limit: typeof limit === 'string' ? Number(limit) : DEFAULT_LIMIT,
  }
}

type Change = { readonly flag: 'ack' | 'set-healthy'; readonly path: 'ack' | 'resolve'; readonly by?: string; readonly note?: string }
function changeFrom({ flags }: Arguments): Change | undefined {
  const [by, note] = [flags.get('by'), flags.get('note')]
  const [ack, healthy] = [flags.has('ack'), flags.has('set-healthy')]
  if (ack && healthy) throw new UsageError('incidents: give --ack or --set-healthy, not both')
  if (!ack && !healthy) {
    if (by !== undefined || note !== undefined) throw new UsageError('incidents: --by and --note only go with --ack or --set-healthy')
    return undefined
  }
  return {
    ...(ack ? ({ flag: 'ack', path: 'ack' } as const) : ({ flag: 'set-healthy', path: 'resolve' } as const)),
    ...(typeof by === 'string' ? { by } : {}),
    ...(typeof note === 'string' ? { note } : {}),
  }
}

export function listText(incidents: readonly IncidentSummary[], { from, runbooks }: Pick<IncidentReader, 'from' | 'runbooks'>, columns?: number): string {
  const whole = (line: string): string => hanging(line, columns, '  ')
  if (incidents.length === 0) return `No incidents (asked: ${from})\n`
  const entries = incidents.map((incident) => {
    const { id, kind, severity, status, started_at: startedAt, count, verdict, remedies, consequences } = incident
    const [first] = remedies
    const lines = [
      `${id}  ${utcText(startedAt)}  ${severity}  ${status}  ${kind}${count > 1 ? `, ${count} times` : ''}`,
      whole(`  ${placedTitle(incident)}`),
      whole(`  ${verdict}`),
      ...(consequences.length === 0 ? [] : [whole(`  followed by ${kindsOf(consequences)}`)]),
      ...incidentContext(incident).map(([name, text]) => `  ${name.toLowerCase()}: ${text}`),
      ...(first === undefined ? [] : [`${hanging(`  → ${first.text}`, columns, '    ')}${first.command === undefined ? '' : `\n    ${first.command}`}`]),
    ]
    return plain(`${lines.join('\n')}\n`)
  })
  const pages = runbooks === undefined ? '' : `What a kind means and what to do: ${runbooks}KIND\n`
  return `${entries.join('\n')}\n${incidents.length} from ${from}; one whole: warpwatch incidents ID\n${pages}`
}

/** `nccl_error ×3, cublas_cudnn_error`: ranks of one job say the same. */
function kindsOf(consequences: readonly Consequence[]): string {
  const times = new Map<string, number>()
  for (const { kind } of consequences) times.set(kind, (times.get(kind) ?? 0) + 1)
  return [...times].map(([kind, count]) => (count === 1 ? kind : `${kind} ×${count}`)).join(', ')
}

export const incidents: Command = {
  name: 'incidents',
  summary: 'lists incidents, or shows one with its evidence',
  positionals: [],
  optionalPositionals: ['ID'],
  flags: {
    ...CONFIG_FLAG,
    listen: { kind: 'value', value: 'ADDRESS:PORT', help: 'where the agent listens (default: 127.0.0.1:9839)' },
    'data-dir': { kind: 'value', value: 'DIR', help: 'where incidents are stored; read when the agent does not run' },
    status: { kind: 'value', value: 'STATUS', help: 'only those that are firing or resolved' },
    kind: { kind: 'value', value: 'KIND', help: 'only those of this kind, such as cuda_oom' },
    limit: { kind: 'value', value: 'N', help: `at most so many, the newest (default: ${DEFAULT_LIMIT})` },
    json: { kind: 'switch', help: 'print JSON' },
    ack: { kind: 'switch', help: 'acknowledge it, so that others see you are working on it (with ID)' },
    'set-healthy': { kind: 'switch', help: 'mark it as resolved: it fires again only when the condition changes (with ID)' },
    by: { kind: 'value', value: 'WHO', help: 'your name, with --ack or --set-healthy (default: the user)' },
    note: { kind: 'value', value: 'TEXT', help: 'a note to keep with it' },
    markdown: { kind: 'switch', help: 'print a report with readings and settings to paste into a ticket (with ID)' },
  },
  async run(args, io) {
    const filter = filterFrom(args)
    const id = args.positionals[0]
    if (id === undefined && args.flags.has('markdown'))
      throw new UsageError('incidents: --markdown: the id of an incident is missing. List them: warpwatch incidents')
    const change = changeFrom(args)
    if (id === undefined && change !== undefined)
      throw new UsageError(`incidents: --${change.flag}: the id of an incident is missing. List them: warpwatch incidents`)
    const loaded = await settingsFor(args, io)
    if (!isLoaded(loaded)) {
      io.err(problemLines(loaded))
      return 2
    }
    if (id !== undefined && change !== undefined) {
      const said = { by: change.by ?? userOf(io), note: change.note }
      const changed = await callAgent(loaded.config, 'incidents', 'POST', `/api/v1/incidents/${encodeURIComponent(id)}/${change.path}`, said)
      if (!isSummary(changed)) throw new UsageError('incidents: the agent did not answer with the incident; is it of another version? See: warpwatch version')
      io.out(
        args.flags.has('json') ? `${JSON.stringify(changed)}\n` : plain(`${id}  ${change.flag === 'ack' ? 'acknowledged' : 'set healthy'}: ${changed.title}\n`),
      )
      return 0
    }
    const reader = await openIncidents(loaded.config)
    try {
      if (id === undefined) {
        const found = await reader.list(filter)
        io.out(args.flags.has('json') ? `${JSON.stringify(found)}\n` : listText(found, reader, io.columns))
        return 0
      }
      const incident = await reader.get(id)
      if (incident === undefined) throw new UsageError(`No incident ${JSON.stringify(id.slice(0, 60))} in ${reader.from}. List them: warpwatch incidents`)
      const host = loaded.config.host_name
      if (args.flags.has('json')) io.out(`${JSON.stringify(incident)}\n`)
      else if (args.flags.has('markdown')) io.out(plain(incidentReport(incident, host)))
      else io.out(incidentPage(incident, host, painter(isColoured(io.env)), io.columns))
      return 0
    } finally {
      reader.close()
    }
  },
}
