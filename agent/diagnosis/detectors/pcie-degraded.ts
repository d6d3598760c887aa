// A PCIe link that runs below what card and slot together can do while the card works, and one that has to send packets again.
import { gpuPerformanceState } from '../../metrics/gpu-identity.ts'
import { gpuPcieLinkGeneration, gpuPcieLinkGenerationMax, gpuPcieLinkWidth, gpuPcieLinkWidthMax, gpuPcieReplayTotal } from '../../metrics/gpu-links.ts'
import type { Facts } from '../../model/facts.ts'
import type { TypedFinding } from '../../model/finding.ts'
import { defineDetector } from './definition.ts'
import { createGpuRows, gpuText, metricsOf, type GpuRow } from './parts/gpu-rows.ts'
import { createHold } from './parts/hold.ts'
import { createLoad, LOAD_COLUMNS, loadPromql } from './parts/load.ts'
import { createPerGpu, createFindingDeduper } from './parts/per-gpu.ts'
import { createRise } from './parts/rise.ts'
import { concerns, usersOf } from './parts/users.ts'

const COLUMNS = {
  ...LOAD_COLUMNS,
  generation: { metric: gpuPcieLinkGeneration.name },
  width: { metric: gpuPcieLinkWidth.name },
  /** nvmlDeviceGetMaxPcieLinkGeneration and …Width: "possible with this device and system": a x16 card in a x8 slot has 8. */
  generationMax: { metric: gpuPcieLinkGenerationMax.name },
  widthMax: { metric: gpuPcieLinkWidthMax.name },
  replays: { metric: gpuPcieReplayTotal.name },
  state: { metric: gpuPerformanceState.name },
}
type Row = GpuRow<keyof typeof COLUMNS>

/** Bytes per second and lane by generation, after the line code (PCI-SIG: 2.5, 5, 8, 16, 32 and 64 GT/s); 0 is no generation. */
const LANE_GB = [0, 0.25, 0.5, 0.985, 1.969, 3.938, 7.563] as const
const bandwidth = (generation: number, width: number): number | undefined => {
  const lane = LANE_GB[generation]
  return lane === undefined || lane === 0 ? undefined : lane * width
}
/** P0 to P2 are the states of work (P2 is that of CUDA on GeForce). A desktop plays videos in P5 or P8, with a slow link, as it should. */
const SLOWEST_WORKING_STATE = 2
const WINDOW_MS = 60_000
/** Between two requests the generation falls: a reading counts that was taken after so many busy looks, and it takes so many such readings. */
const BUSY_LOOKS = 2
const PROOFS = 2

export const pcieDegraded = defineDetector({
  id: 'pcie-degraded',
  kinds: ['pcie_degraded'],
  title: 'A PCIe link runs below what it can do',
  severity: 'warning',
  watches: metricsOf(COLUMNS),
  everyMs: 1_000,
  options: {
    // The link is read each 10 s: more than that, so that a reading from before the load began is no proof.
    for_seconds: { default: 12, min: 0, max: 3_600, help: 'For how long the link must be slow while the GPU works.' },
    clear_seconds: { default: 5, min: 0, max: 3_600, help: 'For how long it must be as it should, until it is over.' },
    load_ratio: { default: 0.2, min: 0.01, max: 1, help: 'Utilization from which on the GPU works; links of idle ones slow down by themselves.' },
    // "8 replays per minute is the maximum recommended by RM": DCGM_LIMIT_MAX_PCIREPLAY_RATE, dcgm_gpu_hardware_limits.h of DCGM.
    replays_per_minute: { default: 8, min: 0, max: 1_000_000, help: 'More packets sent again within a minute than this.' },
  },
  expression: {
    promql: `((${gpuPcieLinkWidth.name} < on (gpu, uuid) ${gpuPcieLinkWidthMax.name}
  or ${gpuPcieLinkGeneration.name} < on (gpu, uuid) ${gpuPcieLinkGenerationMax.name})
  unless on (gpu, uuid) ${gpuPerformanceState.name} > ${SLOWEST_WORKING_STATE}
  and on (gpu, uuid) ${loadPromql(0.2)})
or max by (gpu, uuid) (increase(${gpuPcieReplayTotal.name}[1m]) > 8)`,
    for: '12s',
  },
  create(options, { present, tracks }) {
    const rows = createGpuRows(present, COLUMNS, 'generation')
    const load = createLoad(options.load_ratio)
    const busy = createLoad(options.load_ratio, 0)
    const states = createPerGpu((uuid) => ({
      hold: createHold({ forMs: options.for_seconds * 1_000, clearMs: options.clear_seconds * 1_000 }),
      rise: createRise(WINDOW_MS),
      busyLooks: 0,
      readT: undefined as number | undefined,
      atWork: false,
      proofs: 0,
      deduper: createFindingDeduper({ kind: 'pcie_degraded', key: uuid, about: { uuid } }),
    }))
    /** Undefined while the card does not work, or something cannot be read: then it cannot be determined. */
    const slow = (t: number, row: Row, state: ReturnType<typeof states.of>): boolean | undefined => {
      const { generation, width, generationMax, widthMax, state: performance } = row.now
      state.busyLooks = busy.of(t, row) === true ? state.busyLooks + 1 : 0
      const works = load.of(t, row) === true && (performance ?? 0) <= SLOWEST_WORKING_STATE
      if (row.readT !== state.readT) {
        state.readT = row.readT
        state.atWork = state.busyLooks >= BUSY_LOOKS
        state.proofs = works && state.atWork ? state.proofs + 1 : 0
      }
      if (generation === undefined || width === undefined || generationMax === undefined || widthMax === undefined) return undefined
      // As fast as it can be: that is well also while it idles.
      if (generation >= generationMax && width >= widthMax) {
        state.proofs = 0
        return false
      }
      // A card at rest lowers its generation, but keeps its lanes.
      return works && (width < widthMax || state.atWork) ? true : undefined
    }
    const faultyFinding = (row: Row, isSlow: boolean, replays: number, replaying: boolean): TypedFinding => {
      const { now, uuid, index } = row
      const { generation = 0, width = 0, generationMax = 0, widthMax = 0 } = now
      const [is, could] = [bandwidth(generation, width), bandwidth(generationMax, widthMax)]
      const loss = isSlow && is !== undefined && could !== undefined ? Math.round((1 - is / could) * 1_000) / 1_000 : undefined
      const users = usersOf(tracks, uuid)
      const facts: Facts = {
        ...(now.generation === undefined ? {} : { pcie_generation: generation }),
        ...(now.generationMax === undefined ? {} : { pcie_generation_max: generationMax }),
        ...(now.width === undefined ? {} : { pcie_width: width }),
        ...(now.widthMax === undefined ? {} : { pcie_width_max: widthMax }),
        ...(loss === undefined ? {} : { bandwidth_loss_ratio: loss }),
        ...(replaying ? { pcie_replays_per_minute: replays } : {}),
        ...(users.length === 0 ? {} : { affected: users }),
      }
      const link = `PCIe ${generation}.0 x${width}`
      const below = isSlow
        ? ` runs at ${link} while it works, though card and slot can do ${generationMax}.0 x${widthMax}${loss === undefined ? '' : `: ${Math.round(loss * 100)} % of the bandwidth is lost`}`
        : ''
      const again = replaying
        ? `${isSlow ? ', and' : ''} had to send ${replays} packets again within a minute (more than ${options.replays_per_minute} is too many)`
        : ''
      return {
        kind: 'pcie_degraded',
        key: uuid,
        about: { uuid },
        state: 'faulty',
        severity: 'warning',
        title: isSlow
          ? `GPU ${index}: its PCIe link runs at ${generation}.0 x${width} instead of ${generationMax}.0 x${widthMax}`
          : `GPU ${index}: its PCIe link sends packets again and again`,
        verdict: `The PCIe link of ${gpuText(row)}${below}${again}. Likely the seat of the card, the riser or the slot.${concerns(users)}`,
        facts,
        remedies: [
          {
            text: 'See the link of the card and of the port above it while it works.',
            command: `nvidia-smi -q -i ${index} | grep -A 12 'PCI$'; sudo lspci -vv | grep -E 'NVIDIA|LnkSta:'`,
          },
          { text: 'See whether the kernel logged corrected errors on the bus.', command: "sudo dmesg -T | grep -E 'AER|PCIe Bus Error' | tail" },
          { text: 'Switch the machine off, reseat card and riser, try another slot; in the firmware set the slot to its full speed.' },
        ],
      }
    }
    return {
      judge(t) {
        const found: TypedFinding[] = []
        for (const row of rows.read().values()) {
          const state = states.of(row.uuid)
          const replays = state.rise.see(t, row.now.replays)
          const replaying = replays !== undefined && replays > options.replays_per_minute
          const isBelow = slow(t, row, state)
          // The time of one stretch of work counts, not that of several.
          if (isBelow === undefined && state.hold.settled() !== 'faulty') state.hold.settle('unknown')
          const held = state.hold.see(t, isBelow)
          const proven = held === 'faulty' && ((row.now.width ?? 0) < (row.now.widthMax ?? 0) || state.proofs >= PROOFS)
          const isSlow = proven || (held === 'unknown' && state.hold.settled() === 'faulty' && replaying)
          if (proven || replaying) state.deduper.faulty(found, faultyFinding(row, isSlow, replays ?? 0, replaying))
          else if (held === 'healthy' && (replays !== undefined || !state.rise.everSeen())) state.deduper.healthy(found)
        }
        return found
      },
    }
  },
})
