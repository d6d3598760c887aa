// Builds the fake libnvidia-ml.so.1 with the host's C compiler, once per state of its sources; profiles are drivers that lack symbols.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const here = import.meta.dirname
const cache = join(here, '../../../node_modules/.cache/fake-nvml')

const V3 = ['Compute', 'Graphics', 'MPSCompute'].map((kind) => `nvmlDeviceGet${kind}RunningProcesses_v3`)
const V2 = V3.map((name) => name.replace('_v3', '_v2'))
const R535 = [
  'nvmlDeviceGetConfComputeMemSizeInfo',
  'nvmlDeviceGetRunningProcessDetailList',
  'nvmlDeviceGetCurrentClocksEventReasons',
  'nvmlDeviceGetSupportedClocksEventReasons',
]
const R550 = ['nvmlDeviceGetProcessesUtilizationInfo']
const GPM = ['QueryDeviceSupport', 'SampleAlloc', 'SampleFree', 'SampleGet', 'MigSampleGet', 'MetricsGet'].map((name) => `nvmlGpm${name}`)
/** Symbols that each profile's driver does not export (branches of the NVML change log). */
export const PROFILES = {
  full: [],
  /** R450: before memory v2 (R510), process lists v2 (R455) and v3 (R510), GPM (R520), the R535 names and TemperatureV (R570). */
  r450: [
    'nvmlDeviceGetMemoryInfo_v2',
    'nvmlDeviceGetTemperatureV',
    'nvmlDeviceGetNumFans',
    'nvmlDeviceGetAttributes_v2',
    ...V3,
    ...V2,
    ...R535,
    ...R550,
    ...GPM,
  ],
  /** R470: process lists v2 with 24-byte entries, no v3. */
  r470: ['nvmlDeviceGetMemoryInfo_v2', 'nvmlDeviceGetTemperatureV', 'nvmlDeviceGetNumFans', ...V3, ...R535, ...R550, ...GPM],
  /** 535.43 to 535.86: 32-byte entries in v3 (with `stride3=32`), the detail list not yet there. */
  r535early: ['nvmlDeviceGetTemperatureV', 'nvmlDeviceGetRunningProcessDetailList', ...R550],
  /** Only what the agent cannot do without. */
  bare: [
    'nvmlDeviceGetFieldValues',
    'nvmlEventSetCreate',
    'nvmlDeviceGetUtilizationRates',
    'nvmlDeviceGetPowerUsage',
    'nvmlDeviceGetProcessUtilization',
    ...R550,
    'nvmlDeviceGetMigMode',
    ...V3,
    ...V2,
    ...GPM,
  ],
} as const
export type Profile = keyof typeof PROFILES
export const PROFILE_NAMES: readonly Profile[] = ['full', 'r450', 'r470', 'r535early', 'bare']

const sources = readdirSync(here)
  .filter((name) => /\.[ch]$/.test(name) || name === 'build.ts')
  .sort()
const state = createHash('sha256')
for (const name of sources) state.update(name).update(readFileSync(join(here, name)))
const folder = join(cache, state.digest('hex').slice(0, 16))
const parts = sources.filter((name) => name.endsWith('.c') && name !== 'layout.c').map((name) => join(here, name))

/** The compiler's command, or undefined on a host without one. */
export const compiler = ['cc', 'gcc', 'clang'].find((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0)

/** `arm64`: for that machine, on this one. */
export type Machine = 'own' | 'arm64'
const compilerFor = (machine: Machine): string | undefined => (machine === 'own' ? compiler : 'aarch64-linux-gnu-gcc')

/** Builds in a folder of its own and moves the result into place, so that parallel builders do not disturb each other. */
function built(name: string, machine: Machine, flags: (scratch: string) => readonly string[]): string | undefined {
  const target = join(folder, machine === 'own' ? '' : machine, name)
  if (existsSync(target)) return target
  const command = compilerFor(machine)
  if (command === undefined) return undefined
  const scratch = mkdtempSync(join(tmpdir(), 'fake-nvml-'))
  try {
    const result = join(scratch, 'result')
    execFileSync(command, ['-O2', '-Wall', '-Wextra', ...flags(scratch), '-o', result], { stdio: ['ignore', 'pipe', 'pipe'] })
    mkdirSync(join(target, '..'), { recursive: true })
    const staged = `${target}.${process.pid}`
    writeFileSync(staged, readFileSync(result), { mode: 0o755 })
    renameSync(staged, target)
    return target
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** All of it as one object, compiled once for all profiles. */
const objectOf = (machine: Machine): string | undefined => built('parts.o', machine, () => ['-r', '-nostdlib', '-fPIC', '-fvisibility=hidden', ...parts])

/** Absolute path of the fake library of a profile; undefined without a C compiler. */
export function fakeLibrary(profile: Profile = 'full', machine: Machine = 'own'): string | undefined {
  const object = objectOf(machine)
  if (object === undefined) return undefined
  return built(`${profile}/libnvidia-ml.so.1`, machine, (scratch) => {
    const script = join(scratch, 'symbols.map')
    const hidden = PROFILES[profile]
    writeFileSync(script, `{ global: *; ${hidden.length > 0 ? `local: ${hidden.join('; ')};` : ''} };\n`)
    return ['-shared', '-Wl,-soname,libnvidia-ml.so.1', `-Wl,--version-script=${script}`, object]
  })
}

/** Absolute path of the program that prints the fake's struct layouts. */
export function layoutProgram(machine: Machine = 'own'): string | undefined {
  return built('layout', machine, () => [join(here, 'layout.c')])
}
