// `warpwatch silence`: nobody is notified of some incidents for a time, as during maintenance; they are still found and kept.
import { nearest } from '../lib/nearest.ts'
import { SEVERITIES } from '../model/severity.ts'
import { INCIDENT_KINDS, isIncidentKind } from '../model/kinds.ts'
import type { Silence } from '../model/maintenance.ts'
import { utcMinuteText } from '../text/time.ts'
import { callAgent, userOf } from './change.ts'
import { UsageError, type Arguments, type Command, type Io } from './command.ts'
import { plain } from './plain.ts'
import { CONFIG_FLAG, isLoaded, problemLines, settingsFor } from './config/settings.ts'

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 24 * 3_600_000 }

/** `90m`, `2h`, `1d12h`. */
export function durationMs(text: string): number | undefined {
  if (!/^(?:\d{1,6}[smhd])+$/.test(text)) return undefined
  let ms = 0
  for (const [, amount, unit] of text.matchAll(/(\d+)([smhd])/g)) ms += Number(amount) * (UNIT_MS[unit ?? ''] ?? 0)
  return ms > 0 ? ms : undefined
}

const isSilence = (value: unknown): value is Silence =>
  typeof value === 'object' &&
  value !== null &&
  'id' in value &&
  typeof value.id === 'string' &&
  'until' in value &&
  typeof value.until === 'number' &&
  'reason' in value

const scopeText = ({ kind, gpu, container, severity }: Silence): string =>
  [kind, severity, gpu === undefined ? undefined : `GPU ${gpu}`, container === undefined ? undefined : `container ${container}`]
    .filter((part) => part !== undefined)
    .join(', ') || 'the whole host'
const lineOf = (silence: Silence): string =>
  plain(`${silence.id}  until ${utcMinuteText(silence.until)}  ${scopeText(silence)}: ${silence.reason}${silence.by === undefined ? '' : ` (${silence.by})`}\n`)

/** What is to be silenced; undefined: nothing, list what is. */
function wantedFrom({ flags }: Arguments, io: Io): Record<string, unknown> | undefined {
  const text = (name: string): string | undefined => {
    const value = flags.get(name)
    return typeof value === 'string' ? value : undefined
  }
  const [kind, severity, span, until, reason] = ['kind', 'severity', 'for', 'until', 'reason'].map(text)
  const scope = { kind, severity, gpu: text('gpu'), container: text('container') }
  const scoped = Object.values(scope).some((part) => part !== undefined)
  const any = scoped || flags.has('all') || [span, until, reason, text('by')].some((part) => part !== undefined)
  if (!any) return undefined
  if (flags.has('remove')) throw new UsageError('silence: --remove goes alone: leave out the other flags')
  if (scoped === flags.has('all'))
    throw new UsageError(
      `silence: ${scoped ? '--all and a part of the host exclude each other' : 'what to silence is missing'}: give --kind, --gpu, --container or --severity, or --all for the whole host`,
    )
  if (kind !== undefined && !isIncidentKind(kind))
    throw new UsageError(`silence: --kind: must be a kind of incident such as ${nearest(kind, INCIDENT_KINDS) ?? 'throttling'}, not ${JSON.stringify(kind)}`)
  if (severity !== undefined && !SEVERITIES.some((known) => known === severity))
    throw new UsageError(`silence: --severity: must be one of ${SEVERITIES.join(', ')}, not ${JSON.stringify(severity)}`)
  if ((span === undefined) === (until === undefined))
    throw new UsageError(`silence: ${span === undefined ? 'its end is missing' : '--for and --until exclude each other'}: give --for (such as 2h) or --until`)
  if (reason === undefined) throw new UsageError('silence: --reason is missing: say why')
  const forMs = span === undefined ? undefined : durationMs(span)
  if (span !== undefined && forMs === undefined) throw new UsageError(`silence: --for: must be a time such as 90m, 2h or 1d12h, not ${JSON.stringify(span)}`)
  const end = until === undefined ? undefined : Date.parse(until)
  if (end !== undefined && Number.isNaN(end)) throw new UsageError(`silence: --until: must be a time such as 2026-11-20T18:00Z, not ${JSON.stringify(until)}`)
  return { ...scope, ...(flags.has('all') ? { all: true } : {}), for_ms: forMs, until: end, reason, by: text('by') ?? userOf(io) }
}

export const silence: Command = {
  name: 'silence',
  summary: 'silences incidents for a time; without flags it lists the active silences',
  positionals: [],
  flags: {
    ...CONFIG_FLAG,
    listen: { kind: 'value', value: 'ADDRESS:PORT', help: 'where the agent listens (default: 127.0.0.1:9839)' },
    kind: { kind: 'value', value: 'KIND', help: 'incidents of this kind, such as throttling' },
    gpu: { kind: 'value', value: 'GPU', help: 'of the GPU with this index or UUID' },
    container: { kind: 'value', value: 'NAME', help: 'of the container with this name or id' },
    severity: { kind: 'value', value: 'SEVERITY', help: 'of this severity' },
    all: { kind: 'switch', help: 'all incidents of the host' },
    for: { kind: 'value', value: 'TIME', help: 'duration: 90m, 2h, 1d12h' },
    until: { kind: 'value', value: 'WHEN', help: 'or the time it ends: 2026-11-20T18:00Z' },
    reason: { kind: 'value', value: 'TEXT', help: 'why' },
    by: { kind: 'value', value: 'WHO', help: 'your name (default: the user)' },
    remove: { kind: 'value', value: 'ID', help: 'ends a silence' },
    json: { kind: 'switch', help: 'print JSON' },
  },
  async run(args, io) {
    const wanted = wantedFrom(args, io)
    const loaded = await settingsFor(args, io)
    if (!isLoaded(loaded)) {
      io.err(problemLines(loaded))
      return 2
    }
    const { config } = loaded
    const asJson = args.flags.has('json')
    const remove = args.flags.get('remove')
    if (typeof remove === 'string') {
      await callAgent(config, 'silence', 'DELETE', `/api/v1/silences/${encodeURIComponent(remove)}`)
      io.out(asJson ? `${JSON.stringify({ removed: remove })}\n` : `Silence ${plain(remove)} is over\n`)
      return 0
    }
    if (wanted !== undefined) {
      const made = await callAgent(config, 'silence', 'POST', '/api/v1/silences', wanted)
      if (!isSilence(made)) throw new UsageError('silence: the agent did not answer with the new silence; is it of another version? See: warpwatch version')
      io.out(asJson ? `${JSON.stringify(made)}\n` : `Silenced: ${lineOf(made)}`)
      return 0
    }
    const found = await callAgent(config, 'silence', 'GET', '/api/v1/silences')
    if (!Array.isArray(found) || !found.every(isSilence))
      throw new UsageError('silence: the agent did not answer with a list of silences; is it of another version? See: warpwatch version')
    io.out(asJson ? `${JSON.stringify(found)}\n` : found.length === 0 ? 'Nothing is silenced\n' : found.map(lineOf).join(''))
    return 0
  },
}
