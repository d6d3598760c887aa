// The live allocations grouped by the place in the program that made them, the largest group first.
import { isFields } from './fields.ts'
import { MAX_STACK, placeFrom, tellingFrame, type Place, type TellingFrame } from './frames.ts'
import type { Segment } from './model.ts'

export type Site = Place & { readonly bytes: number; readonly blocks: number; readonly largest_bytes: number }
export type Sites = {
  readonly top: readonly Site[]
  readonly others: { readonly sites: number; readonly bytes: number; readonly blocks: number }
  readonly recorded_bytes: number
}

type Group = { bytes: number; blocks: number; largest: number; readonly raw: readonly unknown[] }
type Numbered = TellingFrame & { readonly number: number }

/** How many frames distinguish one place from another. */
const KEY_FRAMES = 64

/** Gives numbers to what is equal. */
function numbered(): (key: unknown) => number {
  const numbers = new Map<unknown, number>()
  return (key) => {
    const known = numbers.get(key)
    if (known !== undefined) return known
    numbers.set(key, numbers.size)
    return numbers.size - 1
  }
}

/**
 * Gives the group of a block. Blocks of a pickle share their frames, so those are looked at once; JSON repeats them, so their text decides.
 * Texts and frames are numbered: a file can name one long text in a million places, and no key here may be longer than its place in the file.
 */
function createGrouping(): { readonly groupOf: (raw: readonly unknown[] | undefined) => Group; readonly groups: () => readonly Group[] } {
  const textNumber = numbered()
  const known = new Map<string, Numbered>()
  const byFrame = new Map<unknown, Numbered>()
  const byIdentity = new Map<readonly unknown[] | undefined, Group>()
  const byPlace = new Map<string, Group>()

  const look = (value: unknown): Numbered => {
    const seen = byFrame.get(value)
    if (seen !== undefined) return seen
    const fields = isFields(value) ? value : {}
    const key = `${textNumber(fields['filename'])} ${textNumber(fields['name'])} ${textNumber(fields['line'])}`
    let frame = known.get(key)
    if (frame === undefined) known.set(key, (frame = { ...tellingFrame(value), number: known.size }))
    byFrame.set(value, frame)
    return frame
  }
  /** What the answer shows of a place: the innermost line, the lines of the program itself, the operation. The rest differs without meaning anything. */
  const keyOf = (raw: readonly unknown[]): string => {
    const stack = (raw.length > MAX_STACK ? raw.slice(0, MAX_STACK) : raw).map(look)
    const innermost = stack.findIndex((one) => one.python)
    const native = innermost === -1 ? stack : stack.slice(0, innermost)
    const operation = native.findLast((one) => one.operation !== undefined)?.operation ?? ''
    const backward = native.find((one) => one.backward !== undefined)?.backward ?? ''
    const model = stack.find((one) => one.model)
    const shown = model === undefined ? stack.filter((one) => one.python) : stack.filter((one) => one === model || one.user)
    const lines = shown.length === 0 && operation === '' && backward === '' ? stack : shown
    return `${lines
      .slice(0, KEY_FRAMES)
      .map((one) => one.number)
      .join(' ')}|${operation}|${backward}`
  }
  return {
    groupOf(raw) {
      const seen = byIdentity.get(raw)
      if (seen !== undefined) return seen
      const key = raw === undefined ? '' : keyOf(raw)
      let group = byPlace.get(key)
      if (group === undefined) byPlace.set(key, (group = { bytes: 0, blocks: 0, largest: 0, raw: raw ?? [] }))
      byIdentity.set(raw, group)
      return group
    },
    groups: () => [...byPlace.values()],
  }
}

export type Ranked = {
  readonly sites: Sites
  /** Which of the top groups a live block belongs to; undefined when to none of them. */
  readonly rankOf: (raw: readonly unknown[] | undefined) => number | undefined
}

export function sitesOf(segments: readonly Segment[], top: number): Ranked {
  const grouping = createGrouping()
  for (const { blocks } of segments) {
    for (const block of blocks) {
      if (block.state !== 'allocated') continue
      const group = grouping.groupOf(block.frames)
      group.bytes += block.bytes
      group.blocks += 1
      group.largest = Math.max(group.largest, block.bytes)
    }
  }
  const groups = grouping.groups().toSorted((a, b) => b.bytes - a.bytes)
  const rest = groups.slice(top)
  const ranks = new Map(groups.slice(0, top).flatMap((group, rank) => (group.raw.length === 0 ? [] : [[group, rank]])))
  const sites: Sites = {
    top: groups.slice(0, top).map(({ bytes, blocks, largest, raw }) => ({ bytes, blocks, largest_bytes: largest, ...placeFrom(raw) })),
    others: { sites: rest.length, bytes: rest.reduce((sum, group) => sum + group.bytes, 0), blocks: rest.reduce((sum, group) => sum + group.blocks, 0) },
    recorded_bytes: groups.reduce((sum, group) => sum + (group.raw.length === 0 ? 0 : group.bytes), 0),
  }
  return { sites, rankOf: (raw) => ranks.get(grouping.groupOf(raw)) }
}
