// The head of TensorRT-LLM's log, under Triton and under its own server: the KV cache in tokens and bytes.
import { inLog } from '../log-figures.ts'
import { figures, type ServerFigures } from '../model.ts'

export function readTrtllmLog(text: string): ServerFigures {
  const tokens = /Using (\d+) tokens in paged KV cache/.exec(text)?.[1]
  // Each of several ranks allocates its part.
  const sizes = Array.from(text.matchAll(/Allocate (\d{1,15}) bytes for k\/v cache/g), ([, bytes]) => Number(bytes))
  const [, blocks] = /Number of blocks in KV cache primary pool: (\d+)/.exec(text) ?? []
  const [, each] = /Number of tokens per block: (\d+)/.exec(text) ?? []
  const inBlocks = blocks === undefined || each === undefined ? undefined : Number(blocks) * Number(each)
  const cache = inLog(sizes.length === 0 ? undefined : sizes.reduce((sum, size) => sum + size, 0))
  return figures({
    kvCapacityTokens: tokens === undefined ? inBlocks : Number(tokens),
    memory: cache === undefined ? undefined : { kv_cache: cache },
  })
}
