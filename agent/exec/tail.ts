// The last bytes of an output, in as much memory as that, whatever passes.
export type Tail = {
  readonly keep: (chunk: Buffer) => void
  /** Of all that passed. */
  readonly total: () => number
  readonly tail: () => Buffer
}

export function createTail(bytes: number): Tail {
  const ring = Buffer.allocUnsafeSlow(bytes)
  let total = 0
  return {
    keep(chunk) {
      const end = chunk.subarray(-bytes)
      const at = (total + chunk.length - end.length) % bytes
      const split = Math.min(end.length, bytes - at)
      end.copy(ring, at, 0, split)
      end.copy(ring, 0, split)
      total += chunk.length
    },
    total: () => total,
    tail: () => (total <= bytes ? Buffer.from(ring.subarray(0, total)) : Buffer.concat([ring.subarray(total % bytes), ring.subarray(0, total % bytes)])),
  }
}
