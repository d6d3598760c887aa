// Writes scenario files for the fake NVML library: GPUs with their values, processes, MIG instances, and rules that make calls fail, hang or crash.
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Values by key: those of fake.h's files, in NVML's own units (mW, MHz, percent, mJ, bytes); undefined takes a key away (not supported). */
export type Values = { readonly [key: string]: number | bigint | string | undefined }

export type FakeProcess = {
  readonly pid: number
  /** undefined: the driver does not report it. */
  readonly bytes?: number
  /** C compute, G graphics, M MPS. */
  readonly type?: 'C' | 'G' | 'M'
  readonly gi?: number
  readonly ci?: number
}
export type FakeMig = {
  readonly gi: number
  readonly ci: number
  readonly uuid: string
  readonly total: number
  readonly used: number
  readonly reserved?: number
  readonly name?: string
  readonly sms?: number
  readonly slices?: number
}
/** `sequence` rises over all events of a test: each is delivered once. */
export type FakeXid = { readonly sequence: number; readonly xid: number; readonly gi?: number; readonly ci?: number }

/** One sample of a process by the driver: `sm` in percent, of the period that ended at `timeUs`. */
export type FakeSample = { readonly timeUs: number; readonly pid: number; readonly sm: number }
/** What the accounting mode wrote down (`accounting: 1`). */
export type FakeAccount = { readonly pid: number; readonly gpu: number; readonly bytes: number; readonly ms: number; readonly running?: boolean }

export type FakeGpu = {
  /** Also rules of this GPU: `ret.FUNCTION`, `delay.FUNCTION` (ms), `crash.FUNCTION`, `odds.FUNCTION` or `odds.device` (one call in N crashes), `ones` (every figure has all bits set), `lost`, `reset`, `grow`, `field.ID[.SCOPE]`, `gpm.ID[.GI]`, `sample_every` (ms; see usage.c). */
  readonly values: Values
  readonly processes?: readonly FakeProcess[]
  readonly mig?: readonly FakeMig[]
  readonly xids?: readonly FakeXid[]
  readonly samples?: readonly FakeSample[]
  readonly accounts?: readonly FakeAccount[]
}
export type FakeScenario = {
  /** `driver`, `nvml`, `cuda`, `init` (return code), and rules for functions without a GPU (`delay.nvmlInit_v2`) or for all GPUs. */
  readonly values: Values
  readonly gpus: readonly FakeGpu[]
}

/** A line break in a value goes as the byte 1, and comes out of the library as a line break. */
const lines = (values: Values): string[] =>
  Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [`${key}=${String(value).replaceAll('\n', '\x01')}`]))

/** The scenario as the text that the library reads. */
export function scenarioText(scenario: FakeScenario): string {
  const text = lines(scenario.values)
  for (const [index, gpu] of scenario.gpus.entries()) {
    text.push(`[gpu ${index}]`, ...lines(gpu.values))
    for (const p of gpu.processes ?? []) text.push(`proc=${p.pid},${p.bytes ?? '-'},${p.type ?? 'C'},${p.gi ?? '-'},${p.ci ?? '-'}`)
    for (const m of gpu.mig ?? [])
      text.push(`mig=${m.gi},${m.ci},${m.uuid},${m.total},${m.used},${m.reserved ?? 0},${m.name ?? 'MIG 1g.10gb'},${m.sms ?? 16},${m.slices ?? 1}`)
    for (const { timeUs, pid, sm } of gpu.samples ?? []) text.push(`sample=${timeUs},${pid},${sm}`)
    for (const { pid, gpu: percent, bytes, ms, running } of gpu.accounts ?? [])
      text.push(`account=${pid},${percent},${bytes},${ms},${running === true ? 1 : 0}`)
    for (const x of gpu.xids ?? []) text.push(`xid=${x.sequence},${x.xid},${x.gi ?? '-'},${x.ci ?? '-'}`)
  }
  return `${text.join('\n')}\n`
}

/** Replaces the file in one step (write, rename), so that the library never sees half of it. */
export function writeScenario(path: string, scenario: FakeScenario): void {
  const staged = `${path}.${process.pid}.new`
  writeFileSync(staged, scenarioText(scenario))
  renameSync(staged, path)
}

export type ScenarioFile = { readonly path: string; readonly write: (scenario: FakeScenario) => void; readonly remove: () => void }

/** A scenario file in a temporary folder of its own. */
export function scenarioFile(scenario: FakeScenario): ScenarioFile {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-scenario-'))
  const path = join(folder, 'scenario.txt')
  writeScenario(path, scenario)
  return { path, write: (next) => writeScenario(path, next), remove: () => rmSync(folder, { recursive: true, force: true }) }
}

const GIB = 1024 ** 3

/** UUID of GPU `index` of the ready-made hosts. */
export const fakeUuid = (index: number): string => `GPU-00000000-0000-4000-8000-${index.toString(16).padStart(12, '0')}`

/** One H100 under training load; `index` varies the numbers a little, so that no two GPUs say the same. */
export function h100(index: number, values: Values = {}, processes: readonly FakeProcess[] = []): FakeGpu {
  return {
    processes,
    values: {
      name: 'NVIDIA H100 80GB HBM3',
      uuid: fakeUuid(index),
      bus: `00000000:${(0x1b + 0x10 * index).toString(16).toUpperCase().padStart(2, '0')}:00.0`,
      serial: `16540230${String(index).padStart(5, '0')}`,
      vbios: '96.00.89.00.01',
      minor: index,
      brand: 14,
      arch: 9,
      cc_major: 9,
      cc_minor: 0,
      mem_total: 81559 * 1024 ** 2,
      mem_used: (40 + index) * GIB,
      mem_reserved: 551 * 1024 ** 2,
      bar1_total: 128 * GIB,
      bar1_used: 3 * 1024 ** 2,
      util: 90 + index,
      util_mem: 40 + index,
      accounting: 1,
      enc: 0,
      dec: 0,
      jpg: 0,
      ofa: 0,
      temp: 50 + index,
      temp_shutdown: 92,
      temp_slowdown: 89,
      temp_memory_max: 95,
      power: 500_000 + index * 1_000,
      limit: 700_000,
      limit_set: 700_000,
      limit_default: 700_000,
      limit_min: 200_000,
      limit_max: 700_000,
      energy: 123_456_789 + index,
      clock_graphics: 1755,
      clock_sm: 1755,
      clock_mem: 2619,
      clock_video: 1530,
      clock_max_graphics: 1980,
      clock_max_sm: 1980,
      clock_max_mem: 2619,
      clock_max_video: 1545,
      reasons: 4,
      reasons_supported: 0x1ff,
      pstate: 0,
      pcie_gen: 5,
      pcie_gen_max: 5,
      pcie_width: 16,
      pcie_width_max: 16,
      pcie_replay: index,
      pcie_tx_kb: 1000,
      pcie_rx_kb: 2000,
      ecc_mode: 1,
      ecc_corrected_volatile: 0,
      ecc_uncorrected_volatile: 0,
      ecc_corrected_aggregate: index,
      ecc_uncorrected_aggregate: 0,
      remap_corrected: 0,
      remap_uncorrected: 0,
      remap_pending: 0,
      remap_failure: 0,
      remap_histogram: '2560,0,0,0,0',
      persistence: 1,
      compute_mode: 0,
      nvlinks: 18,
      mig_mode: 0,
      events: 0x8 | 0x2,
      gpm: 1,
      'gpm.1': 95.5,
      'gpm.2': 80.25,
      'gpm.3': 40,
      'gpm.5': 55,
      'gpm.10': 33,
      'gpm.11': 1,
      'gpm.12': 10,
      'gpm.13': 5,
      'field.38': 0,
      'field.45': 0,
      'field.52': 0,
      'field.59': 0,
      'field.74': 1_500_000_000 + index,
      'field.76': 0,
      'field.82': `u:${60 + index}`,
      'field.91': 'u:18',
      'field.138': 1_000_000,
      'field.139': 2_000_000,
      'field.197': 5_000_000_000,
      'field.198': 6_000_000_000,
      'field.230': 'u:0',
      ...values,
    },
  }
}

/** At the end of what Linux may give out (2^22), as a real process of the test host with the same pid would lend them its name and container. */
export const FIRST_PID = 4_190_000
export const FIRST_MIG_PID = 4_192_000

/** Eight H100 with five compute processes each, as one host of 40 training processes. PIDs begin at FIRST_PID. */
export function eightH100(perGpu: (index: number) => Values = () => ({}), values: Values = {}): FakeScenario {
  const gpus = Array.from({ length: 8 }, (_, index) =>
    h100(
      index,
      perGpu(index),
      Array.from({ length: 5 }, (_, n) => ({ pid: FIRST_PID + index * 5 + n, bytes: (6 + n) * GIB })),
    ),
  )
  return { values: { driver: '590.48.01', nvml: '13.590.48.01', cuda: 13_010, init: 0, ...values }, gpus }
}

/** A host of `count` plain H100 without processes. */
export function hostOf(count: number, perGpu: (index: number) => Values = () => ({}), values: Values = {}): FakeScenario {
  return { ...eightH100(perGpu, values), gpus: Array.from({ length: count }, (_, index) => h100(index, perGpu(index))) }
}

/** The scenario with one GPU's values changed; undefined takes a key away. */
export function withGpu(scenario: FakeScenario, index: number, values: Values, more: Omit<Partial<FakeGpu>, 'values'> = {}): FakeScenario {
  return { ...scenario, gpus: scenario.gpus.map((gpu, at) => (at === index ? { ...gpu, ...more, values: { ...gpu.values, ...values } } : gpu)) }
}

/** An H100 cut into two MIG instances (gi 1 and 2, ci 0), one process in each. */
export function migH100(index: number): FakeGpu {
  const gpu = h100(index, { mig_mode: 1, mem_used: 15 * GIB, 'gpm.1.1': 70, 'gpm.1.2': 10 }, [
    { pid: FIRST_MIG_PID + index * 2, bytes: 9 * GIB, gi: 1, ci: 0 },
    { pid: FIRST_MIG_PID + 1 + index * 2, bytes: 4 * GIB, gi: 2, ci: 0 },
  ])
  const mig = [1, 2].map((gi) => ({
    gi,
    ci: 0,
    uuid: `MIG-00000000-0000-4000-9000-${(index * 16 + gi).toString(16).padStart(12, '0')}`,
    total: 40 * GIB,
    used: (gi === 1 ? 10 : 5) * GIB,
    reserved: 64 * 1024 ** 2,
    name: 'NVIDIA H100 80GB HBM3 MIG 3g.40gb',
    sms: 60,
    slices: 3,
  }))
  return { ...gpu, mig }
}
