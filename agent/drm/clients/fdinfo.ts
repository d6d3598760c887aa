// What /proc/PID/fdinfo/FD says of one open graphics card (Documentation/gpu/drm-usage-stats.rst, and the words of amdgpu before Linux 5.19). Pure.
import { lookup } from '../../text/lookup.ts'

export type Region = { readonly total?: number; readonly resident?: number; readonly shared?: number; readonly memory?: number }
/** Time of an engine: nanoseconds, or cycles of so many that went by. */
export type Engine = { readonly ns?: number; readonly cycles?: number; readonly totalCycles?: number; readonly capacity?: number }
export type Fdinfo = {
  readonly driver: string
  /** PCI address. */
  readonly slot: string
  /** Names the client of this card; the same in each descriptor that was handed on. */
  readonly client: string
  readonly regions: ReadonlyMap<string, Region>
  readonly engines: ReadonlyMap<string, Engine>
  /** Asked for in GPU memory, moved out of it by the driver (amdgpu). */
  readonly evictedBytes: number | undefined
}

const UNITS: Readonly<Record<string, number>> = { '': 1, B: 1, kB: 1024, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 }

function bytesOf(value: string): number | undefined {
  const match = /^(\d{1,19})(?:\s+([A-Za-z]+))?$/.exec(value)
  const unit = UNITS[match?.[2] ?? '']
  return match?.[1] === undefined || unit === undefined ? undefined : Number(match[1]) * unit
}

type Meaning =
  | { readonly is: 'driver' }
  | { readonly is: 'slot' }
  | { readonly is: 'client' }
  | { readonly is: 'pasid' }
  | { readonly is: 'evicted' }
  | { readonly is: 'region'; readonly name: string; readonly part: 'total' | 'resident' | 'shared' | 'memory'; readonly isOld?: true }
  | { readonly is: 'engine'; readonly name: string; readonly part: 'ns' | 'cycles' | 'totalCycles' | 'capacity' }
const WORDS: Readonly<Record<string, Meaning>> = {
  'drm-driver': { is: 'driver' },
  'drm-pdev': { is: 'slot' },
  pdev: { is: 'slot' },
  'drm-client-id': { is: 'client' },
  pasid: { is: 'pasid' },
  'amd-evicted-vram': { is: 'evicted' },
}
const PARTS = { 'engine-capacity': 'capacity', 'total-cycles': 'totalCycles', cycles: 'cycles', engine: 'ns' } as const

function meaningOf(key: string): Meaning | undefined {
  const word = lookup(WORDS, key)
  if (word !== undefined) return word
  const [, part, region] = /^drm-(total|resident|shared|memory)-([\w-]+)$/.exec(key) ?? []
  // `drm-total-cycles-rcs` is an engine's: its bytes would be none.
  if (region !== undefined && !region.startsWith('cycles-') && isPart(part)) return { is: 'region', name: region, part }
  const old = /^(vram|gtt|cpu) mem$/.exec(key)?.[1]
  if (old !== undefined) return { is: 'region', name: old, part: 'memory', isOld: true }
  // The longer names first: `drm-engine-capacity-vcs` is no engine.
  const [, time, engine] = /^drm-(engine-capacity|total-cycles|engine|cycles)-([\w-]+)$/.exec(key) ?? []
  const timed = time === undefined ? undefined : lookup(PARTS, time)
  return engine === undefined || timed === undefined ? undefined : { is: 'engine', name: engine, part: timed }
}
const isPart = (text: string | undefined): text is 'total' | 'resident' | 'shared' | 'memory' =>
  text === 'total' || text === 'resident' || text === 'shared' || text === 'memory'

/** The keys are the same in each reading of each client. */
const MOST_KEYS = 512
const meanings = new Map<string, Meaning | undefined>()
function known(key: string): Meaning | undefined {
  if (meanings.has(key)) return meanings.get(key)
  const meaning = meaningOf(key)
  if (meanings.size < MOST_KEYS) meanings.set(key, meaning)
  return meaning
}

const MOST_LINES = 200
/** undefined: the descriptor is of no graphics card. */
export function parseFdinfo(text: string): Fdinfo | undefined {
  const regions = new Map<string, { -readonly [Part in keyof Region]: Region[Part] }>()
  const engines = new Map<string, { -readonly [Part in keyof Engine]: Engine[Part] }>()
  let [driver, slot, client, pasid] = ['', '', '', '']
  let evictedBytes: number | undefined
  for (let start = 0, lines = 0; start < text.length && lines < MOST_LINES; lines++) {
    const newline = text.indexOf('\n', start)
    const end = newline < 0 ? text.length : newline
    const colon = text.indexOf(':', start)
    const from = start
    start = end + 1
    if (colon < 0 || colon > end) continue
    const meaning = known(text.slice(from, colon).trim())
    if (meaning === undefined) continue
    const value = text.slice(colon + 1, end).trim()
    if (meaning.is === 'driver') driver = value
    else if (meaning.is === 'slot') slot = value.toLowerCase()
    else if (meaning.is === 'client') client = value
    else if (meaning.is === 'pasid') pasid = value
    else if (meaning.is === 'evicted') evictedBytes = bytesOf(value)
    else if (meaning.is === 'region') {
      const bytes = bytesOf(value)
      if (bytes === undefined) continue
      if (meaning.isOld === true) driver ||= 'amdgpu'
      const region = regions.get(meaning.name) ?? {}
      region[meaning.part] = bytes
      regions.set(meaning.name, region)
    } else if (meaning.is === 'engine') {
      const number = /^\d{1,19}/.exec(value)?.[0]
      if (number === undefined) continue
      const engine = engines.get(meaning.name) ?? {}
      engine[meaning.part] = Number(number)
      engines.set(meaning.name, engine)
    }
  }
  if (driver === '' || slot === '') return undefined
  return { driver, slot, client: client || `pasid-${pasid}`, regions, engines, evictedBytes }
}

/** What is in a region now: resident, else the older key, else all that was asked for. */
export const regionBytes = ({ resident, memory, total }: Region): number | undefined => resident ?? memory ?? total
