// From single pieces of advice to the remedies of a fault: what applies, each once, what destroys something last, at most five.
import type { Remedy } from '../../../model/fault.ts'

/** `destroys`: it ends work or deletes something; its text names what is lost. */
export type Advice = Remedy & { readonly destroys?: true }
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
  const seen = new Set<string>()
  const once = all.filter(({ text, command }) => {
    if (seen.has(text) || (command !== undefined && seen.has(command))) return false
    seen.add(text)
    if (command !== undefined) seen.add(command)
    return true
  })
  const ordered = [...once.filter(({ destroys }) => destroys !== true), ...once.filter(({ destroys }) => destroys === true)]
  return ordered.slice(0, MOST_REMEDIES).map(({ text, command }) => (command === undefined ? { text } : { text, command }))
}
