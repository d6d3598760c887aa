// Sizes as compose files write them: 64m, 1.5gb, 8GiB, bytes without a unit; always by 1024.
import { textOf, type Part } from './part.ts'

/** As go-units reads them. */
const SIZE = /^(\d+(?:\.\d+)?) ?([kmgtp])?i?b?$/i

/** undefined: nothing is said, or a variable that is not set here; 'invalid': Compose refuses it. */
export function sizeOf(part: Part | undefined): number | 'invalid' | undefined {
  if (part === undefined || (part.kind === 'scalar' && (!part.known || part.value === null))) return undefined
  const [whole, number = '', unit = ''] = SIZE.exec(textOf(part) ?? '') ?? []
  if (whole === undefined) return 'invalid'
  return Math.floor(Number(number) * 1024 ** ' kmgtp'.indexOf(unit.toLowerCase() || ' '))
}
