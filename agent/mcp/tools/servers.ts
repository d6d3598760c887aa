// Inference servers of this host: model, queue, KV cache, tokens per second.
import { percent } from '../../text/figures.ts'
import { inLine } from '../answer.ts'
import { rowsOf, server } from '../rows.ts'
import { tool } from '../tool.ts'

export const servers = tool({
  name: 'servers',
  title: 'Inference servers',
  description:
    'The inference servers of the host (vLLM, SGLang, llama.cpp, …): model, state, requests running and waiting, KV cache, tokens per second, time to first token.',
  input: {},
  hint: '',
  async run(_input, ask) {
    const found = await rowsOf(ask, '/api/v1/servers', server)
    if (found.length === 0) return ['No inference servers run on the GPUs of this host.']
    return found.map((one) => {
      const [tokens, first] = [one.tokens_rate?.['generation'], one.time_to_first_token_seconds?.['0.95']]
      return [
        `${inLine(one.name, 80)}: ${inLine(one.server, 40)}${one.version === undefined ? '' : ` ${inLine(one.version, 40)}`}`,
        ...(one.model === undefined ? [] : [`model ${inLine(one.model, 120)}`]),
        ...(one.state === undefined ? [] : [inLine(one.state, 60)]),
        ...(one.gpu === undefined ? [] : [`GPU ${one.gpu}`]),
        ...(one.requests_running === undefined ? [] : [`${one.requests_running} running`]),
        ...(one.requests_waiting === undefined ? [] : [`${one.requests_waiting} waiting`]),
        ...(one.kv_cache_usage_ratio === undefined ? [] : [`KV cache ${percent(one.kv_cache_usage_ratio)}`]),
        ...(tokens === undefined ? [] : [`${tokens.toFixed(0)} tokens/s`]),
        ...(first === undefined ? [] : [`time to first token p95 ${(first * 1_000).toFixed(0)} ms`]),
      ].join(', ')
    })
  },
})
