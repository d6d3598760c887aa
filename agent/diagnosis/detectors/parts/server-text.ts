// How a verdict names a server, and by which words its family sets what matters.
import type { Track, Tracks } from './tracks.ts'
import { andList } from '../../../text/grammar.ts'
import { gib } from '../../../text/bytes.ts'
import type { ServerRow } from './server-rows.ts'
import { processText } from './who.ts'

const TITLES: Readonly<Record<string, string>> = {
  vllm: 'vLLM',
  sglang: 'SGLang',
  ollama: 'Ollama',
  tgi: 'TGI',
  tei: 'TEI',
  lmdeploy: 'LMDeploy',
  nim: 'NIM',
  xinference: 'Xinference',
  localai: 'LocalAI',
  koboldcpp: 'KoboldCpp',
  speaches: 'Speaches',
}
/** `vLLM server chat (org/model)`. */
export const serverText = ({ name, server, model }: Pick<ServerRow, 'name' | 'server' | 'model'>): string =>
  `${TITLES[server] ?? server} server ${name}${model === undefined ? '' : ` (${model})`}`
export const onGpus = ({ gpus }: Pick<ServerRow, 'gpus'>): string => (gpus.length === 1 ? `GPU ${gpus[0]}` : `GPUs ${gpus.join(', ')}`)

type Flags = { readonly parallel: string; readonly context: string; readonly cacheType?: string; readonly share?: string }
const FLAGS: Readonly<Record<string, Flags>> = {
  vllm: { parallel: '--max-num-seqs', context: '--max-model-len', cacheType: '--kv-cache-dtype fp8', share: '--gpu-memory-utilization' },
  sglang: { parallel: '--max-running-requests', context: '--context-length', cacheType: '--kv-cache-dtype fp8_e5m2' },
  'llama.cpp': { parallel: '--parallel', context: '--ctx-size', cacheType: '--cache-type-k q8_0 --cache-type-v q8_0' },
  ollama: { parallel: 'OLLAMA_NUM_PARALLEL=', context: 'OLLAMA_CONTEXT_LENGTH=', cacheType: 'OLLAMA_KV_CACHE_TYPE=q8_0' },
  tgi: { parallel: '--max-concurrent-requests', context: '--max-total-tokens' },
  lmdeploy: { parallel: '--max-batch-size', context: '--session-len', cacheType: '--quant-policy 8' },
}
export const flagsOf = ({ server }: Pick<ServerRow, 'server'>): Flags | undefined => FLAGS[server]
/** `--max-num-seqs 12`, `OLLAMA_NUM_PARALLEL=2`. */
export const setTo = (flag: string, value: number | string): string => (flag.endsWith('=') ? `${flag}${value}` : `${flag} ${value}`)

/** Processes on the server's cards that are not its own. */
export function neighboursOf(tracks: Tracks, { uuids, container, pid }: Pick<ServerRow, 'uuids' | 'container' | 'pid'>): readonly Track[] {
  return uuids
    .flatMap((uuid) => tracks.onGpu(uuid))
    .filter(
      (track) => (container === undefined ? track.pid !== pid && track.container !== undefined : track.container !== container) && track.nvml !== undefined,
    )
    .toSorted((a, b) => (b.nvml?.bytes ?? 0) - (a.nvml?.bytes ?? 0))
}
const NAMED = 2
/** `process python3 (7) of container trainer (12.0 GiB)`; empty when nobody else is there. */
export const neighboursText = (neighbours: readonly Track[]): string =>
  andList(neighbours.slice(0, NAMED).map((track) => `${processText(track)} (${gib(track.nvml?.bytes ?? 0)})`))
