// A GPU that heat, a power cap or its own hardware holds back while it works, and memory that is too hot; with the speed that it costs.
import { gpuClockHertz, gpuClockMaxHertz, gpuThrottleActive } from '../../metrics/gpu-clocks.ts'
import { gpuPowerLimitDefaultWatts, gpuPowerLimitWatts, gpuPowerWatts } from '../../metrics/gpu-power.ts'
import { gpuMemoryTemperatureCelsius, gpuTemperatureCelsius, gpuTemperatureThresholdCelsius } from '../../metrics/gpu-temperature.ts'
import type { Facts } from '../../model/facts.ts'
import type { Remedy } from '../../model/fault.ts'
import type { TypedFinding } from '../../model/finding.ts'
import { defineDetector } from './definition.ts'
import { createGpuRows, gpuText, metricsOf, type GpuRow } from './parts/gpu-rows.ts'
import { createHold } from './parts/hold.ts'
import { createLoad, LOAD_COLUMNS, loadPromql } from './parts/load.ts'
import { createPerGpu, createFindingDeduper } from './parts/per-gpu.ts'
import { createSpeeds, SPEED_COLUMNS } from './parts/speed.ts'
import { concerns, usersOf } from './parts/users.ts'
import { ORDER, REASONS, type Reason } from './throttling/reasons.ts'

const reason = (name: string) => ({ metric: gpuThrottleActive.name, labels: { reason: name } })
const threshold = (name: string) => ({ metric: gpuTemperatureThresholdCelsius.name, labels: { threshold: name } })
const COLUMNS = {
  ...LOAD_COLUMNS,
  ...SPEED_COLUMNS,
  swThermal: reason('sw_thermal_slowdown'),
  hwThermal: reason('hw_thermal_slowdown'),
  hwSlowdown: reason('hw_slowdown'),
  powerBrake: reason('hw_power_brake_slowdown'),
  powerCap: reason('sw_power_cap'),
  temperature: { metric: gpuTemperatureCelsius.name },
  slowdownAt: threshold('slowdown'),
  memory: { metric: gpuMemoryTemperatureCelsius.name },
  memoryMax: threshold('memory_max'),
  power: { metric: gpuPowerWatts.name },
  limit: { metric: gpuPowerLimitWatts.name },
  limitDefault: { metric: gpuPowerLimitDefaultWatts.name },
}
type Row = GpuRow<keyof typeof COLUMNS>

const COOLING: readonly Remedy[] = [
  { text: 'See what slows it down, and from which temperatures on.', command: 'nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER -i INDEX' },
  { text: 'Look at fans, dust, blanking plates and the air in front of the machine.', command: 'sudo ipmitool sdr | grep -iE "fan|temp"' },
  { text: 'Until it is cooled better, lower its power limit: that costs less speed than the slowdown.', command: 'sudo nvidia-smi -i INDEX -pl DRAW' },
]
const POWER: readonly Remedy[] = [
  { text: 'Compare the limit in force with the default.', command: 'nvidia-smi -q -d POWER -i INDEX' },
  { text: 'Set it back if it was not lowered on purpose.', command: 'sudo nvidia-smi -i INDEX -pl DEFAULT' },
]
/** Slowed down it draws about what the cooling can carry away: a limit there keeps it just below the threshold. */
const lowered = ({ power, limit }: Row['now']): string => {
  const watts = power === undefined ? 0 : Math.floor(power / 10) * 10
  return watts >= LOWEST_LIMIT_WATTS && (limit === undefined || watts < limit) ? String(watts) : '<WATTS>'
}
/** Less than any data-centre card takes as its limit (70 W of an L4 and T4 is fixed or near it). */
const LOWEST_LIMIT_WATTS = 100
const filled = (remedies: readonly Remedy[], { index, now }: Row): readonly Remedy[] =>
  remedies.map(({ text, command }) => ({
    text,
    ...(command === undefined
      ? {}
      : {
          command: command
            .replace('INDEX', String(index))
            .replace('DEFAULT', now.limitDefault === undefined ? '<WATTS>' : String(now.limitDefault))
            .replace('DRAW', lowered(now)),
        }),
  }))

/** Without a threshold from NVML: the memory of A100 and H100 may be 95 °C hot ("Memory Max Operating Temp" of nvidia-smi -q). */
const MEMORY_MAX_CELSIUS = 95

const rounded = (value: number): string => String(Math.round(value * 10) / 10)

function factsOf({ now }: Row, active: readonly Reason[], memoryLimit: number, affected: readonly string[]): Facts {
  return {
    active_reasons: active,
    ...(now.temperature === undefined ? {} : { temperature_celsius: now.temperature }),
    ...(now.slowdownAt === undefined ? {} : { temperature_limit_celsius: now.slowdownAt }),
    ...(now.memory === undefined ? {} : { memory_temperature_celsius: now.memory, memory_temperature_limit_celsius: memoryLimit }),
    ...(now.power === undefined ? {} : { power_watts: now.power }),
    ...(now.limit === undefined ? {} : { power_limit_watts: now.limit }),
    ...(now.limitDefault === undefined ? {} : { power_limit_default_watts: now.limitDefault }),
    ...(affected.length === 0 ? {} : { affected }),
  }
}
/** NVML's slowdown threshold is where the hardware steps in; the driver does some degrees sooner. */
const NEAR_CELSIUS = 5
/** The figure that a title needs: how hot what is too hot is. */
function heatText({ now }: Row, active: readonly Reason[]): string {
  const [first] = active
  if (first === undefined || !REASONS[first].heat) return ''
  const { temperature, slowdownAt } = now
  const isChipHot = temperature !== undefined && (slowdownAt === undefined || temperature >= slowdownAt - NEAR_CELSIUS)
  const isMemory = active.includes('memory_temperature') && (first === 'memory_temperature' || !isChipHot)
  const celsius = isMemory ? now.memory : temperature
  if (celsius === undefined || first === 'hw_slowdown') return ''
  return `${isMemory && first !== 'memory_temperature' ? ', memory at' : ' at'} ${Math.round(celsius)} °C`
}
/** The figures that belong to the reasons. */
function figures({ now }: Row, active: readonly Reason[], memoryLimit: number): string {
  const parts: string[] = []
  const hot = active.some((name) => REASONS[name].heat && name !== 'memory_temperature')
  if (hot && now.temperature !== undefined)
    parts.push(`the GPU is ${rounded(now.temperature)} °C hot${now.slowdownAt === undefined ? '' : ` (its hardware slows it down at ${now.slowdownAt} °C)`}`)
  if (active.includes('memory_temperature') && now.memory !== undefined) parts.push(`its memory ${rounded(now.memory)} °C (its limit is ${memoryLimit} °C)`)
  if (active.includes('sw_power_cap') && now.limit !== undefined) {
    const lowered = now.limitDefault !== undefined && now.limit < now.limitDefault ? `, the default ${rounded(now.limitDefault)} W` : ''
    parts.push(`its limit is ${rounded(now.limit)} W${lowered}`)
  }
  return parts.length === 0 ? '' : `; ${parts.join(', ')}`
}

/** The limit in force is lower than the default: an administrator or the machine's management lowered it. */
const LOWERED = 0.95

export const throttling = defineDetector({
  id: 'throttling',
  kinds: ['throttling'],
  title: 'A GPU is slowed down by heat, power or its hardware',
  severity: 'warning',
  watches: metricsOf(COLUMNS),
  everyMs: 1_000,
  options: {
    // NVML's header of nvmlClocksEventReasonHwSlowdown: it "may be also reported during PState or clock change"; two readings running are none of that.
    for_seconds: { default: 1, min: 0, max: 3_600, help: 'For how long it must be held back.' },
    // A hot card goes up and down around its limit.
    clear_seconds: { default: 30, min: 0, max: 3_600, help: 'For how long it must work without being held back, until it is over.' },
    rest_seconds: { default: 60, min: 0, max: 86_400, help: 'A card that rests cools: after so long it is over too, sooner it says nothing.' },
    load_ratio: { default: 0.2, min: 0.01, max: 1, help: 'Utilization from which on the GPU works; an idle one is not held back.' },
    // Under the default limit a power cap is usual (nvidia-smi shows it on every busy card). No card's base clock, which NVIDIA guarantees at its power,
    // is below 0.36 of the highest: T4 585 of 1590 MHz, L4 795 of 2040 MHz, A100 PCIe 765 of 1410 MHz (NVIDIA's data sheets).
    power_clock_ratio: { default: 0.35, min: 0, max: 1, help: 'SM clock below this share of the highest: a power cap that is not usual.' },
    lowered_clock_ratio: { default: 0.6, min: 0, max: 1, help: 'The same while the power limit is lower than the default.' },
    power_seconds: { default: 10, min: 0, max: 3_600, help: 'For how long the power cap must hold the clock down so far.' },
    memory_celsius: { default: MEMORY_MAX_CELSIUS, min: 0, max: 200, help: 'Highest memory temperature where the driver reports no limit.' },
  },
  expression: {
    promql: `((max by (gpu, uuid) (${gpuThrottleActive.name}{reason=~"sw_thermal_slowdown|hw_thermal_slowdown"}) == 1
  or max by (gpu, uuid) (${gpuThrottleActive.name}{reason="hw_slowdown"} == 1 unless on (gpu, uuid) ${gpuThrottleActive.name}{reason="hw_power_brake_slowdown"} == 1)
  or max by (gpu, uuid) (${gpuThrottleActive.name}{reason="sw_power_cap"} == 1
    and on (gpu, uuid) (${gpuClockHertz.name}{domain="sm"} / on (gpu, uuid) ${gpuClockMaxHertz.name}{domain="sm"} < 0.35
      or (${gpuClockHertz.name}{domain="sm"} / on (gpu, uuid) ${gpuClockMaxHertz.name}{domain="sm"} < 0.6
        and on (gpu, uuid) ${gpuPowerLimitWatts.name} / on (gpu, uuid) ${gpuPowerLimitDefaultWatts.name} < 0.95))))
  and on (gpu, uuid) ${loadPromql(0.2)})
or max by (gpu, uuid) (${gpuMemoryTemperatureCelsius.name} >= on (gpu, uuid) ${gpuTemperatureThresholdCelsius.name}{threshold="memory_max"})
or max by (gpu, uuid) (${gpuMemoryTemperatureCelsius.name} >= ${MEMORY_MAX_CELSIUS} unless on (gpu, uuid) ${gpuTemperatureThresholdCelsius.name}{threshold="memory_max"})`,
    for: '1s',
  },
  create(options, { present, tracks }) {
    const rows = createGpuRows(present, COLUMNS, 'hwSlowdown')
    const load = createLoad(options.load_ratio)
    const speeds = createSpeeds()
    const states = createPerGpu((uuid) => ({
      hold: createHold({ forMs: options.for_seconds * 1_000, clearMs: options.clear_seconds * 1_000 }),
      capped: createHold({ forMs: options.power_seconds * 1_000, clearMs: 0 }),
      memoryRead: false,
      readT: undefined as number | undefined,
      restsSince: undefined as number | undefined,
      /** When each reason last held: around a limit it comes and goes, and the incident is still about it. */
      heldAt: new Map<Reason, number>(),
      deduper: createFindingDeduper({ kind: 'throttling', key: uuid, about: { uuid } }),
    }))

    /** Whether the power cap costs more than is usual under load. */
    const capHurts = ({ now: { powerCap, clock, clockMax, limit, limitDefault } }: Row): boolean | undefined => {
      if (powerCap === undefined) return undefined
      if (powerCap !== 1) return false
      if (clock === undefined || clockMax === undefined || clockMax <= 0) return undefined
      const lowered = limit !== undefined && limitDefault !== undefined && limit < LOWERED * limitDefault
      return clock / clockMax < (lowered ? options.lowered_clock_ratio : options.power_clock_ratio)
    }
    const holding = ({ now }: Row, loaded: boolean | undefined, capped: boolean, hot: boolean): readonly Reason[] => {
      const works = loaded === true
      const holds: Readonly<Record<Reason, boolean>> = {
        hw_thermal_slowdown: works && now.hwThermal === 1,
        sw_thermal_slowdown: works && now.swThermal === 1,
        hw_slowdown: works && now.hwSlowdown === 1 && now.hwThermal !== 1 && now.powerBrake !== 1,
        memory_temperature: hot,
        sw_power_cap: capped,
      }
      return ORDER.filter((name) => holds[name])
    }
    const faultyFinding = (row: Row, active: readonly Reason[], held: readonly Reason[], memoryLimit: number): TypedFinding => {
      const { index, uuid } = row
      const first = active[0] ?? 'sw_thermal_slowdown'
      const { title, severity } = REASONS[first]
      const text = REASONS[first][held.includes(first) ? 'text' : 'lately']
      // Beside another reason a memory that has cooled again is no news.
      const reported = active.filter((name) => name !== 'memory_temperature' || name === first || held.includes(name))
      const users = usersOf(tracks, uuid)
      // Memory that is hot costs nothing yet.
      const slower = active.some((name) => name !== 'memory_temperature')
      const cost = slower ? speeds.cost(row) : { facts: {}, text: '' }
      const heat = active.some((name) => REASONS[name].heat)
      const remedies = [...(heat ? COOLING : []), ...(active.includes('sw_power_cap') ? POWER : [])]
      return {
        kind: 'throttling',
        key: uuid,
        about: { uuid },
        state: 'faulty',
        severity: active.some((name) => REASONS[name].severity === 'critical') ? 'critical' : severity,
        title: `GPU ${index}: ${title}${heatText(row, reported)}`,
        verdict: `${gpuText(row)} ${slower ? 'is slower than it could be while it works' : 'will be slowed down, and memory errors become likelier'}: ${text}${figures(row, reported, memoryLimit)}.${cost.text}${concerns(users)}`,
        facts: { ...factsOf(row, active, memoryLimit, users), ...cost.facts },
        remedies: filled(remedies, row),
      }
    }

    return {
      judge(t) {
        const found: TypedFinding[] = []
        for (const row of rows.read().values()) {
          const { now } = row
          const state = states.of(row.uuid)
          const loaded = load.of(t, row)
          const reasonsRead = now.swThermal !== undefined || now.hwSlowdown !== undefined
          const slowed = now.swThermal === 1 || now.hwThermal === 1 || (now.hwSlowdown === 1 && now.powerBrake !== 1)
          const capped = state.capped.see(t, loaded === true ? capHurts(row) : loaded === undefined ? undefined : false) === 'faulty'
          const memoryLimit = now.memoryMax ?? options.memory_celsius
          const hot = now.memory !== undefined && now.memory >= memoryLimit
          state.memoryRead ||= now.memory !== undefined
          if (loaded !== false || slowed) state.restsSince = undefined
          else state.restsSince ??= t
          const resting = state.restsSince !== undefined && t - state.restsSince < options.rest_seconds * 1_000
          const unread = !reasonsRead || (state.memoryRead && now.memory === undefined)
          // Bits that stay while nothing runs say nothing of the speed, and not that it has cooled either.
          // What a lost scrape leaves standing is the same look, not a second one: a clock change would last.
          const again = row.readT !== undefined && row.readT === state.readT
          state.readT = row.readT
          const faulty = again ? undefined : (slowed && loaded === true) || capped || hot ? true : slowed || unread || resting ? undefined : false
          if (faulty === false && loaded === true && now.powerBrake !== 1) speeds.note(row)
          const reasons = holding(row, loaded, capped, hot)
          for (const name of reasons) state.heldAt.set(name, t)
          const active = ORDER.filter((name) => Math.abs(t - (state.heldAt.get(name) ?? Number.NEGATIVE_INFINITY)) <= options.clear_seconds * 1_000)
          const held = state.hold.see(t, faulty)
          if (held === 'faulty') state.deduper.faulty(found, faultyFinding(row, active, reasons, memoryLimit))
          else if (held === 'healthy') state.deduper.healthy(found, loaded === false ? 'nothing works on it any more' : undefined)
        }
        return found
      },
    }
  },
})
