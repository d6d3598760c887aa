// Random numbers from a seed: the same seed gives the same simulation.

/** A number from 0 (inclusive) to 1 (exclusive). */
export type Random = () => number

/** FNV-1a, 32 bits. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash >>> 0
}

/** mulberry32. `stream` gives each part of the simulation its own sequence, so that one more part does not change the others. */
export function createRandom(seed: number, stream: string): Random {
  let state = (seed ^ hashText(stream)) >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

export function hexDigits(random: Random, count: number): string {
  let text = ''
  for (let index = 0; index < count; index++) text += Math.floor(random() * 16).toString(16)
  return text
}
