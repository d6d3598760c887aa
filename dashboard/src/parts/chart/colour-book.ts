// Gives every container a colour and keeps it: by its name where that slot is free, so that a reload brings the same colours.

export const SLOTS = 8

export type ColourBook = { readonly slot: (key: string) => number }

/** FNV-1a, 32 bit. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193)
  return value >>> 0
}

export function createColourBook(slots = SLOTS): ColourBook {
  const given = new Map<string, number>()
  const uses = Array.from({ length: slots }, () => 0)
  return {
    slot(key) {
      const known = given.get(key)
      if (known !== undefined) return known
      const least = Math.min(...uses)
      let slot = hash(key) % slots
      while (uses[slot] !== least) slot = (slot + 1) % slots
      uses[slot] = least + 1
      given.set(key, slot)
      return slot
    },
  }
}
