// What the API answers, as zod schemas: the OpenAPI description is made from them and every response is held against them in the tests.
// Loaded only when the description or history is asked for: zod costs 12 MiB of memory (measured, Node 24).
import * as z from 'zod'
import { GAP_REASONS } from '../../model/reading.ts'

const gapRow = z
  .object({
    measure: z.string().describe('The measure, or the source, that could not be read.'),
    reason: z.enum(GAP_REASONS),
    code: z.number().optional().describe('The native code behind the reason: an NVML return code, an errno, an HTTP status.'),
    detail: z.string().optional(),
  })
  .meta({ id: 'Gap' })
const gaps = z.array(gapRow).optional()

/** Any measure that a metric brings: a number, a text of an info metric, or numbers by the value of a further label. */
const measure = z.union([z.number(), z.string(), z.record(z.string(), z.number()), z.array(z.looseObject({}))])
const bytes = z.number().min(0).optional()
const ratio = z.number().min(0).optional()
const byLabel = z.record(z.string(), z.number()).optional()

const mig = z
  .object({ gi: z.string(), ci: z.string(), memory_total_bytes: bytes, memory_used_bytes: bytes, gaps })
  .catchall(measure)
  .meta({ id: 'MigInstance' })

export const gpu = z
  .object({
    uuid: z.string(),
    index: z.int().describe('The index of the host; -1 when only the UUID is known.'),
    name: z.string().optional(),
    memory_total_bytes: bytes,
    memory_used_bytes: bytes,
    memory_used_peak_bytes: bytes,
    memory_free_bytes: bytes,
    memory_reserved_bytes: bytes,
    memory_unattributed_bytes: z.number().optional(),
    utilization_ratio: ratio,
    power_watts: z.number().optional(),
    power_limit_watts: z.number().optional(),
    temperature_celsius: z.number().optional(),
    memory_temperature_celsius: z.number().optional(),
    fan_speed_ratio: ratio,
    performance_state: z.number().optional(),
    clock_hertz: byLabel,
    throttle_active: byLabel,
    sample_age_seconds: z.number().min(0).optional(),
    memory_exhaustion_earliest_seconds: byLabel.describe('Seconds until memory runs out if the trend goes on, by pid_container of the process that fails.'),
    memory_exhaustion_latest_seconds: byLabel.describe('The same at the latest; absent where only the near end is known.'),
    mig: z.array(mig).optional(),
    gaps,
  })
  .catchall(measure)
  .meta({ id: 'Gpu', description: 'One GPU now. What could not be read is absent, with its reason under gaps.' })

export const container = z
  .object({
    container_id: z.string(),
    container: z.string(),
    image: z.string().optional(),
    compose_project: z.string().optional(),
    compose_service: z.string().optional(),
    namespace: z.string().optional(),
    pod: z.string().optional(),
    cpu_seconds_total: z.number().min(0).optional(),
    cpu_cores: z.number().min(0).optional(),
    memory_bytes: bytes,
    memory_limit_bytes: bytes,
    oom_kills_total: z.number().min(0).optional(),
    gpu_memory_bytes: byLabel.describe('By GPU UUID.'),
    gpus_requested: z.string().optional().describe('UUIDs joined by commas.'),
    gaps,
  })
  .catchall(measure)
  .meta({ id: 'Container' })

export const process = z
  .object({
    pid: z.int(),
    process: z.string(),
    uuid: z.string(),
    gpu: z.string(),
    gi: z.string().optional(),
    ci: z.string().optional(),
    gpu_memory_bytes: bytes,
    gpu_utilization_ratio: z.number().min(0).max(1).describe('Its share of the time in which kernels ran on this GPU.').optional(),
    user: z.string().describe('The name on the host; in a container that of its image.').optional(),
    uid: z.string().describe('The number on the host.').optional(),
    command: z.string().describe('Command line, secrets masked.').optional(),
    start_timestamp_seconds: z.number().describe('Unix seconds.').optional(),
    container: z.string().optional(),
    container_id: z.string().optional(),
    gaps,
  })
  .catchall(measure)
  .meta({ id: 'Process', description: 'One process on one GPU or MIG instance.' })

export const allocator = z
  .object({
    pid: z.int(),
    process: z.string(),
    uuid: z.string(),
    gpu: z.string(),
    gi: z.string().optional(),
    ci: z.string().optional(),
    container: z.string().optional(),
    container_id: z.string().optional(),
    allocated_bytes: bytes,
    reserved_bytes: bytes,
    active_bytes: bytes,
    inactive_split_bytes: bytes,
    requested_bytes: bytes,
    retries_total: z.number().min(0).optional(),
    ooms_total: z.number().min(0).optional(),
    unreleasable_bytes: bytes.describe('What giving the cache back would not free.'),
    headroom_bytes: bytes.describe('The largest request that can still be met after giving the cache back.'),
    stranded_ratio: ratio.describe('Share of the memory that lay stranded after the cache was last given back.'),
    gaps,
  })
  .catchall(measure)
  .meta({ id: 'Allocator', description: "PyTorch's allocator in one process on one GPU or MIG instance, as its probe reports it." })
const count = z.number().min(0)
const byName = (what: string) => z.record(z.string(), z.number()).describe(what).optional()
export const server = z
  .object({
    name: z.string().describe('As configured, else of its container, else family and port.'),
    server: z.string().describe('The family: vllm, sglang, ollama, …'),
    container: z.string().optional(),
    pid: z.int().describe('Of the process that listens.').optional(),
    gpu: z.string().describe('Indexes of the GPUs that its processes hold, joined by commas.').optional(),
    version: z.string().optional(),
    model: z.string().optional(),
    quantization: z.string().optional(),
    context: z.string().describe('Tokens that one request may have.').optional(),
    state: z.string().describe('loading, ready, sleeping or dead; absent where it could not be asked.').optional(),
    url: z.string().optional(),
    requests_running: count.optional(),
    requests_waiting: count.optional(),
    kv_cache_usage_ratio: ratio,
    kv_cache_capacity_tokens: count.optional(),
    preemptions_total: count.optional(),
    prefix_cache_hit_ratio: ratio,
    offloaded_ratio: ratio,
    tokens_rate: byName('A second, by type: prompt, generation.'),
    tokens_total: byName('By type: prompt, generation.'),
    requests_total: byName('By outcome.'),
    time_to_first_token_seconds: byName('By quantile, over the last minute.'),
    inter_token_latency_seconds: byName('By quantile, over the last minute.'),
    memory_bytes: byName('By part: weights, kv_cache, graphs, other.'),
    gaps,
  })
  .catchall(measure)
  .meta({ id: 'Server', description: 'An inference server, as it says itself.' })
export const progress = z
  .object({
    job: z.string(),
    rank: z.string().describe('Where several ranks say their own.').optional(),
    phase: z.string().describe('downloading, loading, preparing, training, evaluating, saving or serving, by its newest lines.').optional(),
    step: count.optional(),
    steps: count.optional(),
    progress_ratio: ratio,
    epoch: z.number().optional(),
    step_rate: count.optional(),
    samples_rate: count.optional(),
    tokens_rate: count.optional(),
    loss: z.number().optional(),
    learning_rate: z.number().optional(),
    eta_seconds: count.optional(),
    eta_earliest_seconds: count.optional(),
    eta_latest_seconds: count.optional(),
    last_progress_timestamp_seconds: count,
    tokens_per_joule: byName('By the power limit in force, in watts.'),
    tokens_per_gpu_hour: byName('By the power limit in force, in watts.'),
  })
  .catchall(measure)
  .meta({ id: 'Progress', description: 'What a running job says of its progress in its log.' })
export const host = z.object({ hostname: z.string(), gaps }).catchall(measure).meta({ id: 'Host' })
export const gap = z
  .object({
    source: z.string(),
    t: z.int().describe('Unix ms.'),
    metric: z.string(),
    labels: z.record(z.string(), z.string()),
    reason: z.enum(GAP_REASONS),
    code: z.number().optional(),
    detail: z.string().optional(),
  })
  .meta({ id: 'CurrentGap' })
export const source = z.object({ source: z.string(), group: z.string(), t: z.int(), readings: z.int().min(0), gaps: z.int().min(0) }).meta({ id: 'Source' })

const points = z.array(z.number().nullable())
export const series = z
  .object({
    metric: z.string(),
    labels: z.record(z.string(), z.string()),
    step_ms: z.number().min(0),
    t: z.array(z.number()).describe('Starts of the steps, Unix ms.'),
    min: points,
    mean: points,
    max: points,
  })
  .meta({ id: 'Series', description: 'One series in equal steps; null where there was no reading.' })

export const logTail = z
  .object({
    lines: z.array(z.object({ t: z.int().describe('Unix ms.'), text: z.string() })).describe('Oldest first.'),
    next: z.int().min(0).describe('For `after` of the next question.'),
    missed: z.literal(true).describe('More lines came since `after` than are kept.').optional(),
  })
  .meta({ id: 'LogTail' })

export const health = z.object({ status: z.literal('ok') }).meta({ id: 'Health' })
export const readiness = z
  .object({ status: z.enum(['ready', 'not_ready']), reason: z.string().optional(), newest_sample_age_ms: z.number().optional() })
  .meta({ id: 'Readiness' })
export const error = z.object({ error: z.object({ code: z.string(), message: z.string() }) }).meta({ id: 'Error' })

const keys = z.array(z.string().describe('Such as log.level; spelled as in the file.'))
export const reloaded = z
  .object({
    changed: keys.describe('Keys that were set otherwise before, and are in effect now.'),
    needs_restart: keys.describe('Keys that are set otherwise than what is in force, which only the next start takes.'),
    warnings: z.array(z.string()),
  })
  .meta({ id: 'Reloaded' })
