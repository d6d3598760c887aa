// Colours of the charts by theme, and which container has which. The first eight hues are after Okabe and Ito's set for all kinds of colour vision; the next eight are those
// farthest from them and from each other. All have a contrast of 3:1 or more to the chart's ground, and differ also without one kind of cone: palette.test.ts holds both.
import type { Theme } from '../theme.ts'

export type Palette = {
  /** Containers, by slot of the colour book. */
  readonly containers: readonly string[]
  readonly host: string
  readonly unattributed: string
  readonly surface: string
  readonly grid: string
  readonly axis: string
  readonly trace: string
  readonly traceFill: string
  readonly peak: string
}

export const PALETTES: Readonly<Record<Theme, Palette>> = {
  dark: {
    containers: '#56b4e9 #e69f00 #2fb389 #db84b7 #e3d24a #8078e0 #e0703a #cfc4b4 #c12287 #ad524e #84ffb7 #944abc #51deeb #1c708e #2e64ea #5e6f03'.split(' '),
    host: '#74808a',
    unattributed: '#8d979f',
    surface: '#161a1d',
    grid: 'rgba(226, 232, 236, 0.10)',
    axis: '#8b959c',
    trace: '#c9d1d6',
    traceFill: '#272d31',
    peak: '#f1efe9',
  },
  light: {
    containers: '#2a96d3 #cd7a19 #1e8752 #ba6696 #867011 #5f56c4 #d84846 #988d75 #700478 #032fb3 #772122 #a160f4 #97087c #2b736f #7a5340 #1a5c9e'.split(' '),
    host: '#8b949b',
    unattributed: '#8a8f93',
    surface: '#fffefb',
    grid: 'rgba(20, 24, 27, 0.11)',
    axis: '#6c7378',
    trace: '#4a5358',
    traceFill: '#e9e7e0',
    peak: '#1b1f22',
  },
}

const channels = (hex: string): readonly number[] => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16))

/** `part` of the colour over the ground, opaque: stacked areas cover each other and must not shine through. */
export function mix(colour: string, ground: string, part: number): string {
  const over = channels(ground)
  return `rgb(${channels(colour)
    .map((value, i) => Math.round(value * part + (over[i] ?? 0) * (1 - part)))
    .join(' ')})`
}

export const SLOTS = 16
/** The most distinct ones, which come first. */
const FIRST = 8

export type ColourBook = { readonly slot: (key: string) => number }

/** FNV-1a, 32 bit. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193)
  return value >>> 0
}

/** All slots, the first ones before the others, each group beginning where the name says. */
function inOrder(start: number, slots: number): readonly number[] {
  const first = Math.min(FIRST, slots)
  const rest = slots - first
  return Array.from({ length: slots }, (_, i) => (i < first ? (start + i) % first : first + ((start + i) % rest)))
}

/** Where a book remembers what it gave: the browser's storage, or nothing. */
export type ColourMemory = { readonly load: () => Readonly<Record<string, unknown>>; readonly save: (given: Readonly<Record<string, number>>) => void }
const FORGETFUL: ColourMemory = { load: () => ({}), save: () => {} }
/** The newest are remembered. */
const REMEMBERED = 200

/** Gives every container a colour and keeps it: by its name where that slot is free, and the same one after a reload, whoever came first. */
export function createColourBook(slots = SLOTS, memory = FORGETFUL): ColourBook {
  const given = new Map<string, number>()
  const uses = Array.from({ length: slots }, () => 0)
  const remembered = new Map(
    Object.entries(memory.load()).flatMap(([key, slot]) => (typeof slot === 'number' && slot >= 0 && slot < slots ? [[key, Math.floor(slot)]] : [])),
  )
  return {
    slot(key) {
      const known = given.get(key)
      if (known !== undefined) return known
      const least = Math.min(...uses)
      let slot = remembered.get(key)
      if (slot === undefined) {
        slot = inOrder(hash(key), slots).find((each) => uses[each] === least) ?? 0
        remembered.set(key, slot)
        memory.save(Object.fromEntries([...remembered].slice(-REMEMBERED)))
      }
      uses[slot] = (uses[slot] ?? 0) + 1
      given.set(key, slot)
      return slot
    },
  }
}
