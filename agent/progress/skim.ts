// What is read of a long log: its beginning and its end whole, of what is between ever less, and every piece with a NaN or an infinity. Bounded in memory and, but for passing over the bytes, in time.

/** Read whole at the beginning, and kept back so that the end can be. */
const WHOLE_BYTES = 2 * 2 ** 20
const PIECE_BYTES = 65_536
/** Pieces with a NaN that are read beyond those that are due. */
const MAX_EXTRA = 64
const NOT_FINITE = /\bnan\b|[=: ][-+]?inf(?:inity)?\b/i

export type Skim = { readonly push: (bytes: Uint8Array) => void; readonly end: () => void }

/** `take`: text to read; `gap`: what comes next does not follow what came before. */
export function createSkim(take: (text: string) => void, gap: () => void): Skim {
  const decoder = new TextDecoder()
  /** The newest pieces, not yet read. */
  const kept: Buffer[] = []
  let keptBytes = 0
  let passed = 0
  let dueAt = 0
  let extra = 0
  let skipped = false

  const read = (piece: Buffer): void => {
    if (skipped) {
      decoder.decode()
      gap()
      // The first line is torn.
      const from = piece.findIndex((byte) => byte === 0x0a || byte === 0x0d)
      take(decoder.decode(piece.subarray(from + 1), { stream: true }))
    } else take(decoder.decode(piece, { stream: true }))
    skipped = false
  }
  const due = (piece: Buffer): boolean => {
    if (passed >= dueAt) return true
    if (extra >= MAX_EXTRA || !NOT_FINITE.test(piece.toString('latin1'))) return false
    extra += 1
    return true
  }
  const pass = (piece: Buffer): void => {
    if (due(piece)) {
      read(piece)
      // The further on, the more is left out before the next.
      if (passed >= dueAt) dueAt = passed + piece.length * Math.max(1, Math.floor(passed / WHOLE_BYTES))
    } else skipped = true
    passed += piece.length
  }
  return {
    push(bytes) {
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) kept.push(Buffer.from(bytes.subarray(at, at + PIECE_BYTES)))
      keptBytes += bytes.length
      while (keptBytes - (kept[0]?.length ?? 0) >= WHOLE_BYTES) {
        const [oldest] = kept
        if (oldest === undefined) return
        kept.shift()
        keptBytes -= oldest.length
        pass(oldest)
      }
    },
    end() {
      for (const piece of kept) read(piece)
      kept.length = 0
      take(decoder.decode())
    },
  }
}
