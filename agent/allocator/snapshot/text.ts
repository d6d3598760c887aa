// Bytes of a file as text, with what Node and a browser both have: the dashboard reads snapshots too.

/** What is no UTF-8 becomes U+FFFD; a byte order mark stays, as it would be part of a name. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
/** Up to here a loop is faster than a call of the decoder. */
const SHORT = 24

export function utf8Text(bytes: Uint8Array, from = 0, to = bytes.length): string {
  if (to - from > SHORT) return decoder.decode(bytes.subarray(from, to))
  let text = ''
  for (let i = from; i < to; i += 1) {
    const byte = bytes[i] ?? 0
    if (byte > 0x7f) return decoder.decode(bytes.subarray(from, to))
    text += String.fromCharCode(byte)
  }
  return text
}

/** A character for each byte: for what may be no text at all. */
export const latin1Text = (bytes: Uint8Array): string => String.fromCharCode(...bytes)
