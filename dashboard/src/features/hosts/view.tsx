// This host and the others that its agent shows: who is full, what fires, which does not answer. A name opens that host's page.
import './style.css'
import { useEffect } from 'preact/hooks'
import type { HostEntry, HostSummary } from '../../../../agent/model/hosts.ts'
import { since } from '../../../../agent/text/time.ts'
import { agentNow } from '../../parts/live/state.ts'
import { Meter } from '../../parts/figure.tsx'
import { DASH, memory, percent } from '../../text/format.ts'
import { inOrder, trouble } from './entries.ts'
import { known, watchHosts } from './state.ts'

const TONES = ['fine', 'warning', 'critical', 'critical'] as const
/** This page is another host's, shown through the one that serves it. */
const IS_SHOWN = /\/hosts\/[^/]+\/$/.test(new URL(document.baseURI).pathname)
const HOME = new URL(IS_SHOWN ? '../../' : './', document.baseURI).href

function Firing({ summary: { firing, silent, worst } }: { readonly summary: HostSummary }) {
  const counts = (['critical', 'warning', 'info'] as const).flatMap((severity) =>
    firing[severity] > 0 ? [`${firing[severity]} ${severity}${severity === 'warning' && firing[severity] > 1 ? 's' : ''}`] : [],
  )
  if (silent.length > 0) counts.unshift(`not responding: GPU ${silent.join(', ')}`)
  return (
    <>
      {counts.length === 0 ? 'no incident' : counts.join(', ')}
      {worst !== undefined && <span class="sub">{`${worst.title}, since ${since(worst.started_at, agentNow.value)}`}</span>}
    </>
  )
}

function Memory({ summary: { host, memory_used_bytes: used, memory_total_bytes: total } }: { readonly summary: HostSummary }) {
  if (total === 0) return <>{DASH}</>
  return (
    <>
      <Meter value={used} limit={total} label={`memory of ${host}`} />
      <span class="sub">{`${memory(used)} of ${memory(total)}`}</span>
    </>
  )
}

function Row({ entry }: { readonly entry: HostEntry }) {
  const { name, self, summary, problem, seen_at: seenAt } = entry
  return (
    <tr data-tone={TONES[trouble(entry)]} data-answers={problem === undefined}>
      <th scope="row">
        <a href={self === true ? './#/' : new URL(`hosts/${encodeURIComponent(name)}/`, HOME).href}>{name}</a>
        {self === true && <span class="sub">this host</span>}
        {summary !== undefined && summary.host !== name && <span class="sub">{summary.host}</span>}
      </th>
      <td data-label="State">
        {problem === undefined ? summary === undefined ? 'asking …' : <Firing summary={summary} /> : <strong>{`does not answer: ${problem}`}</strong>}
        {problem !== undefined && seenAt !== undefined && <span class="sub">{`last answer ${since(seenAt, agentNow.value)}`}</span>}
      </td>
      <td class="figure-cell" data-label="GPUs">
        {summary?.gpus ?? DASH}
      </td>
      <td data-label="GPU memory">{summary === undefined ? DASH : <Memory summary={summary} />}</td>
      <td class="figure-cell" data-label="GPU busy">
        {percent(summary?.utilization_ratio)}
      </td>
      <td class="figure-cell" data-label="Power">
        {summary?.power_watts === undefined ? DASH : `${(summary.power_watts / 1_000).toFixed(1)} kW`}
      </td>
      <td class="figure-cell" data-label="Jobs">
        {summary?.jobs_running ?? DASH}
      </td>
    </tr>
  )
}

export function Hosts() {
  useEffect(watchHosts, [])
  const now = known.value
  if (now.state === 'asking')
    return (
      <p class="nothing" role="status">
        Asking for the hosts …
      </p>
    )
  if (now.state === 'failed')
    return (
      <div class="notice" role="alert">
        <h2>The hosts cannot be shown</h2>
        <p>{now.why}. The page tries again.</p>
      </div>
    )
  const entries = inOrder(now.entries)
  return (
    <div class="content hosts">
      <h2>Hosts</h2>
      <table>
        <caption class="spoken">Hosts</caption>
        <thead>
          <tr>
            {['Host', 'State', 'GPUs', 'GPU memory', 'GPU busy', 'Power', 'Jobs'].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <Row key={entry.name} entry={entry} />
          ))}
        </tbody>
      </table>
      {IS_SHOWN && (
        <p>
          <a href={`${HOME}#/hosts`}>Back to the host that shows this one</a>
        </p>
      )}
      {entries.length === 1 && !IS_SHOWN && (
        <p class="hint">
          Only this host is shown. Name others with an agent in <code>warpwatch.yaml</code> and reload the agent:{' '}
          <code>{'hosts: [{ name: gpu-07, url: "ssh://gpu-07" }]'}</code>
        </p>
      )}
    </div>
  )
}
