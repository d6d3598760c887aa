// Logs in UTF-16, as PowerShell 5 writes with `>`: read as every other.

/** The byte order mark, or, without one, letters with a zero byte each. */
function encodingOf(head: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be'
  const pairs = Math.min(head.length >> 1, 64)
  if (pairs < 4) return undefined
  let [even, odd] = [0, 0]
  for (let at = 0; at < pairs * 2; at += 2) {
    if (head[at] === 0) even += 1
    if (head[at + 1] === 0) odd += 1
  }
  if (odd > 0.7 * pairs && even === 0) return 'utf-16le'
  return even > 0.7 * pairs && odd === 0 ? 'utf-16be' : undefined
}

/** The same bytes where they are not UTF-16. A piece holds until the next is asked for. */
export function* asUtf8(chunks: Iterable<Uint8Array>): Generator<Uint8Array> {
  const encoder = new TextEncoder()
  let decode: ((chunk?: Uint8Array) => string) | undefined
  let isFirst = true
  for (const chunk of chunks) {
    if (isFirst) {
      const encoding = encodingOf(chunk)
      if (encoding !== undefined) {
        const decoder = new TextDecoder(encoding)
        decode = (more) => decoder.decode(more, { stream: more !== undefined })
      }
    }
    isFirst = false
    yield decode === undefined ? chunk : encoder.encode(decode(chunk))
  }
  if (decode !== undefined) yield encoder.encode(decode())
}
