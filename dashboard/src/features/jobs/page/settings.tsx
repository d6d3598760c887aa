// What each container of a job may use and was started with, as far as kernel and engine tell: asked for once when its page opens.
import { indexRanges } from '../../../../../agent/text/grammar.ts'
import { momentText, zoneName } from '../../../../../agent/text/time.ts'
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ContainerSettings } from '../../../../../agent/model/incident.ts'
import { getJson, storedToken } from '../../../parts/connection/api.ts'
import type { ContainerView } from '../../../parts/live/rows.ts'
import { agentNow } from '../../../parts/live/state.ts'
import { factLabel } from '../../../../../agent/text/facts.ts'
import { cores, memory } from '../../../text/format.ts'
import type { Job } from '../running.ts'

type KnownSettings = { readonly [name in keyof ContainerSettings]: unknown }
/** By container id; undefined while it is asked for or where nothing was reported. */
const reported = signal<ReadonlyMap<string, KnownSettings>>(new Map())

async function askSettings(id: string): Promise<void> {
  if (reported.peek().has(id)) return
  try {
    const value = await getJson(`api/v1/containers/${encodeURIComponent(id)}/settings`, storedToken())
    if (typeof value === 'object' && value !== null) reported.value = new Map(reported.peek()).set(id, value)
  } catch {
    // No engine, or one that has not answered yet: what the readings know of limits is shown all the same.
  }
}

type Setting = { readonly name: string; readonly label: string; readonly value: string }

const wordOf = (name: string, value: unknown): string => {
  if (typeof value === 'number') return name.endsWith('_bytes') ? memory(value) : String(value)
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const LABELS: Readonly<Record<string, string>> = { shm_size_bytes: 'Shared memory (/dev/shm)', ipc_mode: 'IPC', gpu_request: 'GPU request' }

/** What is read each second first: it holds even where no engine answers. */
function settingsOf({ row, requested }: ContainerView, { env, ...engine }: KnownSettings, now: number): readonly Setting[] {
  const started = Number(row['started'])
  const cpuLimit = row['cpu_limit_cores']
  const read: readonly (readonly [string, string, string | undefined])[] = [
    ['image', 'Image', row.image],
    ['container_id', 'Container', row.container_id],
    ['state', 'State', typeof row['state'] === 'string' ? row['state'] : undefined],
    ['started', 'Started', Number.isFinite(started) && started > 0 ? `${momentText(started * 1000, now)} ${zoneName(started * 1000)}` : undefined],
    ['memory_limit', 'Host memory limit', row.memory_limit_bytes === undefined ? 'none' : memory(row.memory_limit_bytes)],
    ['cpu_limit', 'CPU limit', typeof cpuLimit === 'number' ? `${cores(cpuLimit)} cores` : 'none'],
    ['gpus', 'GPUs asked for', requested.length === 0 ? undefined : indexRanges(requested)],
    ['runtime', 'Runtime', typeof row['runtime'] === 'string' ? row['runtime'] : undefined],
    ['service', 'Compose service', row.compose_service === undefined ? undefined : `${row.compose_project ?? ''} / ${row.compose_service}`],
  ]
  const fromEngine = Object.entries(engine).filter(([name]) => !['memory_limit_bytes', 'gpus', 'runtime'].includes(name))
  return [
    ...read.flatMap(([name, label, value]) => (value === undefined || value === '' ? [] : [{ name, label, value }])),
    ...fromEngine.map(([name, value]) => ({ name, label: LABELS[name] ?? factLabel(name), value: wordOf(name, value) })),
    ...Object.entries(typeof env === 'object' && env !== null ? env : {}).map(([name, value]) => ({ name, label: name, value: wordOf(name, value) })),
  ]
}

export function JobSettings({ job: { containers } }: { readonly job: Job }) {
  const ids = containers.map(({ key }) => key).join(' ')
  useEffect(() => void ids.split(' ').filter(Boolean).map(askSettings), [ids])
  if (containers.length === 0) return null
  return (
    <section class="panel" aria-labelledby="job-settings-title">
      <h2 id="job-settings-title">Settings</h2>
      {containers.map((view) => (
        <dl key={view.key} class="fact-list job-settings" aria-label={`settings of ${view.row.container}`}>
          {settingsOf(view, reported.value.get(view.key) ?? {}, agentNow.peek()).map(({ name, label, value }) => (
            <div key={name} data-setting={name}>
              <dt>{label}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      ))}
    </section>
  )
}
