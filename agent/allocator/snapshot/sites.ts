// The live allocations grouped by the place in the program that made them, the largest group first.
import { isFields } from './fields.ts'
import type { Segment } from './model.ts'

export type Frame = { readonly file: string; readonly line?: number; readonly function: string }
export type Site = {
  readonly bytes: number
  readonly blocks: number
  readonly largest_bytes: number
  /** The innermost frame that is neither PyTorch's nor Python's own; absent where there is none. */
  readonly user_frame?: Frame
  /** Innermost first, at most 32. Empty for allocations of which no history was recorded. */
  readonly frames: readonly Frame[]
}
export type Sites = {
  readonly top: readonly Site[]
  readonly others: { readonly sites: number; readonly bytes: number; readonly blocks: number }
  readonly recorded_bytes: number
}

const MAX_FRAMES = 32
const MAX_TEXT = 300
const LIBRARY =
  /(?:^|[\\/])(?:site-packages|dist-packages)[\\/]|[\\/]lib(?:64)?[\\/]python\d|(?:^|[\\/])torch[\\/](?:_\w+|nn|optim|autograd|utils|cuda|distributed|fx|jit|func)\b|\.(?:c|cc|cpp|cxx|h|hpp|cu|cuh|so|pyx)(?:$|\.)|^<(?:frozen|eval_with_key|unknown)|^\?\?$|^$/

export const isUserFrame = (frame: Frame): boolean => !LIBRARY.test(frame.file)

function frameOf(value: unknown): Frame | undefined {
  if (!isFields(value)) return undefined
  const [file, name, line] = [value['filename'], value['name'], value['line']]
  return {
    file: typeof file === 'string' ? file.slice(0, MAX_TEXT) : '',
    function: typeof name === 'string' ? name.slice(0, MAX_TEXT) : '',
    ...(typeof line === 'number' && Number.isSafeInteger(line) && line > 0 ? { line } : {}),
  }
}
export const framesFrom = (raw: readonly unknown[]): readonly Frame[] =>
  raw.slice(0, MAX_FRAMES).flatMap((value) => {
    const frame = frameOf(value)
    return frame === undefined ? [] : [frame]
  })

type Group = { bytes: number; blocks: number; largest: number; readonly raw: readonly unknown[] }

/**
 * Gives the group of a block. Blocks of a pickle share their frames, so those are looked at once; JSON repeats them, so their text decides.
 * Texts and frames are numbered: a file can name one long text in a million places, and no key here may be longer than its place in the file.
 */
function createGrouping(): { readonly groupOf: (raw: readonly unknown[] | undefined) => Group; readonly groups: () => readonly Group[] } {
  const numbered = (): ((key: unknown) => number) => {
    const numbers = new Map<unknown, number>()
    return (key) => {
      const known = numbers.get(key)
      if (known !== undefined) return known
      numbers.set(key, numbers.size)
      return numbers.size - 1
    }
  }
  const [textNumber, frameNumber] = [numbered(), numbered()]
  const byFrame = new Map<unknown, number>()
  const byIdentity = new Map<readonly unknown[] | undefined, Group>()
  const byFrames = new Map<string, Group>()

  const numberOf = (frame: unknown): number => {
    const seen = byFrame.get(frame)
    if (seen !== undefined) return seen
    const fields = isFields(frame) ? frame : {}
    const number = frameNumber(`${textNumber(fields['filename'])} ${textNumber(fields['name'])} ${textNumber(fields['line'])}`)
    byFrame.set(frame, number)
    return number
  }
  return {
    groupOf(raw) {
      const seen = byIdentity.get(raw)
      if (seen !== undefined) return seen
      const key = (raw ?? []).slice(0, MAX_FRAMES).map(numberOf).join(' ')
      let group = byFrames.get(key)
      if (group === undefined) byFrames.set(key, (group = { bytes: 0, blocks: 0, largest: 0, raw: raw ?? [] }))
      byIdentity.set(raw, group)
      return group
    },
    groups: () => [...byFrames.values()],
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
    top: groups.slice(0, top).map(({ bytes, blocks, largest, raw }) => {
      const frames = framesFrom(raw)
      const user = frames.find(isUserFrame)
      return { bytes, blocks, largest_bytes: largest, ...(user === undefined ? {} : { user_frame: user }), frames }
    }),
    others: { sites: rest.length, bytes: rest.reduce((sum, group) => sum + group.bytes, 0), blocks: rest.reduce((sum, group) => sum + group.blocks, 0) },
    recorded_bytes: groups.reduce((sum, group) => sum + (group.raw.length === 0 ? 0 : group.bytes), 0),
  }
  return { sites, rankOf: (raw) => ranks.get(grouping.groupOf(raw)) }
}
