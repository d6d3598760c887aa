// The inference servers: what each computes now, what its memory is for, and its last hour.
import './style.css'
import { computed } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ServerRow } from '../../../../agent/model/live.ts'
import { frame, hello, stale } from '../../parts/live/state.ts'
import { Loading } from '../../parts/loading.tsx'
import { MEMORY_PARTS } from '../../parts/server/text.ts'
import { DASH, memory, percent } from '../../text/format.ts'
import type { ViewProps } from '../feature.ts'
import { Sparkline } from './curve.tsx'
import { curveOf, MEASURES, serverKey, watchPast, type MeasureId } from './past.ts'

const count = (value: number | undefined): string => (value === undefined ? DASH : Math.round(value).toLocaleString('en'))
const seconds = (value: number | undefined): string => (value === undefined ? DASH : value >= 1 ? `${value.toFixed(1)} s` : `${Math.round(value * 1_000)} ms`)
const quantiles = (of: ServerRow['time_to_first_token_seconds']): string =>
  of === undefined ? DASH : ['0.5', '0.95', '0.99'].map((quantile) => seconds(of[quantile])).join(' / ')

function Fact({ label, value, means }: { readonly label: string; readonly value: string; readonly means?: string }) {
  return (
    <div class="server-fact" title={means}>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  )
}

/** What the server's memory on all its cards is for. */
function Split({ row: { memory_bytes: split = {} } }: { readonly row: ServerRow }) {
  const parts = MEMORY_PARTS.flatMap(([id, label]) => (split[id] === undefined ? [] : [{ id, label, bytes: split[id] }]))
  const total = parts.reduce((sum, { bytes }) => sum + bytes, 0)
  if (total === 0) return null
  return (
    <div class="server-split">
      <div class="server-bar" role="img" aria-label={parts.map(({ label, bytes }) => `${label} ${memory(bytes)}`).join(', ')}>
        {parts.map(({ id, bytes }) => (
          <span key={id} data-part={id} style={{ flexGrow: bytes }} />
        ))}
      </div>
      <p class="legend">
        {parts.map(({ id, label, bytes }) => (
          <span key={id} class="legend-entry">
            <span class="swatch" data-part={id} /> {label} <b>{memory(bytes)}</b>
          </span>
        ))}
      </p>
    </div>
  )
}

const TEXTS: Readonly<Record<MeasureId, (value: number | undefined) => string>> = {
  tokens_rate: count,
  requests_waiting: count,
  kv_cache: percent,
  ttft: seconds,
}

function Server({ row }: { readonly row: ServerRow }) {
  const key = serverKey(row)
  const { name, server, version, model, quantization, context, state, gpu = '', gaps = [], kv_cache_capacity_tokens: capacity } = row
  const about = [
    version === undefined ? server : `${server} ${version}`,
    model,
    quantization,
    context === undefined ? undefined : `${count(Number(context))} tokens of context`,
  ]
  const where = gpu === '' ? 'no GPU' : gpu.includes(',') ? `GPUs ${gpu.replaceAll(',', ', ')}` : `GPU ${gpu}`
  return (
    <article class="server" data-state={state ?? 'unknown'} aria-label={name}>
      <header>
        <h3>{name}</h3>
        <span class="server-state">{state ?? 'state not known'}</span>
        {gpu !== '' && !gpu.includes(',') ? <a href={`#/gpus/${gpu}`}>{where}</a> : <span class="of">{where}</span>}
      </header>
      <p class="of">{about.filter((part) => part !== undefined).join(' · ')}</p>
      <dl class="server-facts">
        <Fact label="Tokens/s" value={count(row.tokens_rate?.['generation'])} means="generated, over the last minute" />
        <Fact label="Running" value={count(row.requests_running)} />
        <Fact label="Waiting" value={count(row.requests_waiting)} />
        <Fact label="KV cache" value={`${percent(row.kv_cache_usage_ratio)}${capacity === undefined ? '' : ` of ${count(capacity)} tokens`}`} />
        <Fact label="First token p50 / p95 / p99" value={quantiles(row.time_to_first_token_seconds)} />
        <Fact label="Between tokens p50 / p95 / p99" value={quantiles(row.inter_token_latency_seconds)} />
        {row.offloaded_ratio !== undefined && row.offloaded_ratio > 0 && <Fact label="In host memory" value={percent(row.offloaded_ratio)} />}
      </dl>
      <Split row={row} />
      <div class="server-curves">
        {MEASURES.map(({ id, label }) => (
          <Sparkline key={id} label={label} curve={curveOf(key, id)} text={TEXTS[id]} {...(id === 'kv_cache' ? { top: 1 } : {})} />
        ))}
      </div>
      {gaps.length > 0 && <p class="table-note">{[...new Set(gaps.flatMap(({ detail }) => detail ?? []))].join('; ')}</p>}
    </article>
  )
}

function Nobody() {
  if (hello.value?.simulated === true)
    return <p class="nothing">A simulated host has no inference servers to ask. On a real host each is listed here with its tokens, queue and KV cache.</p>
  return (
    <p class="nothing">
      No process that holds GPU memory belongs to an inference server (vLLM, SGLang, Ollama, llama.cpp, …). What listens on this host: <code>ss -ltnp</code>.
      Name another one under <code>servers.add</code> in <code>warpwatch.yaml</code>.
    </p>
  )
}

const servers = computed(() => frame.value?.servers)

export function Servers(_props: ViewProps) {
  useEffect(watchPast, [])
  const rows = servers.value
  if (rows === undefined) return <Loading />
  return (
    <div class={stale.value ? 'content stale' : 'content'}>
      <section class="panel servers-page" aria-labelledby="servers-title">
        <h2 id="servers-title">
          Servers <span class="count">{rows.length}</span>
        </h2>
        {rows.length === 0 ? (
          <Nobody />
        ) : (
          <div class="servers">
            {rows.map((row) => (
              <Server key={serverKey(row)} row={row} />
            ))}
          </div>
        )}
      </section>
    </div>
  )
}
