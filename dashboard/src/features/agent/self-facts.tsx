// What the agent is and does: version, start, history, readers, logs, probes, the child that asks the driver.
import { fileSizeText } from '../../../../agent/text/bytes.ts'
import { age } from '../../../../agent/text/span.ts'
import { zoneName, momentText } from '../../../../agent/text/time.ts'
import { agentNow } from '../../parts/live/state.ts'
import { version } from './state.ts'
import type { Figures } from './figures.ts'
import { DASH } from '../../text/format.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import {
  agentEventsTotal,
  agentHistoryBytes,
  agentHistoryDegraded,
  agentHistorySeries,
  agentLogLinesTotal,
  agentLogSkippedTotal,
  agentProbeConnections,
  agentProbeRefusalsTotal,
  agentSamplerHangsTotal,
  agentSamplerRestartsTotal,
  agentSinkDroppedTotal,
  agentStreamReaders,
  processOpenFds,
  processStartTimeSeconds,
} from '../../text/metric-names.ts'

type Row = readonly [label: string, value: string]
const number = (value: number): string => value.toLocaleString('en')
const SHOW_CONFIG = 'warpwatch config'

function rowsOf({ one, sum }: Figures, now: number): readonly Row[] {
  const started = one(processStartTimeSeconds)
  const historyBytes = one(agentHistoryBytes)
  const degraded = one(agentHistoryDegraded) === 1
  const rows: Row[] = [['Version', version.value ?? DASH]]
  if (started !== undefined) rows.push(['Runs for', `${age(now / 1000 - started)}, since ${momentText(started * 1000, now)} ${zoneName(started * 1000)}`])
  rows.push([
    'History',
    historyBytes === undefined
      ? 'switched off'
      : `${fileSizeText(historyBytes)} for ${number(one(agentHistorySeries) ?? 0)} series${degraded ? ', in memory only' : ''}`,
  ])
  const add = (label: string, name: string, labels?: Readonly<Record<string, string>>, always = true): void => {
    const value = sum(name, labels)
    if (value !== undefined && (always || value > 0)) rows.push([label, number(value)])
  }
  add('Readers of the live stream', agentStreamReaders)
  add('Frames left out for slow readers', agentSinkDroppedTotal, { sink: 'live' }, false)
  add('Events left out of the recording', agentSinkDroppedTotal, { sink: 'recording' }, false)
  add('Exports left out (OTLP)', agentSinkDroppedTotal, { sink: 'otlp' }, false)
  add('Events handled', agentEventsTotal)
  add('Lines of logs read', agentLogLinesTotal)
  add('Lines skipped or cut', agentLogSkippedTotal, undefined, false)
  add('Probes connected', agentProbeConnections)
  add('Probes refused', agentProbeRefusalsTotal, undefined, false)
  add('Driver hangs', agentSamplerHangsTotal, undefined, false)
  add('Restarts of the driver’s reader', agentSamplerRestartsTotal, undefined, false)
  add('Open files', processOpenFds)
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
