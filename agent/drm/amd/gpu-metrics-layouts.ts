// Where the figures are in amdgpu's table `gpu_metrics`, by the revision in its header (Linux drivers/gpu/drm/amd/include/kgd_pp_interface.h, naturally aligned C structs).

/** Offset and width in bytes; little endian, and all bits set means that the firmware does not tell. */
export type Place = readonly [offset: number, width: 1 | 2 | 4 | 8]
export type Layout = {
  readonly size: number
  /** Temperatures are in hundredths of a degree, activity in hundredths of a percent, power in milliwatts (APUs). */
  readonly fine?: { readonly temperature?: true; readonly activity?: true; readonly power?: true }
  readonly fields: Partial<Record<Field, Place>>
  /** Counters that rise while a limit is reached. */
  readonly residencies?: Readonly<Record<string, Place>>
}
export type Field =
  | 'edge'
  | 'hotspot'
  | 'memory'
  | 'gfx'
  | 'memoryActivity'
  | 'media'
  | 'power'
  | 'energy'
  | 'gfxClock'
  | 'memoryClock'
  | 'throttle'
  | 'linkWidth'
  | 'linkSpeed'
  | 'replays'

const V1_1 = {
  edge: [4, 2],
  hotspot: [6, 2],
  memory: [8, 2],
  gfx: [16, 2],
  memoryActivity: [18, 2],
  media: [20, 2],
  power: [22, 2],
  energy: [24, 8],
  gfxClock: [54, 2],
  memoryClock: [58, 2],
  linkWidth: [74, 2],
  linkSpeed: [76, 2],
} as const satisfies Layout['fields']

/** MI300: all revisions begin alike. */
const MI300 = { hotspot: [4, 2], memory: [6, 2], power: [10, 2], gfx: [12, 2], memoryActivity: [14, 2] } as const satisfies Layout['fields']

const mi300Residencies = (first: number): NonNullable<Layout['residencies']> => ({
  prochot: [first, 4],
  ppt: [first + 4, 4],
  socket_thm: [first + 8, 4],
  vr_thm: [first + 12, 4],
  hbm_thm: [first + 16, 4],
})

const V2_1 = { edge: [4, 2], gfx: [28, 2], media: [30, 2], power: [40, 2], gfxClock: [76, 2], memoryClock: [80, 2] } as const satisfies Layout['fields']
const FINE = { temperature: true, activity: true, power: true } as const

export const LAYOUTS: Readonly<Record<string, Layout>> = {
  '1.0': {
    size: 80,
    fields: {
      edge: [16, 2],
      hotspot: [18, 2],
      memory: [20, 2],
      gfx: [28, 2],
      memoryActivity: [30, 2],
      media: [32, 2],
      power: [34, 2],
      energy: [36, 4],
      gfxClock: [54, 2],
      memoryClock: [58, 2],
      linkWidth: [74, 1],
      linkSpeed: [75, 1],
    },
  },
  '1.1': { size: 96, fields: V1_1 },
  '1.2': { size: 104, fields: V1_1 },
  '1.3': { size: 120, fields: { ...V1_1, throttle: [112, 8] } },
  '1.4': {
    size: 288,
    fields: { ...MI300, media: [16, 2], energy: [24, 8], linkWidth: [48, 2], linkSpeed: [50, 2], replays: [88, 8], gfxClock: [240, 2], memoryClock: [280, 2] },
  },
  '1.5': {
    size: 360,
    fields: {
      ...MI300,
      media: [16, 2],
      energy: [88, 8],
      linkWidth: [112, 2],
      linkSpeed: [114, 2],
      replays: [152, 8],
      gfxClock: [312, 2],
      memoryClock: [352, 2],
    },
  },
  '1.6': {
    size: 1664,
    fields: { ...MI300, energy: [16, 8], linkWidth: [60, 2], linkSpeed: [62, 2], replays: [104, 8], gfxClock: [264, 2], memoryClock: [304, 2] },
    residencies: mi300Residencies(36),
  },
  '1.7': {
    size: 2208,
    fields: { ...MI300, energy: [24, 8], linkWidth: [68, 2], linkSpeed: [70, 2], replays: [112, 8], gfxClock: [296, 2], memoryClock: [336, 2] },
    residencies: mi300Residencies(44),
  },
  '1.8': {
    // The partitions behind these fields grew from revision to revision of the driver.
    size: 340,
    fields: { ...MI300, energy: [24, 8], linkWidth: [68, 2], linkSpeed: [70, 2], replays: [112, 8], gfxClock: [296, 2], memoryClock: [336, 2] },
    residencies: mi300Residencies(44),
  },
  '2.0': {
    size: 120,
    fine: FINE,
    fields: { edge: [16, 2], gfx: [40, 2], media: [42, 2], power: [44, 2], gfxClock: [80, 2], memoryClock: [84, 2] },
  },
  '2.1': { size: 120, fine: FINE, fields: V2_1 },
  '2.2': { size: 128, fine: FINE, fields: { ...V2_1, throttle: [120, 8] } },
  '2.3': { size: 152, fine: FINE, fields: { ...V2_1, throttle: [120, 8] } },
  '2.4': { size: 168, fine: FINE, fields: { ...V2_1, throttle: [120, 8] } },
  '3.0': {
    size: 256,
    fine: { temperature: true, power: true },
    fields: { edge: [4, 2], gfx: [42, 2], media: [44, 2], power: [112, 4], gfxClock: [174, 2], memoryClock: [186, 2] },
    residencies: {
      prochot: [228, 4],
      spl: [232, 4],
      fppt: [236, 4],
      sppt: [240, 4],
      thm_core: [244, 4],
      thm_gfx: [248, 4],
      thm_soc: [252, 4],
    },
  },
}

/** Revision 1.9 names each figure by a number (`enum amdgpu_metrics_attr_id`); the fields that we read, and the counters of limits. */
export const ATTRIBUTES: ReadonlyMap<number, Field> = new Map([
  [0, 'hotspot'],
  [1, 'memory'],
  [3, 'power'],
  [4, 'gfx'],
  [5, 'memoryActivity'],
  [7, 'energy'],
  [16, 'linkWidth'],
  [17, 'linkSpeed'],
  [33, 'gfxClock'],
  [37, 'memoryClock'],
])
export const RESIDENCY_ATTRIBUTES: ReadonlyMap<number, string> = new Map([
  [10, 'prochot'],
  [11, 'ppt'],
  [12, 'socket_thm'],
  [13, 'vr_thm'],
  [14, 'hbm_thm'],
])
