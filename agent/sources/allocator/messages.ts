// What a probe may say (probe/PROTOCOL.md, version 1), checked: from a process that need not be what it claims, in words that need not be true.
import * as z from 'zod/mini'
import type { AllocatorStats } from '../../model/event.ts'

/** No device and no host has as much; beyond it a figure is no figure. */
const MAX_BYTES = 16 * 2 ** 40
const MAX_DEVICES = 64
const MAX_POOLS = 2_048

const text = (max: number) => z.string().check(z.maxLength(max))
const whole = (max: number) => z.int().check(z.gte(0), z.lte(max))
const bytes = whole(MAX_BYTES)
const count = whole(Number.MAX_SAFE_INTEGER)
/** A number of a pid, of an inode, of clock ticks. */
const pid = z.int().check(z.gte(1), z.lte(2 ** 22))
const seconds = z.number().check(z.gte(0), z.lte(1e11))

const device = z.object({
  i: whole(MAX_DEVICES - 1),
  uuid: z.optional(z.nullable(text(80))),
  pci_bus_id: z.optional(z.nullable(text(40))),
  visible: z.optional(z.nullable(text(2_000))),
  total_bytes: z.optional(z.nullable(bytes)),
})
const hello = z.object({
  type: z.literal('hello'),
  v: z.literal(1),
  pid,
  pidns: count,
  start_ticks: count,
  torch: z.optional(z.nullable(text(80))),
  backend: z.optional(z.nullable(text(80))),
  expandable: z.optional(z.nullable(z.boolean())),
  visible: z.optional(z.nullable(text(2_000))),
  devices: z.array(device).check(z.maxLength(MAX_DEVICES)),
  env: z.optional(z.nullable(z.record(text(100), z.nullable(text(4_000))))),
})

export type WireStats = {
  readonly [K in ByteKey]?: readonly [current: number, peak: number]
} & { readonly [K in CountKey]?: number }
export type DeviceSample = { readonly stats: WireStats; readonly limit_bytes?: number | null }
export type Sample = { readonly type: 'sample'; readonly t: number; readonly devices: Readonly<Record<string, DeviceSample>> }

const BYTES = ['allocated_bytes', 'reserved_bytes', 'active_bytes', 'inactive_split_bytes', 'requested_bytes'] as const
const COUNTS = ['num_alloc_retries', 'num_ooms', 'num_oom_rejections'] as const
type ByteKey = (typeof BYTES)[number]
type CountKey = (typeof COUNTS)[number]

// Samples are nearly all that comes, so they are checked by hand: 2 µs each in place of 30 (measured, Node 24).
type Fields = Readonly<Record<string, unknown>>
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)
const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
const isBytes = (value: unknown): value is number => isCount(value) && value <= MAX_BYTES
const isPair = (value: unknown): boolean => Array.isArray(value) && value.length === 2 && isBytes(value[0]) && isBytes(value[1])

function isStats(value: unknown): value is WireStats {
  if (!isFields(value)) return false
  for (const name of BYTES) if (value[name] !== undefined && !isPair(value[name])) return false
  for (const name of COUNTS) if (value[name] !== undefined && !isCount(value[name])) return false
  return true
}
function isDeviceSample(value: unknown): value is DeviceSample {
  if (!isFields(value) || !isStats(value['stats'])) return false
  const limit = value['limit_bytes']
  return limit === undefined || limit === null || isBytes(limit)
}
const isSeconds = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= 1e11
function isDevices(value: unknown): value is Sample['devices'] {
  if (!isFields(value)) return false
  let devices = 0
  for (const index in value)
    if (++devices > MAX_DEVICES || !/^\d{1,2}$/.test(index) || Number(index) >= MAX_DEVICES || !isDeviceSample(value[index])) return false
  return true
}
function isSample(value: Fields): value is Fields & Sample {
  return value['type'] === 'sample' && isSeconds(value['t']) && isDevices(value['devices'])
}

const stats = z.custom<WireStats>(isStats)
const pool = z.object({
  pool: z.tuple([count, count]),
  stream: z.int(),
  kind: z.enum(['small', 'large']),
  expandable: z.boolean(),
  segments: count,
  total_bytes: bytes,
  active_bytes: bytes,
  pending_bytes: bytes,
  free_bytes: bytes,
  free_blocks: count,
  largest_free_bytes: bytes,
  free_segments: count,
  fitting_bytes: bytes,
})
const pools = z.array(pool).check(z.maxLength(MAX_POOLS))
/** An OOM is not lost over a pool that a later PyTorch describes otherwise. */
const poolsOrNone = z.pipe(
  z.unknown(),
  z.transform((found) => {
    const parsed = pools.safeParse(found)
    return parsed.success ? parsed.data : undefined
  }),
)
const oom = z.object({
  type: z.literal('oom'),
  n: z.int().check(z.gte(1)),
  t: seconds,
  device: whole(MAX_DEVICES - 1),
  request_bytes: bytes,
  limit_bytes: z.optional(z.nullable(bytes)),
  free_bytes: z.optional(z.nullable(bytes)),
  stats: z.optional(stats),
  pools: z.optional(poolsOrNone),
})
const exception = z.object({ type: z.literal('exc'), n: z.int().check(z.gte(1)), t: seconds, name: text(200), text: text(16_384) })
const bye = z.object({ type: z.literal('bye') })

export type Hello = z.infer<typeof hello>
export type HelloDevice = Hello['devices'][number]
export type Oom = z.infer<typeof oom>
export type ProbeException = z.infer<typeof exception>
export type Message = Hello | Sample | Oom | ProbeException | z.infer<typeof bye>

export type Parsed = Message | { readonly type: 'refused'; readonly why: 'bad_json' | 'bad_message' }

const SCHEMAS: ReadonlyMap<string, z.ZodMiniType<Message>> = new Map<string, z.ZodMiniType<Message>>([
  ['hello', hello],
  ['oom', oom],
  ['exc', exception],
  ['bye', bye],
])

export function parseMessage(line: string): Parsed {
  let found: unknown
  try {
    found = JSON.parse(line)
  } catch {
    return { type: 'refused', why: 'bad_json' } // counted; the text is from another program and not kept
  }
  if (!isFields(found)) return { type: 'refused', why: 'bad_message' }
  const { type } = found
  if (type === 'sample') return isSample(found) ? found : { type: 'refused', why: 'bad_message' }
  const parsed = SCHEMAS.get(typeof type === 'string' ? type : '')?.safeParse(found)
  return parsed?.success === true ? parsed.data : { type: 'refused', why: 'bad_message' }
}

/** All that a backend other than the caching one fills; the rest of its statistics is 0 without meaning. */
const FILLED_BY_OTHERS: ReadonlySet<string> = new Set(['allocated_bytes', 'reserved_bytes', 'active_bytes'])

/** Current figures; a key that is not there stays absent. */
export function statsOf(wire: WireStats | undefined, native: boolean): AllocatorStats {
  const found: { -readonly [K in keyof AllocatorStats]: AllocatorStats[K] } = {}
  if (wire === undefined) return found
  for (const name of BYTES) {
    const value = wire[name]
    if (value !== undefined && (native || FILLED_BY_OTHERS.has(name))) found[name] = value[0]
  }
  if (native) {
    for (const name of COUNTS) {
      const value = wire[name]
      if (value !== undefined) found[name] = value
    }
  }
  return found
}

export function peaksOf({ allocated_bytes: allocated, reserved_bytes: reserved }: WireStats): Pick<AllocatorStats, 'allocated_bytes' | 'reserved_bytes'> {
  return { ...(allocated === undefined ? {} : { allocated_bytes: allocated[1] }), ...(reserved === undefined ? {} : { reserved_bytes: reserved[1] }) }
}
