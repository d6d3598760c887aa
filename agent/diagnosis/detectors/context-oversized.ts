// A context much longer than any request, at a server that takes the KV cache of the whole context when it loads the model.
import { inferenceContextTokens, inferenceLongestRequestTokens, inferenceMemoryBytes, inferenceServerInfo } from '../../metrics/inference.ts'
import { gib, GIB } from '../../text/bytes.ts'
import { roughSpan } from '../../text/span.ts'
import { defineDetector } from './definition.ts'
import { createServerJudge } from './parts/server-judge.ts'
import { aboutServer, SERVER_METRICS, type ServerRow } from './parts/server-rows.ts'
import { flagsOf, onGpus, serverText, setTo } from './parts/server-text.ts'

/** Others share one pool among requests of any length (paged attention): there a long context costs no memory. */
const TAKES_ALL_AT_LOAD = new Set(['llama.cpp', 'ollama'])
const LEAST_BYTES = GIB
/** The longest request is left with a quarter above it. */
const MARGIN = 1.25
const STEP_TOKENS = 1_024
const KEY = '(job, instance, name, container, pid, gpu)'

type Sized = { readonly context: number; readonly longest: number; readonly cache: number }
/** undefined: one of the figures is missing, nothing was asked yet, or the model is not loaded. */
function sizesOf({ server, state, context, longest, memory: { kv_cache: cache } }: ServerRow): Sized | undefined {
  if (!TAKES_ALL_AT_LOAD.has(server) || state !== 'ready') return undefined
  return context === undefined || context <= 0 || longest === undefined || longest <= 0 || cache === undefined ? undefined : { context, longest, cache }
}
const unusedOf = ({ context, longest, cache }: Sized): number => Math.max(0, cache * (1 - (MARGIN * longest) / context))
const enoughOf = ({ longest }: Sized): number => Math.ceil((MARGIN * longest) / STEP_TOKENS) * STEP_TOKENS

export const contextOversized = defineDetector({
  id: 'context-oversized',
  kinds: ['context_oversized'],
  title: 'A server keeps memory for a context longer than it ever used',
  severity: 'info',
  watches: SERVER_METRICS,
  everyMs: 5_000,
  options: {
    hours: { default: 1, min: 0.01, max: 168, help: 'For how long no request may have been longer.' },
    used_ratio: { default: 0.25, min: 0.01, max: 1, help: 'The longest request must stay below this share of the context.' },
  },
  expression: {
    promql:
      `${inferenceLongestRequestTokens.name} < 0.25 * ${inferenceContextTokens.name}` +
      ` and on ${KEY} (sum by ${KEY} (${inferenceMemoryBytes.name}{part="kv_cache"}) * on ${KEY} (1 - ${MARGIN} * ${inferenceLongestRequestTokens.name} / ${inferenceContextTokens.name}) >= ${LEAST_BYTES})` +
      ` and on ${KEY} (${inferenceServerInfo.name}{server=~"${[...TAKES_ALL_AT_LOAD].join('|')}", state="ready"}) and ${inferenceLongestRequestTokens.name} > 0`,
    for: '1h',
  },
  create(options, { present }) {
    const judge = createServerJudge(present, {
      kind: 'context_oversized',
      forMs: options.hours * 3_600_000,
      clearMs: 0,
      sees(row) {
        const sizes = sizesOf(row)
        return sizes === undefined ? undefined : sizes.longest < options.used_ratio * sizes.context && unusedOf(sizes) >= LEAST_BYTES
      },
      tell(row, sinceT, t) {
        const { context, longest, cache } = sizesOf(row) ?? { context: 0, longest: 0, cache: 0 }
        const sizes = { context, longest, cache }
        const [enough, unused, flags] = [enoughOf(sizes), unusedOf(sizes), flagsOf(row)]
        // llama.cpp divides its context among requests that have caches of their own; what is set is the sum.
        const slots = row.server === 'llama.cpp' && row.kvTokens !== undefined ? Math.max(1, Math.round(row.kvTokens / context)) : 1
        const set = flags === undefined ? '' : ` with ${setTo(flags.context, enough * slots)}`
        return {
          kind: 'context_oversized',
          key: row.key,
          about: aboutServer(row),
          state: 'faulty',
          severity: 'info',
          title: `${row.name}: ${gib(unused)} hold a context that no request used`,
          verdict: `The ${serverText(row)} keeps ${gib(cache)} of ${onGpus(row)} for requests of ${context} tokens. Its longest request had ${longest} tokens (watched for ${roughSpan(t - sinceT)}).`,
          facts: {
            server: row.name,
            since_ms: sinceT,
            context_tokens: context,
            longest_request_tokens: longest,
            kv_cache_bytes: cache,
            unused_bytes: Math.round(unused),
          },
          remedies: [
            {
              text: `Start it again${set}${slots > 1 ? ` (${enough} tokens for each of ${slots} requests)` : ''}: it frees about ${gib(cache * Math.max(0, 1 - enough / context))} and leaves headroom above the longest request.`,
            },
            ...(flags?.cacheType === undefined
              ? []
              : [{ text: `Or keep the context and halve the memory of its cache: ${flags.cacheType} (with some loss of accuracy).` }]),
          ],
        }
      },
      over: () => 'a longer request came, or its context is shorter now',
    })
    return { judge }
  },
})
