// An inference server answered before, its process lives, and now it takes connections and answers nothing: its event loop is stuck or starved.
import { gpuUtilizationRatio } from '../../metrics/gpu-load.ts'
import { inferenceUnansweredSeconds } from '../../metrics/inference.ts'
import { percent } from '../../text/figures.ts'
import { spanText } from '../../text/span.ts'
import { defineDetector } from './definition.ts'
import { createGpuRows, metricsOf } from './parts/gpu-rows.ts'
import { createServerJudge } from './parts/server-judge.ts'
import { readLog, seeThreads, startAgain } from './parts/server-remedies.ts'
import { aboutServer, SERVER_METRICS, type ServerRow } from './parts/server-rows.ts'
import { onGpus, serverText } from './parts/server-text.ts'

const COLUMNS = { utilization: { metric: gpuUtilizationRatio.name } }
/** Loading a checkpoint in a thread of the same process (ComfyUI), or a long prompt on the CPU, takes up to a minute. */
const DEFAULT_S = 180

export const serverSilent = defineDetector({
  id: 'server-silent',
  kinds: ['server_silent'],
  title: 'An inference server no longer answers',
  severity: 'warning',
  watches: [...SERVER_METRICS, ...metricsOf(COLUMNS)],
  everyMs: 5_000,
  options: {
    for_seconds: { default: DEFAULT_S, min: 0, max: 86_400, help: 'For how long all requests must have run out of time.' },
  },
  expression: { promql: `${inferenceUnansweredSeconds.name} >= ${DEFAULT_S}` },
  create(options, { present }) {
    const gpus = createGpuRows(present, COLUMNS)
    const busiest = ({ uuids }: ServerRow): number | undefined => {
      const rows = gpus.read()
      const known = uuids.flatMap((uuid) => rows.get(uuid)?.now.utilization ?? [])
      return known.length === 0 ? undefined : Math.max(...known)
    }
    const judge = createServerJudge(present, {
      kind: 'server_silent',
      forMs: 0,
      clearMs: 0,
      sees: ({ unanswered }) => (unanswered === undefined ? undefined : unanswered >= options.for_seconds),
      tell(row, sinceT, t) {
        const { unanswered = 0, name } = row
        const utilization = busiest(row)
        const gpu = utilization === undefined ? '' : ` ${onGpus(row)} is busy for ${percent(utilization)} of the time.`
        return {
          kind: 'server_silent',
          key: row.key,
          about: aboutServer(row),
          state: 'faulty',
          severity: 'warning',
          title: `${name} has not answered for ${spanText(unanswered * 1_000)}`,
          verdict: `The ${serverText(row)} takes connections and answers none: each request of the agent has run out of its 2 s for ${spanText(unanswered * 1_000)}. Its process lives, so nothing restarts it by itself.${gpu}`,
          facts: { server: name, since_ms: Math.min(sinceT, t - unanswered * 1_000), ...(utilization === undefined ? {} : { utilization_ratio: utilization }) },
          remedies: [
            readLog(row, 'See what it said last, above all lines such as "Health check failed" or of a time-out of its engine.'),
            seeThreads(row),
            startAgain(row, 'Do so if it does not come back; requests that wait in it are lost either way.'),
          ],
        }
      },
      over: () => 'it answers again',
    })
    return { judge }
  },
})
