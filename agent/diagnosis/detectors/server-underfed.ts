// Requests pile up before an inference server while its GPU has little to do: neither computing nor the KV cache is what they wait for.
import { inferenceKvCacheUsageRatio, inferenceRequestsWaiting } from '../../metrics/inference.ts'
import { gpuUtilizationRatio } from '../../metrics/gpu-load.ts'
import { counted } from '../../text/grammar.ts'
import { percent } from '../../text/figures.ts'
import { defineDetector } from './definition.ts'
import { createGpuRows, metricsOf } from './parts/gpu-rows.ts'
import { createServerJudge } from './parts/server-judge.ts'
import { aboutServer, SERVER_METRICS, type ServerRow } from './parts/server-rows.ts'
import { flagsOf, onGpus, serverText, setTo } from './parts/server-text.ts'

const COLUMNS = { utilization: { metric: gpuUtilizationRatio.name } }
type Look = { readonly t: number; readonly waiting: number; readonly running: number | undefined; readonly utilization: number }
/** What is counted in a queue that grows. */
const LEAST = 5

/** As many run as may: the same number all the time. */
const limitOf = (looks: readonly Look[]): number | undefined => {
  const running = looks[0]?.running
  return running !== undefined && running > 0 && looks.every((look) => look.running === running) ? running : undefined
}
const meanOf = (looks: readonly Look[]): number => looks.reduce((sum, { utilization }) => sum + utilization, 0) / Math.max(1, looks.length)

export const serverUnderfed = defineDetector({
  id: 'server-underfed',
  kinds: ['server_underfed'],
  title: 'Requests wait while the GPU has little to do',
  severity: 'warning',
  watches: [...SERVER_METRICS, ...metricsOf(COLUMNS)],
  everyMs: 5_000,
  options: {
    minutes: { default: 2, min: 0.5, max: 1_440, help: 'Over how long the queue must have grown.' },
    utilization_ratio: { default: 0.4, min: 0.01, max: 1, help: 'The GPU has little to do below this utilization.' },
    usage_ratio: { default: 0.8, min: 0.1, max: 1, help: 'From this share of the KV cache on, the cache may be what they wait for.' },
  },
  expression: {
    promql: `delta(${inferenceRequestsWaiting.name}[2m]) >= ${LEAST} and on (job, instance, name, container, pid, gpu) (${inferenceKvCacheUsageRatio.name} < 0.8) and on (job, instance, gpu) (avg by (job, instance, gpu) (avg_over_time(${gpuUtilizationRatio.name}[2m])) < 0.4)`,
  },
  create(options, { present }) {
    const gpus = createGpuRows(present, COLUMNS)
    const windowMs = options.minutes * 60_000
    const kept = new Map<string, Look[]>()
    const utilizationOf = ({ uuids }: ServerRow): number | undefined => {
      const rows = gpus.read()
      const found = uuids.map((uuid) => rows.get(uuid)?.now.utilization)
      return found.length === 0 || found.includes(undefined) ? undefined : Math.max(...found.map((one) => one ?? 0))
    }
    const judge = createServerJudge(present, {
      kind: 'server_underfed',
      forMs: 0,
      clearMs: 30_000,
      sees(row, t) {
        const utilization = utilizationOf(row)
        if (row.waiting === undefined || utilization === undefined) return undefined
        const looks = [...(kept.get(row.key) ?? []), { t, waiting: row.waiting, running: row.running, utilization }].filter(
          (look) => t - look.t <= windowMs && look.t <= t,
        )
        kept.set(row.key, looks)
        if (row.waiting === 0 || utilization >= Math.min(1, options.utilization_ratio * 1.5)) return false
        const [first] = looks
        if (first === undefined || t - first.t < windowMs - 10_000) return undefined
        const grows = row.waiting >= first.waiting + LEAST && row.waiting >= 1.5 * first.waiting && looks.every(({ waiting }, at) => waiting > 0 || at === 0)
        const isFree = (row.kvUsage ?? 0) < options.usage_ratio && meanOf(looks) < options.utilization_ratio
        // A queue that stands neither begins nor ends it.
        return grows && isFree ? true : isFree ? undefined : false
      },
      tell(row, sinceT) {
        const looks = kept.get(row.key) ?? []
        const [limit, utilization, before] = [limitOf(looks), meanOf(looks), looks[0]?.waiting ?? 0]
        const flags = flagsOf(row)
        const cache = row.kvUsage === undefined ? '' : ` and its KV cache is ${percent(row.kvUsage)} full`
        return {
          kind: 'server_underfed',
          key: row.key,
          about: aboutServer(row),
          state: 'faulty',
          severity: 'warning',
          title: `${row.name}: ${counted(row.waiting ?? 0, 'request')} wait while ${onGpus(row)} has little to do`,
          verdict: `Before the ${serverText(row)} the queue grew from ${before} to ${counted(row.waiting ?? 0, 'request')} while ${onGpus(row)} was busy for ${percent(utilization)} of the time${cache}: something before the GPU holds them up.${limit === undefined ? '' : ` It computed ${limit} at once all the time, which is probably its limit.`}`,
          facts: {
            server: row.name,
            since_ms: sinceT,
            utilization_ratio: utilization,
            requests_waiting: row.waiting ?? 0,
            ...(row.running === undefined ? {} : { requests_running: row.running }),
            ...(row.kvUsage === undefined ? {} : { kv_cache_usage_ratio: row.kvUsage }),
          },
          remedies: [
            ...(limit === undefined
              ? []
              : [{ text: `Let it compute more at once${flags === undefined ? '' : ` (${setTo(flags.parallel, limit * 2)})`}: it is at ${limit}.` }]),
            {
              text: 'See whether one thread of the server (tokenizer, API server, scheduler) is busy all the time: then the CPU is the limit.',
              command: row.pid === undefined ? 'top -H -b -n 1 | head -n 20' : `top -H -b -n 1 -p ${row.pid} | head -n 20`,
            },
            ...(row.container === undefined
              ? []
              : [{ text: 'See how much CPU the container uses, and compare it with its CPU limit.', command: `docker stats --no-stream ${row.container}` }]),
            {
              text: 'Look for what requests wait for beside the GPU: grammars that are compiled, adapters (LoRA) that are loaded, a cache that comes over the network.',
            },
          ],
        }
      },
      over: (row) => (row.waiting === 0 ? 'nobody waits any more' : 'its GPU works'),
      forget: (key) => void kept.delete(key),
    })
    return { judge }
  },
})
