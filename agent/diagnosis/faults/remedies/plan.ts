// From single pieces of advice to the remedies of a fault: what applies, each once, what destroys something last, at most five.
import type { Remedy } from '../../../model/fault.ts'

/** `destroys`: it ends work or deletes something; its text names what is lost. `follows`: it is to be done after that. */
export type Advice = Remedy & { readonly destroys?: true; readonly follows?: true }
/** Advice that does not apply is left out: `condition && {...}`. */
export type Piece = Advice | false | undefined | readonly Piece[]

export const MOST_REMEDIES = 5

const isList = (piece: Piece): piece is readonly Piece[] => Array.isArray(piece)
function flat(piece: Piece, out: Advice[]): void {
  if (piece === undefined || piece === false) return
  if (isList(piece)) for (const one of piece) flat(one, out)
  else out.push(piece)
}

/** The pieces in the order given: the most effective first. */
export function plan(...pieces: readonly Piece[]): readonly Remedy[] {
  const all: Advice[] = []
  flat(pieces, all)
  // A handful of pieces: plain loops, since a log may hold thousands of faults.
  const kept: Remedy[] = []
  for (const last of [false, true]) {
    for (const { text, command, destroys, follows } of all) {
      if ((destroys === true || follows === true) !== last || kept.length === MOST_REMEDIES) continue
      if (kept.some((one) => one.text === text || (command !== undefined && one.command === command))) continue
      kept.push(command === undefined ? { text } : { text, command })
    }
  }
  return kept
}
