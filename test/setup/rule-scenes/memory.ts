// Memory that leaks towards its end, flushes again and again, is held by nobody, by someone who does nothing, or by a full instance of a card with room.
import { allocatorRetryStorm, idleGpuHeld, memoryExhaustion, migFull, unattributedMemory } from '../../../agent/diagnosis/detectors/index.ts'
import { eventsOf, GIB, type Probe } from '../../unit/detectors/memory-scene.ts'
import type { Event } from '../../../agent/model/event.ts'
import { CARD, scrapeOf, within, type RuleScene } from './scene.ts'

const MINUTE = 60
const PID = { ...CARD, pid: '4242', process: 'python3', container: 'trainer', container_id: '747261696e65' }

/** With what the allocator's source makes of the sample. */
function probed(second: number, probe: Probe): readonly Event[] {
  return [
    ...eventsOf(second, { processes: [{ pid: 4242, container: 'trainer', holds: probe.reserved + 0.5, probe }] }),
    scrapeOf(second, 'allocator', { allocator_retries_total: probe.retries ?? 0 }, { labels: PID }),
  ]
}
const RATE = 1 / 64
/** Leaks from minute ten on, until it is ended; then another starts over. */
function leaking(second: number): Probe {
  const leak = Math.max(0, Math.min(second, 35 * MINUTE) - 600) * RATE
  return { active: (second % 2 === 0 ? 20 : 40) + leak, reserved: 42 + leak }
}
const swinging = (second: number): Probe => ({ active: 20 + 20 * Math.abs(Math.sin(second / 90)), reserved: 42 })
const storm = (second: number, from: number, to: number, every: number): Probe => ({
  active: 40,
  reserved: 70,
  retries: second < from ? 0 : 1 + Math.floor((Math.min(second, to) - from) / every),
})
const card = (second: number, utilization: number, heldGib: number, unattributedGib: number): Event =>
  scrapeOf(
    second,
    'gpu',
    {
      gpu_utilization_ratio: utilization,
      gpu_memory_total_bytes: 80 * GIB,
      gpu_memory_used_bytes: (heldGib + unattributedGib) * GIB,
      gpu_memory_free_bytes: (80 - heldGib - unattributedGib) * GIB,
      gpu_memory_unattributed_bytes: unattributedGib * GIB,
      'process_gpu_memory_bytes type=C': heldGib === 0 ? undefined : heldGib * GIB,
    },
    { labels: PID },
  )
/** Two instances of 40 GiB; a process in the first flushes. */
function instances(second: number, used: number, flushes: number): readonly Event[] {
  const memory = (gi: string, taken: number) => ({
    [`gpu_memory_total_bytes gi=${gi}`]: 40 * GIB,
    [`gpu_memory_used_bytes gi=${gi}`]: taken * GIB,
    [`gpu_memory_free_bytes gi=${gi}`]: (40 - taken) * GIB,
  })
  return [
    scrapeOf(second, 'gpu', { gpu_memory_total_bytes: 80 * GIB, ...memory('1', used), ...memory('2', 5) }, { labels: CARD }),
    scrapeOf(second, 'allocator', { 'allocator_retries_total gi=1': flushes }, { labels: PID }),
  ]
}

export const memoryScenes: readonly RuleScene[] = [
  {
    name: 'memory that runs out',
    detector: memoryExhaustion,
    fires: true,
    seconds: 90 * MINUTE,
    by: 'uuid',
    tell: (second) => probed(second, leaking(second)),
  },
  {
    name: 'memory that swings',
    detector: memoryExhaustion,
    fires: false,
    seconds: 60 * MINUTE,
    by: 'uuid',
    tell: (second) => probed(second, swinging(second)),
  },
  {
    name: 'flush after flush',
    detector: allocatorRetryStorm,
    fires: true,
    seconds: 50 * MINUTE,
    by: 'uuid',
    tell: (second) => probed(second, storm(second, 600, 1_200, 45)),
  },
  {
    name: 'one burst of flushes',
    detector: allocatorRetryStorm,
    fires: false,
    seconds: 30 * MINUTE,
    by: 'uuid',
    tell: (second) => probed(second, storm(second, 600, 610, 2)),
  },
  {
    name: 'memory without a holder',
    detector: unattributedMemory,
    fires: true,
    seconds: 30 * MINUTE,
    by: 'uuid',
    tell: (second) => [card(second, 0, 0, within(second, 300, 1_200) ? 12 : 0.3)],
  },
  {
    name: 'memory without a holder for a while',
    detector: unattributedMemory,
    fires: false,
    seconds: 20 * MINUTE,
    by: 'uuid',
    tell: (second) => [card(second, 0, 0, within(second, 300, 480) ? 12 : 0.3)],
  },
  {
    name: 'memory that is held without work',
    detector: idleGpuHeld,
    fires: true,
    seconds: 60 * MINUTE,
    by: 'uuid',
    tell: (second) => [card(second, within(second, 300, 2_700) ? 0 : 0.8, 20, 0)],
  },
  {
    name: 'memory that is held between two works',
    detector: idleGpuHeld,
    fires: false,
    seconds: 60 * MINUTE,
    by: 'uuid',
    tell: (second) => [card(second, second % 1_500 < 60 ? 0.8 : 0, 20, 0)],
  },
  {
    name: 'an instance that is full',
    detector: migFull,
    fires: true,
    seconds: 50 * MINUTE,
    by: 'uuid',
    tell: (second) => instances(second, 39.5, second < 600 ? 0 : 1 + Math.floor((Math.min(second, 900) - 600) / 60)),
  },
  {
    name: 'an instance that is full and content',
    detector: migFull,
    fires: false,
    seconds: 30 * MINUTE,
    by: 'uuid',
    tell: (second) => instances(second, 39.5, 2),
  },
]
