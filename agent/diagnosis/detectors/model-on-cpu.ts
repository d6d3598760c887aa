// A model of an inference server is in host memory, wholly or in part: the server says so itself, and answers slowly.
import { inferenceOffloadedRatio, inferenceServerInfo } from '../../metrics/inference.ts'
import type { Remedy } from '../../model/fault.ts'
import { gib } from '../../text/bytes.ts'
import { percent } from '../../text/figures.ts'
import { defineDetector } from './definition.ts'
import { createServerJudge } from './parts/server-judge.ts'
import { quoted } from './parts/server-remedies.ts'
import { aboutServer, SERVER_METRICS, type ServerRow } from './parts/server-rows.ts'
import { flagsOf, neighboursOf, neighboursText, onGpus, serverText, setTo } from './parts/server-text.ts'
import type { Tracks } from './parts/tracks.ts'

/** How much would have to be free; undefined where the size of what is on the card is not known. */
function shortOf({ memory, offloaded = 0 }: ServerRow): number | undefined {
  const { weights } = memory
  return weights === undefined || offloaded >= 1 ? undefined : Math.round((weights * offloaded) / (1 - offloaded))
}

function remediesOf(row: ServerRow, tracks: Tracks): readonly Remedy[] {
  const neighbours = neighboursOf(tracks, row)
  const [short, flags] = [shortOf(row), flagsOf(row)]
  const more = short === undefined ? 'memory' : gib(short)
  const reload = row.server === 'ollama' && row.model !== undefined ? `ollama stop ${row.model.split(', ')[0]}` : undefined
  const remedies: Remedy[] = []
  // It decided at its own start which GPUs it can compute on.
  if (row.server === 'ollama' && row.gpus.length === 0)
    remedies.push({
      text: 'See whether Ollama found a GPU when it started (a line "inference compute" names each), and whether its container was given one; then restart it.',
      command:
        row.container === undefined
          ? `journalctl --no-pager _PID=${row.pid ?? '<PID>'} | grep -E 'inference compute|compatible GPUs'`
          : `docker logs ${quoted(row.container)} 2>&1 | grep -E 'inference compute|compatible GPUs'`,
    })
  if (neighbours.length > 0)
    remedies.push({
      text: `Free ${more} on its card, then load the model again: ${neighboursText(neighbours)} hold memory there.`,
      ...(reload === undefined ? {} : { command: reload }),
    })
  const context = row.context === undefined ? undefined : Math.max(2_048, Math.floor(row.context / 2))
  remedies.push({
    text: `Shorten the context${flags === undefined || context === undefined ? '' : ` (${setTo(flags.context, context)} instead of ${row.context})`}: its cache is taken before the layers are laid out.`,
  })
  remedies.push({ text: 'Take a smaller quantization of the model, or a card with more memory.' })
  if (row.server === 'llama.cpp')
    remedies.push({ text: 'Look at how many layers it was set to put on the GPU.', command: 'llama-server --help | grep -A2 n-gpu-layers' })
  return remedies
}

export const modelOnCpu = defineDetector({
  id: 'model-on-cpu',
  kinds: ['model_on_cpu'],
  title: 'A model is in host memory instead of GPU memory',
  severity: 'warning',
  watches: SERVER_METRICS,
  everyMs: 5_000,
  options: {
    for_seconds: { default: 30, min: 0, max: 86_400, help: 'For how long the model must be there.' },
    offloaded_ratio: { default: 0.01, min: 0, max: 1, help: 'Share of the model in host memory that is worth telling.' },
  },
  expression: {
    promql: `${inferenceOffloadedRatio.name} > 0.01 unless on (job, instance, name, container, pid, gpu) ${inferenceServerInfo.name}{state="loading"}`,
    for: '30s',
  },
  create(options, { present, tracks }) {
    const judge = createServerJudge(present, {
      kind: 'model_on_cpu',
      forMs: options.for_seconds * 1_000,
      clearMs: 0,
      sees: ({ offloaded, state }) => (offloaded === undefined || state === 'loading' ? undefined : offloaded > options.offloaded_ratio),
      tell(row, sinceT) {
        const { offloaded = 0, layers } = row
        const short = shortOf(row)
        const isAll = offloaded > 0.99
        const [onGpu, all] = (layers ?? '').split('/')
        const inLayers = onGpu === undefined || all === undefined ? '' : ` (${onGpu} of ${all} layers are on the GPU)`
        const neighbours = neighboursOf(tracks, row)
        return {
          kind: 'model_on_cpu',
          key: row.key,
          about: aboutServer(row),
          state: 'faulty',
          severity: 'warning',
          title: isAll ? `${row.name}: the model runs on the CPU` : `${row.name}: ${percent(offloaded)} of the model is in host memory`,
          verdict: `${isAll ? 'All' : percent(offloaded)} of the model of the ${serverText(row)} is in host memory${inLayers}: the CPU computes that part, many times slower.${short === undefined ? '' : ` ${gib(short)} of GPU memory are missing.`}${neighbours.length === 0 ? '' : ` On ${onGpus(row)} ${neighboursText(neighbours)} hold memory too.`}`,
          facts: {
            server: row.name,
            since_ms: sinceT,
            offloaded_ratio: offloaded,
            ...(layers === undefined ? {} : { layers }),
            ...(short === undefined ? {} : { missing_bytes: short }),
          },
          remedies: remediesOf(row, tracks),
        }
      },
      over: () => 'all of the model is in GPU memory',
    })
    return { judge }
  },
})
