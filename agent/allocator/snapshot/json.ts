// JSON of a snapshot: counted before it is parsed, so that a small hostile file cannot take all memory.
import { messageOf } from '../../text/error.ts'
import { quoted, SnapshotError } from './error.ts'
import { LIMITS } from './limits.ts'
import { utf8Text } from './text.ts'

/** JSON becomes text first, and V8 holds at most 512 MiB of it. */
export const MAX_JSON_BYTES = 256 * 2 ** 20
const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]

function assertWithinLimits(bytes: Uint8Array): void {
  let [depth, containers, commas, inText] = [0, 0, 0, false]
  for (let i = 0; i < bytes.length; i += 1) {
    const byte = bytes[i]
    if (inText) {
      if (byte === BACKSLASH) i += 1
      else if (byte === QUOTE) inText = false
    } else if (byte === QUOTE) inText = true
    else if (byte === COMMA) commas += 1
    else if (byte === 0x5b || byte === 0x7b) {
      containers += 1
      depth += 1
      if (depth > LIMITS.marks) throw new SnapshotError(`more than ${LIMITS.marks} lists and objects inside each other, at byte ${i}: too deep to read`)
    } else if (byte === 0x5d || byte === 0x7d) depth -= 1
  }
  if (containers > LIMITS.containers || commas > LIMITS.values)
    throw new SnapshotError(`more than ${LIMITS.containers} lists and objects or ${LIMITS.values} values: too large to read`)
}

export function readJson(bytes: Uint8Array): unknown {
  if (bytes.length > MAX_JSON_BYTES) throw new SnapshotError(`${bytes.length} bytes of JSON: too large to read, at most ${MAX_JSON_BYTES}`)
  assertWithinLimits(bytes)
  try {
    return JSON.parse(utf8Text(bytes))
  } catch (error) {
    const said = quoted(messageOf(error), 120)
    throw new SnapshotError(`not valid JSON: ${said}`, { cause: error })
  }
}
