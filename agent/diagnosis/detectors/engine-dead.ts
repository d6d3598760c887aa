// The port of an inference server answers, and nobody computes behind it: the process that held the GPU has ended, or does not move with requests in hand.
import { inferenceRequestsRunning, inferenceServerInfo, inferenceTokensTotal } from '../../metrics/inference.ts'
import { gpuUtilizationRatio } from '../../metrics/gpu-load.ts'
import { gpuSpinning } from '../../metrics/gpu-spinning.ts'
import { spanText } from '../../text/span.ts'
import { defineDetector } from './definition.ts'
import { createGpuRows, metricsOf } from './parts/gpu-rows.ts'
import { createServerJudge } from './parts/server-judge.ts'
import { readLog, startAgain } from './parts/server-remedies.ts'
import { aboutServer, SERVER_METRICS, type ServerRow } from './parts/server-rows.ts'
import { onGpus, serverText } from './parts/server-text.ts'

const COLUMNS = { utilization: { metric: gpuUtilizationRatio.name }, spins: { metric: gpuSpinning.name } }
/** Servers that count a token when it is made; llama.cpp counts when a request has ended. */
const COUNTS_AT_ONCE: ReadonlySet<string> = new Set(['vllm', 'sglang', 'lmdeploy', 'nim'])
const IDLE_RATIO = 0.02

export const engineDead = defineDetector({
  id: 'engine-dead',
  kinds: ['engine_dead'],
  title: 'An inference server answers without an engine',
  severity: 'critical',
  watches: [...SERVER_METRICS, ...metricsOf(COLUMNS)],
  everyMs: 5_000,
  options: {
    for_seconds: { default: 15, min: 0, max: 86_400, help: 'For how long the engine must be gone.' },
    frozen_seconds: { default: 120, min: 10, max: 86_400, help: 'For how long no token may come with requests running and a GPU that is idle or only waits.' },
  },
  expression: {
    promql: `${inferenceServerInfo.name}{state="dead"} == 1 or (increase(${inferenceTokensTotal.name}{type="generation"}[2m]) == 0 and on (job, instance, name, container, pid, gpu) (${inferenceRequestsRunning.name} > 0) and on (job, instance, gpu) (max by (job, instance, gpu) (max_over_time(${gpuUtilizationRatio.name}[2m])) < ${IDLE_RATIO} or min by (job, instance, gpu) (min_over_time(${gpuSpinning.name}[2m])) == 1))`,
    for: '15s',
  },
  create(options, { present }) {
    const gpus = createGpuRows(present, COLUMNS)
    /** Since when nothing moves, and at which count. */
    const still = new Map<string, { readonly count: number; readonly t: number }>()
    /** Also a GPU that only waits for another: by its counter it is busy all the time. */
    const spins = ({ uuids }: ServerRow): boolean => uuids.some((uuid) => gpus.read().get(uuid)?.now.spins === 1)
    const isIdle = ({ uuids }: ServerRow): boolean | undefined => {
      const rows = gpus.read()
      const found = uuids.map((uuid) => rows.get(uuid)?.now)
      if (found.length === 0 || found.some((now) => now?.utilization === undefined)) return undefined
      return found.every((now) => (now?.utilization ?? 1) < IDLE_RATIO || now?.spins === 1)
    }
    const frozenMs = (row: ServerRow, t: number): number | undefined => {
      if (row.generated === undefined || row.running === undefined || !COUNTS_AT_ONCE.has(row.server)) return undefined
      const idle = isIdle(row)
      const before = still.get(row.key)
      if (row.running === 0 || idle === false || before?.count !== row.generated) still.set(row.key, { count: row.generated, t })
      return idle === undefined ? undefined : t - (still.get(row.key)?.t ?? t)
    }
    const judge = createServerJudge(present, {
      kind: 'engine_dead',
      forMs: options.for_seconds * 1_000,
      clearMs: 0,
      sees(row, t) {
        if (row.state === 'dead') return true
        const frozen = frozenMs(row, t)
        if (frozen !== undefined && frozen >= options.frozen_seconds * 1_000) return true
        return row.state === 'ready' || row.state === 'sleeping' ? false : undefined
      },
      tell(row, sinceT, t) {
        const isGone = row.state === 'dead'
        const what = isGone
          ? 'the process that held its GPU memory has ended, yet its port still answers'
          : `${row.running ?? 0} requests run, no token came for ${spanText(t - (still.get(row.key)?.t ?? t))}, and ${onGpus(row)} ${spins(row) ? `only waits (busy by its counter, without power or memory traffic)${row.gpus.length > 1 ? ': one of its workers holds up the others' : ''}` : 'is idle'}`
        return {
          kind: 'engine_dead',
          key: row.key,
          about: aboutServer(row),
          state: 'faulty',
          severity: 'critical',
          title: isGone ? `${row.name}: the engine is gone and the port still answers` : `${row.name}: the engine makes no progress with requests in hand`,
          verdict: `The engine of the ${serverText(row)} ${isGone ? 'is dead' : 'stands still'}: ${what}. Health checks of the port may still succeed, so nothing restarts it by itself.`,
          facts: {
            server: row.name,
            since_ms: sinceT,
            pattern: isGone ? 'engine_gone' : 'engine_frozen',
            ...(row.running === undefined ? {} : { requests_running: row.running }),
          },
          remedies: [
            readLog(row, 'See what the engine said last; the first error is the cause.'),
            startAgain(row, 'A new engine is not begun by itself.'),
            { text: 'Let the health check ask for one token (POST /v1/completions with max_tokens 1), not for /health or /version alone.' },
          ],
        }
      },
      over: () => 'it has an engine that works',
      forget: (key) => void still.delete(key),
    })
    return { judge }
  },
})
