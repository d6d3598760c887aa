// What /api/v1/fit answers, as zod schemas.
import * as z from 'zod'
import { FIT_DTYPES, FIT_OPTIMIZERS, FIT_PARTS, FIT_SHARDS, FIT_VERDICTS } from '../../model/fit.ts'

const bytes = z.int().min(0)
const range = { low_bytes: bytes, likely_bytes: bytes, high_bytes: bytes }
const total = z.object(range).meta({ id: 'FitRange', description: 'All but rare set-ups are between low and high.' })
const holder = z.object({ pid: z.int(), process: z.string(), container: z.string().optional(), bytes: bytes }).meta({ id: 'FitHolder' })

const settings = z
  .object({
    train: z.enum(['no', 'full', 'lora']),
    dtype: z.enum(FIT_DTYPES),
    context: z.int().min(1),
    prompt: z.int().min(0),
    batch: z.int().min(1),
    kv_cache: z.enum(['fp16', 'fp8', 'int8', 'off']),
    rank: z.int().min(1),
    targets: z.enum(['qv', 'attention', 'all']),
    optimizer: z.enum(FIT_OPTIMIZERS),
    precision: z.enum(['same', 'amp', 'master']),
    checkpointing: z.enum(['on', 'off']),
    attention: z.enum(['flash', 'eager']),
    loss: z.enum(['full', 'chunked']),
    gpus: z.int().min(1),
    shard: z.enum(FIT_SHARDS),
    engine: z.enum(['pytorch', 'vllm']),
    utilization: z.number(),
  })
  .meta({ id: 'FitSettings' })

const estimate = z
  .object({
    model: z.object({ name: z.string(), parameters: z.number(), trainable: z.number().optional(), known_by: z.enum(['config', 'weights', 'size']) }),
    settings,
    parts: z.array(z.object({ part: z.enum(FIT_PARTS), ...range, note: z.string().optional() })),
    total,
    unknown: z.array(z.string()).describe('What is not in the total; it is a lower bound then.'),
    notes: z.array(z.string()),
  })
  .meta({ id: 'FitEstimate', description: 'What one GPU has to hold, in parts.' })

export const room = z
  .object({
    name: z.string(),
    index: z.int().optional(),
    uuid: z.string().optional(),
    gi: z.string().optional(),
    capacity_bytes: bytes.describe('Without what the driver keeps.'),
    free_bytes: bytes.optional(),
    peak_used_bytes: bytes.optional().describe('Highest use of the last seven days.'),
    peak_since_ms: z.number().optional(),
    idle_holders: z.array(holder).optional().describe('Who holds memory while nothing has run for half an hour.'),
    holders: z.array(holder).optional(),
    stranded_ratio: z.number().optional(),
  })
  .meta({ id: 'GpuRoom', description: 'What a GPU or MIG instance has left; what is absent is not known.' })

export const report = z
  .object({
    version: z.literal(1),
    estimate,
    gpus: z.array(
      z.object({
        gpu: room,
        verdict: z.enum(FIT_VERDICTS),
        tight: z.boolean().describe('The range crosses the line: it may go either way.'),
        why: z.string(),
        headroom: z.object({ now_bytes: z.int().optional(), at_peak_bytes: z.int().optional(), empty_bytes: z.int() }),
        claim_bytes: bytes.optional(),
        suggestions: z.array(z.object({ changes: z.array(z.string()), why: z.array(z.string()), total })),
      }),
    ),
    fits: z.object({ needed: z.int(), now: z.int() }),
  })
  .meta({ id: 'FitReport' })
export const config = z.looseObject({ model_type: z.string() }).meta({ id: 'HuggingFaceConfig', description: 'The config.json of a model.' })
