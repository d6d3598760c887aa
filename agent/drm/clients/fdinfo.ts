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

/** By the first letter of the unit; the kernel writes `kB` and `KiB` for 1024 bytes. */
const UNITS: Readonly<Record<string, number>> = { B: 1, k: 1024, K: 1024, M: 1024 ** 2, G: 1024 ** 3 }
const ZERO = 0x30
const isDigit = (code: number): boolean => code >= ZERO && code <= ZERO + 9
const isSpace = (code: number): boolean => code === 0x20 || code === 0x09

/** The whole number at `from`, and where it ends; a hundred clients have thousands of these lines, so they are read without a pattern. */
function numberAt(text: string, from: number, end: number): { readonly value: number; readonly to: number } | undefined {
  let at = from
  let value = 0
  for (; at < end && isDigit(text.charCodeAt(at)); at++) value = value * 10 + (text.charCodeAt(at) - ZERO)
  return at === from || at - from > 19 ? undefined : { value, to: at }
}
function bytesAt(text: string, from: number, end: number): number | undefined {
  const number = numberAt(text, from, end)
  if (number === undefined || number.to === end) return number?.value
  let at = number.to
  while (at < end && isSpace(text.charCodeAt(at))) at++
  const unit = at === number.to ? undefined : lookup(UNITS, text.charAt(at))
  return unit === undefined ? undefined : number.value * unit
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
  const found = meanings.get(key)
  if (found !== undefined || meanings.has(key)) return found
  const meaning = meaningOf(key.trim())
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
    let end = newline < 0 ? text.length : newline
    const colon = text.indexOf(':', start)
    const begin = start
    start = end + 1
    if (colon < 0 || colon > end) continue
    const meaning = known(text.slice(begin, colon))
    if (meaning === undefined) continue
    let from = colon + 1
    while (from < end && isSpace(text.charCodeAt(from))) from++
    while (end > from && (isSpace(text.charCodeAt(end - 1)) || text.charCodeAt(end - 1) === 0x0d)) end--
    if (meaning.is === 'region') {
      const bytes = bytesAt(text, from, end)
      if (bytes === undefined) continue
      if (meaning.isOld === true) driver ||= 'amdgpu'
      let region = regions.get(meaning.name)
      if (region === undefined) regions.set(meaning.name, (region = {}))
      region[meaning.part] = bytes
    } else if (meaning.is === 'engine') {
      const number = numberAt(text, from, end)
      if (number === undefined) continue
      let engine = engines.get(meaning.name)
      if (engine === undefined) engines.set(meaning.name, (engine = {}))
      engine[meaning.part] = number.value
    } else if (meaning.is === 'driver') driver = text.slice(from, end)
    else if (meaning.is === 'slot') slot = text.slice(from, end).toLowerCase()
    else if (meaning.is === 'client') client = text.slice(from, end)
    else if (meaning.is === 'pasid') pasid = text.slice(from, end)
    else evictedBytes = bytesAt(text, from, end)
  }
  if (driver === '' || slot === '') return undefined
  return { driver, slot, client: client || `pasid-${pasid}`, regions, engines, evictedBytes }
}

/** What is in a region now: resident, else the older key, else all that was asked for. */
export const regionBytes = ({ resident, memory, total }: Region): number | undefined => resident ?? memory ?? total
