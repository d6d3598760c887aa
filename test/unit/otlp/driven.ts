// An OTLP sink with a few series that is ticked as the agent does, only faster, and what it says in its log.
import { onTestFinished } from 'vitest'
import { metricNamed } from '../../../agent/catalogue.ts'
import type { ProxyFor } from '../../../agent/lib/proxy.ts'
import type { Incident } from '../../../agent/model/incident.ts'
import { makeSeries } from '../../../agent/model/series.ts'
import type { OtlpSettings } from '../../../agent/sinks/otlp/settings.ts'
import { createOtlpSink, type OtlpSink } from '../../../agent/sinks/otlp/sink.ts'
import { createLatestStore } from '../../../agent/store/latest.ts'
import type { OtlpReceiver } from '../../setup/otlp-receiver.ts'

export const SECRET = 'hf_0123456789abcdefghijKLMN'

export type Driven = { readonly sink: OtlpSink; readonly lines: readonly string[]; readonly stop: () => Promise<void> }

export async function driven(
  to: Pick<OtlpReceiver, 'endpoint' | 'protocol'>,
  settings: Partial<OtlpSettings> = {},
  known: readonly string[] = [],
  proxyFor: ProxyFor = () => undefined,
): Promise<Driven> {
  const latest = createLatestStore()
  const power = metricNamed('warpwatch_gpu_power_watts')
  const energy = metricNamed('warpwatch_gpu_energy_joules_total')
  if (power === undefined || energy === undefined) throw new Error('expected the metrics of power')
  const labels = { gpu: '0', uuid: 'GPU-1' }
  const series = { power: makeSeries(power, labels), energy: makeSeries(energy, labels) }
  const lines: string[] = []
  const say = (level: string) => (text: string) => void lines.push(`${level} ${text}`)
  const sink = await createOtlpSink({
    settings: {
      endpoint: to.endpoint,
      protocol: to.protocol,
      headers: { Authorization: `Bearer ${SECRET}` },
      compression: 'gzip',
      interval_ms: 200,
      timeout_ms: 5_000,
      ca_file: '',
      metrics: true,
      incidents: true,
      ...settings,
    },
    resource: { hostname: 'gpu-host', procRoot: '/proc', dataDir: '/data', extra: {} },
    latest,
    known,
    proxyFor,
    log: { info: say('info'), warn: say('warn'), error: say('error') },
  })
  let joules = 1_000
  const ticks = setInterval(() => {
    const t = Date.now()
    joules += 10
    const readings = [
      { series: series.power, value: 300 },
      { series: series.energy, value: joules },
    ]
    latest.apply({ type: 'scrape', t, source: 'gpu', group: '', ttlMs: 5_000, durationMs: 0, readings, gaps: [] })
    sink.tick(t)
  }, 20)
  let stopped = false
  const stop = async (): Promise<void> => {
    if (stopped) return
    stopped = true
    clearInterval(ticks)
    await sink.close()
  }
  onTestFinished(stop)
  return { sink, lines, stop }
}

export function incident(id: string, over: Partial<Incident> = {}): Incident {
  return {
    id,
    kind: 'cuda_oom',
    severity: 'critical',
    title: 'CUDA out of memory on GPU 0',
    verdict: 'It needed 2 GiB and 1 GiB was free.',
    facts: { requested_bytes: 2 ** 31, free_bytes: 2 ** 30, causes: ['capacity'], other_processes: [{ pid: 7, bytes: 5 }] },
    remedies: [{ text: 'Take a smaller batch.' }, { text: 'Look at', command: 'nvidia-smi' }],
    status: 'firing',
    subject: {
      gpu: { index: 0, uuid: 'GPU-1', name: 'NVIDIA H100' },
      container: { name: 'job', id: '0123456789ab', image: 'ml/torch:2.7', namespace: 'ml', pod: 'job-0' },
      process: { pid: 42, inner_pid: 7, name: 'python' },
    },
    started_at: 1_763_600_000_000,
    fired_at: 1_763_600_001_500,
    last_seen_at: 1_763_600_001_500,
    count: 1,
    consequences: [],
    evidence: { log_lines: [{ t: 1_763_600_001_000, stream: 'container', text: 'a line of the log' }], series: [], processes: [] },
    ...over,
  }
}
