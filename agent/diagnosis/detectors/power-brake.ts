// The machine's power supply pulls the emergency brake: it halves the clocks of a GPU, or worse.
import { gpuThrottleActive } from '../../metrics/gpu-clocks.ts'
import { gpuPowerLimitWatts, gpuPowerWatts } from '../../metrics/gpu-power.ts'
import type { TypedFinding } from '../../model/finding.ts'
import { defineDetector } from './definition.ts'
import { createGpuRows, gpuText, metricsOf } from './parts/gpu-rows.ts'
import { createHold } from './parts/hold.ts'
import { createLoad, LOAD_COLUMNS } from './parts/load.ts'
import { createPerGpu, createFindingDeduper } from './parts/per-gpu.ts'
import { createSpeeds, SPEED_COLUMNS } from './parts/speed.ts'
import { concerns, usersOf } from './parts/users.ts'

const COLUMNS = {
  ...LOAD_COLUMNS,
  ...SPEED_COLUMNS,
  brake: { metric: gpuThrottleActive.name, labels: { reason: 'hw_power_brake_slowdown' } },
  power: { metric: gpuPowerWatts.name },
  limit: { metric: gpuPowerLimitWatts.name },
}

export const powerBrake = defineDetector({
  id: 'power-brake',
  kinds: ['power_brake'],
  title: 'The power supply brakes a GPU',
  severity: 'critical',
  watches: metricsOf(COLUMNS),
  everyMs: 1_000,
  options: {
    for_seconds: { default: 1, min: 0, max: 3_600, help: 'For how long the brake must be on.' },
    clear_seconds: { default: 10, min: 0, max: 3_600, help: 'For how long it must be off, until it is over.' },
    load_ratio: { default: 0.2, min: 0.01, max: 1, help: 'Utilization from which on the GPU works; on an idle one the brake is a warning.' },
  },
  // nvmlClocksEventReasonHwPowerBrakeSlowdown: "External Power Brake Assertion is triggered (e.g. by the system power supply)"; clocks fall by a factor of 2 or more.
  expression: { promql: `${gpuThrottleActive.name}{reason="hw_power_brake_slowdown"} == 1`, for: '1s' },
  create(options, { present, tracks }) {
    const rows = createGpuRows(present, COLUMNS, 'brake')
    const load = createLoad(options.load_ratio)
    const speeds = createSpeeds()
    const states = createPerGpu((uuid) => ({
      hold: createHold({ forMs: options.for_seconds * 1_000, clearMs: options.clear_seconds * 1_000 }),
      deduper: createFindingDeduper({ kind: 'power_brake', key: uuid, about: { uuid } }),
      readT: undefined as number | undefined,
    }))
    return {
      judge(t) {
        const found: TypedFinding[] = []
        for (const row of rows.read().values()) {
          const { now, uuid, index } = row
          const state = states.of(uuid)
          const loaded = load.of(t, row)
          // What a lost scrape leaves standing is no second look.
          const again = row.readT === state.readT
          state.readT = row.readT
          const held = state.hold.see(t, now.brake === undefined || again ? undefined : now.brake === 1)
          if (now.brake === 0 && loaded === true) speeds.note(row)
          if (held === 'healthy') state.deduper.healthy(found)
          if (held !== 'faulty') continue
          const users = usersOf(tracks, uuid)
          const cost = loaded === false ? { facts: {}, text: ' Nothing works on it now.' } : speeds.cost(row)
          const watts = now.power === undefined ? '' : ` It draws ${Math.round(now.power)} W${now.limit === undefined ? '' : ` of ${Math.round(now.limit)} W`}.`
          state.deduper.faulty(found, {
            kind: 'power_brake',
            key: uuid,
            about: { uuid },
            state: 'faulty',
            severity: loaded === false ? 'warning' : 'critical',
            title: `GPU ${index}: the power supply brakes it`,
            verdict: `The machine pulls the power brake of ${gpuText(row)} (hardware power brake slowdown): its supply cannot give what is asked, or lost a unit.${cost.text}${watts}${concerns(users)}`,
            facts: {
              active_reasons: ['hw_power_brake_slowdown'],
              ...(now.power === undefined ? {} : { power_watts: now.power }),
              ...(now.limit === undefined ? {} : { power_limit_watts: now.limit }),
              ...cost.facts,
              ...(users.length === 0 ? {} : { affected: users }),
            },
            remedies: [
              { text: 'See what the machine says of its power supplies.', command: 'sudo ipmitool sdr type "Power Supply"; sudo ipmitool sel elist | tail' },
              { text: "Check the card's power cables, and the power cap of the machine or the rack." },
              { text: 'Until then lower the power limit of the GPUs, so that the brake is released.', command: `sudo nvidia-smi -i ${index} -pl <WATTS>` },
            ],
          })
        }
        return found
      },
    }
  },
})
