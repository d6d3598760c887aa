// `nvidia-smi -q` and its XML, line by line: which fields show a fault. Also of parts of it that someone pasted.
import type { LogText } from '../family.ts'
import { whole } from '../parts/window.ts'

export type Field = { readonly key: string; readonly value: string }

const TEXT = /^[\s#>|*$]{0,60}([A-Z][\w /.()-]{1,60}?)\s{0,40}:\s{1,8}([^\s<←][^<←]{0,60}?)\s{0,40}(?:[<←]|$)/
const XML = /<([a-z][a-z0-9_]{2,60})>\s{0,8}([^<]{1,60}?)\s{0,8}<\//

/** Key in lower case with underscores, as the XML writes it. */
export function fieldOf(line: string): Field | undefined {
  const match = XML.exec(line) ?? TEXT.exec(line)
  return match?.[1] === undefined || match[2] === undefined
    ? undefined
    : {
        key: match[1]
          .trim()
          .toLowerCase()
          .replace(/[ /-]{1,4}/g, '_'),
        value: match[2].trim(),
      }
}

// `GPU 00000000:1A:00.0` heads a card's part of the text, `<gpu id="…">` of the XML.
const CARD = /^\s{0,8}GPU ([0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7])\s*$|<gpu id="([0-9a-fA-F:.]{10,20})"/
export const cardOf = (line: string): string | undefined => {
  const match = CARD.exec(line)
  return match?.[1] ?? match?.[2]
}

/** A card's whole report has 350 lines at most; from a part that was pasted, much less. */
const REACH = 60

/** Boards before Turing count by single and double bit errors, under headings of their own. */
const BITS = /^\W{0,60}(Single|Double) Bit\s*$|<(single|double)_bit>/

export type Part = { readonly fields: readonly (Field & { readonly line: number })[]; readonly card: string | undefined; readonly index?: number | undefined }

/** The command that was pasted with its answer. */
const ASKED = /\bnvidia-smi [^\n]{0,80}?(?:-i|--id)[= ](\d{1,3})\b/

/** The fields from `at` to the end of its card's part, and the address of the card, where it is above. */
export function partFrom(text: LogText, at: number): Part {
  const fields: (Field & { line: number })[] = []
  let bits: string | undefined
  for (let line = at; line < text.length && line < at + REACH; line++) {
    const content = text[line] ?? ''
    if (line > at && cardOf(content) !== undefined) break
    const heading = BITS.exec(content)
    if (heading !== null) bits = (heading[1] ?? heading[2] ?? '').toLowerCase()
    const field = fieldOf(content)
    if (field !== undefined) fields.push({ ...field, key: bits !== undefined && field.key === 'total' ? `${bits}_bit_total` : field.key, line })
    else if (heading === null) bits = undefined
  }
  for (let line = at; line >= 0 && line > at - 400; line--) {
    const card = cardOf(text[line] ?? '')
    if (card !== undefined) return { fields, card }
    const asked = ASKED.exec(text[line] ?? '')?.[1]
    if (asked !== undefined) return { fields, card, index: whole(asked) }
  }
  return { fields, card: undefined }
}

/** Field names of the slow-down reasons, in text, XML and CSV; named as nvidia-smi's text does. */
export const REASONS: Readonly<Record<string, string>> = {
  hw_slowdown: 'HW Slowdown',
  hw_thermal_slowdown: 'HW Thermal Slowdown',
  hw_power_brake_slowdown: 'HW Power Brake Slowdown',
  sw_thermal_slowdown: 'SW Thermal Slowdown',
  sw_power_cap: 'SW Power Cap',
}
export const reasonOf = (key: string): string | undefined =>
  REASONS[key.replace(/^clocks_(?:throttle|event)_reasons?_/, '').replace(/^clocks_(?:throttle|event)_reasons\./, '')]

/** What a field says of damaged memory, or undefined. */
export function memoryFault({ key, value }: Field): string | undefined {
  if (/^(?:sram|dram)_uncorrectable/.test(key))
    return /^[1-9]\d{0,11}$/.test(value) ? `${key.slice(0, 4).toUpperCase()} uncorrectable errors: ${value}` : undefined
  if (key === 'double_bit_total') return /^[1-9]\d{0,11}$/.test(value) ? `double bit errors: ${value}` : undefined
  if (value !== 'Yes') return undefined
  if (key === 'pending' || key === 'remapped_row_pending') return 'row remap pending: GPU reset required'
  if (/^remapping_failure_occurred|^remapped_row_failure/.test(key)) return 'a row remap failed'
  if (/^pending_(?:page_blacklist|retirement|blacklist)|^page_retirement_pending/.test(key)) return 'page retirement pending: GPU reset required'
  if (key.startsWith('sram_threshold_exceeded')) return 'the threshold of on-chip errors is exceeded'
  return undefined
}
