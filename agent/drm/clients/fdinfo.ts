// What /proc/PID/fdinfo/FD says of one open graphics card (Documentation/gpu/drm-usage-stats.rst, and the words of amdgpu before Linux 5.19). Pure.

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

/** undefined: the descriptor is of no graphics card. */
export function parseFdinfo(text: string): Fdinfo | undefined {
  const regions = new Map<string, Region>()
  const engines = new Map<string, Engine>()
  let driver = ''
  let slot = ''
  let client = ''
  let pasid = ''
  let evictedBytes: number | undefined
  const region = (name: string, part: Region): void => void regions.set(name, { ...regions.get(name), ...part })
  const engine = (name: string, part: Engine): void => void engines.set(name, { ...engines.get(name), ...part })

  for (const line of text.split('\n', 200)) {
    const colon = line.indexOf(':')
    if (colon < 0) continue
    const key = line.slice(0, colon).trim()
    const value = line.slice(colon + 1).trim()
    if (key === 'drm-driver') driver = value
    else if (key === 'drm-pdev' || key === 'pdev') slot = value.toLowerCase()
    else if (key === 'drm-client-id') client = value
    else if (key === 'pasid') pasid = value
    else if (key === 'amd-evicted-vram') evictedBytes = bytesOf(value)
    else {
      const memory = /^drm-(total|resident|shared|memory)-([\w-]+)$/.exec(key) ?? undefined
      const old = /^(vram|gtt|cpu) mem$/.exec(key)
      const bytes = memory === undefined && old === null ? undefined : bytesOf(value)
      if (memory?.[2] !== undefined && bytes !== undefined) region(memory[2], { [memory[1] ?? '']: bytes })
      else if (old?.[1] !== undefined && bytes !== undefined) {
        driver ||= 'amdgpu'
        region(old[1], { memory: bytes })
      }
      const number = /^\d{1,19}/.exec(value)?.[0]
      if (number === undefined) continue
      // The longer names first: `drm-engine-capacity-vcs` is no engine.
      const time = /^drm-(engine-capacity|total-cycles|engine|cycles)-([\w-]+)$/.exec(key)
      if (time?.[2] === undefined) continue
      if (time[1] === 'engine-capacity') engine(time[2], { capacity: Number(number) })
      else if (time[1] === 'total-cycles') engine(time[2], { totalCycles: Number(number) })
      else if (time[1] === 'cycles') engine(time[2], { cycles: Number(number) })
      else engine(time[2], { ns: Number(number) })
    }
  }
  if (driver === '' || slot === '') return undefined
  return { driver, slot, client: client || `pasid-${pasid}`, regions, engines, evictedBytes }
}

/** What is in a region now: resident, else the older key, else all that was asked for. */
export const regionBytes = ({ resident, memory, total }: Region): number | undefined => resident ?? memory ?? total
