// Xids 144 to 150: NVLink of the Blackwell generation. One number covers harmless and fatal events; unit, severity word and registers tell.
import type { Severity } from '../../model/severity.ts'
import { shared, span, type XidTable } from './entry.ts'

export const NVLINK5: XidTable = shared(span(144, 150), {
  title: 'NVLink error (fifth generation)',
  meaning: 'A unit of the NVLink interface reports an event; the number says only which block, from harmless to fatal.',
  causes: ['hardware', 'bus'],
  severity: 'warning',
  action: 'decode-nvlink',
})

/** `RLW_REMAP Nonfatal XC0 i0 Link 02 (0x000014e3 0x00000040 …)`, in older drivers `SAW fatal 0 0 Link 2 (000014e3, 00000040, …)`: unit, severity, link, then intrInfo and errorStatus. */
const EVENT =
  /\b([A-Z]{2,6}(?:_[A-Z0-9]{2,12}){0,3}) {1,4}([Nn]on-?[Ff]atal|[Ff]atal|FATAL)\b(?:.{0,24}?\bLink (\d{1,2}|-1))?(?:[^(]{0,24}\((?:0x)?([0-9a-fA-F]{8})[, ]{1,2}(?:0x)?([0-9a-fA-F]{8}))?/

/** Why a link went down, bits 20 to 25 of intrInfo in NETIR_LINK_EVT: groups that ask for the same. */
const LINK_DOWN: readonly (readonly [reasons: readonly number[], text: string])[] = [
  [[0x02, 0x04, 0x0a], 'the quality of its signal'],
  [[0x2a, 0x2b], 'the quality of its signal or its cable'],
  [[0x0f, 0x11, 0x16, 0x26], 'a request of software or of a user'],
  [[0x10, 0x12], 'a request of software, or the quality of its signal'],
  [[0x15, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25], 'the device at its far end'],
  [[0x28], 'the host'],
]
/** Reasons after which nothing is to be done for this GPU. */
const HARMLESS_DOWN = new Set([0x26, 0x28])

export type NvlinkEvent = {
  readonly unit: string
  readonly fatal: boolean
  readonly link?: number
  readonly severity: Severity
  readonly text: string
}

/** What the message of an Xid 144 to 150 says, or undefined when it does not follow the known form. */
export function decodeNvlink5(message: string): NvlinkEvent | undefined {
  const match = EVENT.exec(message)
  const unit = match?.[1]
  if (match === null || unit === undefined) return undefined
  const fatal = /^fatal$/i.test(match[2] ?? '')
  const link = match[3] === undefined || match[3] === '-1' ? undefined : Number(match[3])
  const reason = unit === 'NETIR_LINK_EVT' && match[4] !== undefined ? (Number.parseInt(match[4], 16) >>> 20) & 0x3f : undefined
  const why = reason === undefined ? undefined : LINK_DOWN.find(([reasons]) => reasons.includes(reason))?.[1]
  const harmless = !fatal || (reason !== undefined && HARMLESS_DOWN.has(reason))
  const where = link === undefined ? '' : ` on link ${link}`
  return {
    unit,
    fatal,
    ...(link === undefined ? {} : { link }),
    severity: harmless ? 'warning' : 'critical',
    text: fatal
      ? `${unit} reports a fatal event${where}${why === undefined ? '' : `, caused by ${why}`}${harmless ? '; the GPU needs no reset' : '; the GPU needs a reset'}.`
      : `${unit} reports an event that is not fatal${where}; work goes on.`,
  }
}
