// One simulated GPU: what it is, and how power, heat and clocks follow from how busy it is. Figures of an H100 80GB HBM3 (SXM, 700 W, no fan).
import { GIB, MIB } from './allocator.ts'
import { hexDigits, type Random } from './random.ts'

export const THROTTLE_REASONS = ['sw_power_cap', 'sw_thermal_slowdown', 'hw_thermal_slowdown', 'hw_power_brake_slowdown'] as const
export type ThrottleReason = (typeof THROTTLE_REASONS)[number]

export type MigInstance = { readonly gi: string; readonly ci: string; readonly profile: string; readonly totalBytes: number; readonly uuid: string }

export type Card = {
  readonly index: number
  readonly uuid: string
  readonly pciBusId: string
  readonly serial: string
  readonly totalBytes: number
  readonly reservedBytes: number
  /** Used by no process. */
  readonly overheadBytes: number
  readonly mig: readonly MigInstance[]
  readonly random: Random
  /** What readers of this GPU meet; undefined = it answers. */
  fault: 'lost' | 'hung' | undefined
  /** Degrees that the surroundings add: a scenario's blocked air. */
  extraHeat: number
  powerLimitWatts: number
  utilization: number
  memoryUtilization: number
  powerWatts: number
  temperature: number
  energyJoules: number
  smHertz: number
  pcieBytesPerSecond: number
  pcieReplays: number
  nvlinkBytesPerSecond: number
  nvlinkBytes: number
  readonly throttling: Set<ThrottleReason>
  readonly throttleSeconds: Map<ThrottleReason, number>
  /** `times`: Unix milliseconds of those of the last minutes, as warpwatch_gpu_xid_errors_recent counts them. */
  readonly xids: Map<number, { count: number; lastAt: number; times: readonly number[] }>
  /** Use at each step of the last minute by the wall clock, newest last: a faster story takes more steps. */
  readonly usedHistory: number[]
}

export const CARD_NAME = 'NVIDIA H100 80GB HBM3'
export const SM_MAX_HERTZ = 1_980e6
export const SM_IDLE_HERTZ = 345e6
export const MEMORY_HERTZ = 2_619e6
export const POWER_LIMIT_WATTS = 700
const IDLE_WATTS = 72
/** Above it the driver takes clocks back (slowdown temperature of the H100's GPU). */
const SLOWDOWN_CELSIUS = 85

/** As warpwatch_gpu_memory_used_peak_bytes says. */
const PEAK_SECONDS = 60

const BUSES = ['0a', '18', '3b', '5d', '84', '9b', 'ab', 'd1']

export function createCard(index: number, random: Random, mig: boolean): Card {
  const uuid = (prefix: string): string => `${prefix}-${[8, 4, 4, 4, 12].map((digits) => hexDigits(random, digits)).join('-')}`
  // From nine GPUs on (benches) the domain distinguishes them.
  const domain = Math.floor(index / BUSES.length)
    .toString(16)
    .padStart(8, '0')
  return {
    index,
    uuid: uuid('GPU'),
    pciBusId: `${domain}:${BUSES[index % BUSES.length] ?? '0a'}:00.0`.toUpperCase(),
    serial: `16521230${String(10_000 + Math.floor(random() * 80_000))}`,
    totalBytes: 81_559 * MIB,
    reservedBytes: 551 * MIB,
    overheadBytes: 4 * MIB,
    mig: mig
      ? [
          { gi: '1', ci: '0', profile: '3g.40gb', totalBytes: 40_448 * MIB, uuid: uuid('MIG') },
          { gi: '2', ci: '0', profile: '3g.40gb', totalBytes: 40_448 * MIB, uuid: uuid('MIG') },
        ]
      : [],
    random,
    fault: undefined,
    extraHeat: 0,
    powerLimitWatts: POWER_LIMIT_WATTS,
    utilization: 0,
    memoryUtilization: 0,
    powerWatts: IDLE_WATTS,
    temperature: 32,
    energyJoules: Math.floor(random() * 5e9),
    smHertz: SM_IDLE_HERTZ,
    pcieBytesPerSecond: 0,
    pcieReplays: 0,
    nvlinkBytesPerSecond: 0,
    nvlinkBytes: 0,
    throttling: new Set<ThrottleReason>(),
    throttleSeconds: new Map<ThrottleReason, number>(THROTTLE_REASONS.map((reason) => [reason, 0])),
    xids: new Map(),
    usedHistory: [],
  }
}

/** Of a kernel that only polls: a busy GPU that draws little and reads hardly any memory. */
const SPIN_SHARE = 0.08

/** What the processes of a card ask of it together. */
export type Load = {
  utilization: number
  pcieBytesPerSecond: number
  nvlinkBytesPerSecond: number
  /** Busy with nothing but waiting: kernels of collectives that poll. */
  spins?: boolean
}

export const capacityOf = (card: Card): number => card.totalBytes - card.reservedBytes

/** Moves a card on by one second of the story, in which `wallSeconds` pass for its counters. */
export function moveCard(card: Card, load: Load, usedBytes: number, wallSeconds: number): void {
  const { utilization: wanted, pcieBytesPerSecond } = load
  card.nvlinkBytesPerSecond = load.nvlinkBytesPerSecond
  card.nvlinkBytes += load.nvlinkBytesPerSecond * wallSeconds
  const busy = Math.min(1, Math.max(0, wanted))
  card.utilization = Math.round(busy * 100) / 100 // the driver reports whole percents
  const work = load.spins === true ? busy * SPIN_SHARE : busy
  card.memoryUtilization = Math.round(work * (0.5 + 0.2 * card.random()) * 100) / 100
  card.pcieBytesPerSecond = pcieBytesPerSecond * (0.9 + 0.2 * card.random())
  const hot = card.temperature >= SLOWDOWN_CELSIUS
  // What full clocks would draw; a busy card with much of its memory in use runs its memory harder.
  const wish = IDLE_WATTS + work * (520 + 90 * (usedBytes / (80 * GIB))) + 14 * (card.random() - 0.5)
  const capped = wish > card.powerLimitWatts
  const slow = hot ? 0.55 + 0.1 * card.random() : capped ? Math.max(0.4, card.powerLimitWatts / wish) : 1
  const drawn = Math.min(card.powerLimitWatts, IDLE_WATTS + (wish - IDLE_WATTS) * slow)
  card.powerWatts += (drawn - card.powerWatts) * 0.6
  const target = 30 + card.extraHeat + card.powerWatts * 0.058
  card.temperature += (target - card.temperature) * 0.06
  card.smHertz = busy < 0.02 ? SM_IDLE_HERTZ : Math.round((SM_MAX_HERTZ * slow) / 15e6) * 15e6
  card.energyJoules += card.powerWatts * wallSeconds
  setThrottle(card, 'sw_power_cap', capped && !hot, wallSeconds)
  setThrottle(card, 'sw_thermal_slowdown', hot, wallSeconds)
  card.usedHistory.push(usedBytes)
  if (card.usedHistory.length > PEAK_SECONDS / wallSeconds) card.usedHistory.shift()
}

function setThrottle(card: Card, reason: ThrottleReason, active: boolean, wallSeconds: number): void {
  if (active) {
    card.throttling.add(reason)
    card.throttleSeconds.set(reason, (card.throttleSeconds.get(reason) ?? 0) + wallSeconds)
  } else card.throttling.delete(reason)
}
