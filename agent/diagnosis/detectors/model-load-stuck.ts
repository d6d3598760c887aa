// An inference server has been loading for long, and nothing moves: its memory does not grow, its GPU is idle and its CPU rests.
import { containerCpuSecondsTotal } from '../../metrics/container.ts'
import { gpuUtilizationRatio } from '../../metrics/gpu-load.ts'
import { processGpuMemoryBytes } from '../../metrics/process.ts'
import { gib } from '../../text/bytes.ts'
import { spanText } from '../../text/span.ts'
import { defineDetector } from './definition.ts'
import { createGpuRows, metricsOf } from './parts/gpu-rows.ts'
import { createRates } from './parts/rates.ts'
import { createServerJudge } from './parts/server-judge.ts'
import { readLog, seeThreads } from './parts/server-remedies.ts'
import { aboutServer, SERVER_METRICS, type ServerRow } from './parts/server-rows.ts'
import { onGpus, serverText } from './parts/server-text.ts'

const COLUMNS = { utilization: { metric: gpuUtilizationRatio.name } }
const CPU = containerCpuSecondsTotal.name
const IDLE_RATIO = 0.02
/** A program that compiles, unpacks or reads keeps a core busy. */
const RESTS_CORES = 0.2
/** Less is noise. */
const GROWS_BYTES = 32 * 2 ** 20

export const modelLoadStuck = defineDetector({
  id: 'model-load-stuck',
  kinds: ['model_load_stuck'],
  title: 'An inference server does not get on with loading its model',
  severity: 'warning',
  watches: [...SERVER_METRICS, ...metricsOf(COLUMNS), processGpuMemoryBytes.name, CPU],
  everyMs: 5_000,
  options: {
    minutes: { default: 5, min: 0.5, max: 1_440, help: 'For how long nothing must move while it loads; where its CPU time is not known, three times as long.' },
  },
  expression: { none: 'that nothing moves is judged by the memory of its processes and the CPU of its container together; no expression joins them' },
  create({ minutes }, { present, tracks }) {
    const gpus = createGpuRows(present, COLUMNS)
    const rates = createRates(60_000)
    const quiet = new Map<string, { readonly bytes: number; readonly t: number; readonly isKnown: boolean }>()
    const heldOf = ({ uuids, container, pid }: ServerRow): number =>
      uuids
        .flatMap((uuid) => tracks.onGpu(uuid))
        .filter((track) => (container === undefined ? track.container === undefined || track.pid === pid : track.container === container))
        .reduce((sum, { nvml }) => sum + (nvml?.bytes ?? 0), 0)
    const judge = createServerJudge(present, {
      kind: 'model_load_stuck',
      forMs: 0,
      clearMs: 0,
      sees(row, t) {
        if (row.state !== 'loading') {
          quiet.delete(row.key)
          return row.state === undefined ? undefined : false
        }
        const rows = gpus.read()
        const utilizations = row.uuids.map((uuid) => rows.get(uuid)?.now.utilization)
        if (utilizations.length === 0 || utilizations.includes(undefined)) return undefined
        const cpu = row.container === undefined ? undefined : present.of(CPU).find(({ series }) => series.labels['container'] === row.container)
        if (cpu !== undefined) rates.note(t, row.key, cpu.value)
        const cores = cpu === undefined ? undefined : rates.of(t, row.key)
        const bytes = heldOf(row)
        const before = quiet.get(row.key)
        const moves =
          (cores ?? 0) > RESTS_CORES || utilizations.some((one) => (one ?? 0) >= IDLE_RATIO) || Math.abs(bytes - (before?.bytes ?? bytes)) > GROWS_BYTES
        if (before === undefined || moves) quiet.set(row.key, { bytes, t, isKnown: cores !== undefined })
        const { t: since, isKnown } = quiet.get(row.key) ?? { t, isKnown: false }
        return t - since >= minutes * 60_000 * (isKnown || cores !== undefined ? 1 : 3) ? true : undefined
      },
      tell(row, sinceT, t) {
        const since = quiet.get(row.key)?.t ?? sinceT
        const bytes = heldOf(row)
        return {
          kind: 'model_load_stuck',
          key: row.key,
          about: aboutServer(row),
          state: 'faulty',
          severity: 'warning',
          title: `${row.name}: loading has made no progress for ${spanText(t - since)}`,
          verdict: `The ${serverText(row)} is still loading, but nothing has moved for ${spanText(t - since)}: it holds ${gib(bytes)} of ${onGpus(row)} as before, the GPU is idle${row.container === undefined ? '' : ' and its container uses next to no CPU'}.`,
          facts: { server: row.name, since_ms: since, idle_seconds: Math.round((t - since) / 1_000), process_bytes: bytes },
          remedies: [
            readLog(row, 'See what it said last: a download, a lock on the cache, a peer that it waits for.'),
            seeThreads(row),
            {
              text: 'Look whether its storage answers (network file system, full disk), and whether the model hub can be reached.',
              command: 'df -h; grep -E "nfs|cifs|fuse" /proc/mounts',
            },
          ],
        }
      },
      over: (row) => (row.state === 'dead' ? 'its engine has ended' : 'the model is loaded'),
      forget: (key) => void quiet.delete(key),
    })
    return { judge }
  },
})
