// What the agent is and does: version, start, history, readers, logs, probes, the child that asks the driver.
import { fileSizeText } from '../../../../agent/text/bytes.ts'
import { age } from '../../../../agent/text/span.ts'
import { zoneName, momentText } from '../../../../agent/text/time.ts'
import { agentNow } from '../../parts/live/state.ts'
import { version } from './state.ts'
import type { Figures } from './figures.ts'
import { DASH } from '../../text/format.ts'
import { CopyButton } from '../../parts/copy-button.tsx'

type Row = readonly [label: string, value: string]
const number = (value: number): string => value.toLocaleString('en')
const SHOW_CONFIG = 'warpwatch config'

function rowsOf({ one, sum }: Figures, now: number): readonly Row[] {
  const started = one('process_start_time_seconds')
  const historyBytes = one('warpwatch_agent_history_bytes')
  const degraded = one('warpwatch_agent_history_degraded') === 1
  const rows: Row[] = [['Version', version.value ?? DASH]]
  if (started !== undefined) rows.push(['Runs for', `${age(now / 1000 - started)}, since ${momentText(started * 1000, now)} ${zoneName(started * 1000)}`])
  rows.push([
    'History',
    historyBytes === undefined
      ? 'switched off'
      : `${fileSizeText(historyBytes)} for ${number(one('warpwatch_agent_history_series') ?? 0)} series${degraded ? ', in memory only' : ''}`,
  ])
  const add = (label: string, name: string, labels?: Readonly<Record<string, string>>, always = true): void => {
    const value = sum(name, labels)
    if (value !== undefined && (always || value > 0)) rows.push([label, number(value)])
  }
  add('Readers of the live stream', 'warpwatch_agent_stream_readers')
  add('Frames left out for slow readers', 'warpwatch_agent_sink_dropped_total', { sink: 'live' }, false)
  add('Events left out of the recording', 'warpwatch_agent_sink_dropped_total', { sink: 'recording' }, false)
  add('Exports left out (OTLP)', 'warpwatch_agent_sink_dropped_total', { sink: 'otlp' }, false)
  add('Events handled', 'warpwatch_agent_events_total')
  add('Lines of logs read', 'warpwatch_agent_log_lines_total')
  add('Lines skipped or cut', 'warpwatch_agent_log_skipped_total', undefined, false)
  add('Probes connected', 'warpwatch_agent_probe_connections')
  add('Probes refused', 'warpwatch_agent_probe_refusals_total', undefined, false)
  add('Driver hangs', 'warpwatch_agent_sampler_hangs_total', undefined, false)
  add('Restarts of the driver’s reader', 'warpwatch_agent_sampler_restarts_total', undefined, false)
  add('Open files', 'process_open_fds')
  return rows
}

export function SelfFacts({ figures }: { readonly figures: Figures }) {
  return (
    <section class="panel" aria-labelledby="self-title">
      <h2 id="self-title">The agent</h2>
      <dl class="fact-list">
        {rowsOf(figures, agentNow.value).map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <p class="sub">To see its configuration, secrets hidden, run on the host:</p>
      <span class="command">
        <code>{SHOW_CONFIG}</code>
        <CopyButton text={SHOW_CONFIG} label="copy" of="the command that prints the configuration" />
      </span>
    </section>
  )
}
