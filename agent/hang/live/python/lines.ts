// From the instruction at which a frame stands to its line: the three tables that CPython has had.

/** 3.8 and 3.9: pairs of a step in bytes and a step in lines. */
function byLnotab(table: Uint8Array, first: number, at: number): number {
  let [line, address] = [first, 0]
  for (let i = 0; i + 1 < table.length; i += 2) {
    address += table[i] ?? 0
    if (address > at) break
    const step = table[i + 1] ?? 0
    line += step >= 128 ? step - 256 : step
  }
  return line
}

/** 3.10: pairs of a length in bytes and a step in lines, −128 for instructions without a line. */
function byLineTable(table: Uint8Array, first: number, at: number): number {
  let [line, address] = [first, 0]
  for (let i = 0; i + 1 < table.length; i += 2) {
    const step = table[i + 1] ?? 0
    if (step !== 128) line += step >= 128 ? step - 256 : step
    address += table[i] ?? 0
    if (at < address) break
  }
  return line
}

/** From 3.11 on (PEP 657): entries of a length in code units and a code that says how line and columns follow. */
function byLocations(table: Uint8Array, first: number, unit: number): number {
  let [i, line, position] = [0, first, 0]
  const number = (): number => {
    let [value, shift, byte] = [0, 0, 0]
    do {
      byte = table[i] ?? 0
      i += 1
      value += (byte & 63) * 2 ** shift
      shift += 6
    } while ((byte & 64) !== 0 && shift < 30)
    return value
  }
  const signed = (): number => {
    const value = number()
    return value % 2 === 1 ? -(value >>> 1) : value >>> 1
  }
  while (i < table.length) {
    const head = table[i] ?? 0
    i += 1
    const code = (head >> 3) & 15
    if (code === 14) {
      line += signed()
      number()
      number()
      number()
    } else if (code === 13) line += signed()
    else if (code >= 10 && code <= 12) {
      line += code - 10
      i += 2
    } else if (code < 10) i += 1
    position += (head & 7) + 1
    if (unit < position) return line
  }
  return line
}

/** `at`: bytes from the first instruction. */
export function lineAt(minor: number, table: Uint8Array, first: number, at: number): number {
  if (at < 0) return first
  if (minor <= 9) return byLnotab(table, first, at)
  return minor === 10 ? byLineTable(table, first, at) : byLocations(table, first, Math.floor(at / 2))
}
