// nvidia-smi's default table as pasted: two lines per GPU, cells between bars.
import { whole } from '../parts/window.ts'

/** `|   0  NVIDIA H800   On  | 00000000:D1:00.0 Off |   0 |` */
const FIRST = /^\W{0,8}(\d{1,3}) {1,4}\S.{4,60}?\| {0,6}([0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]) {1,4}\w{2,3} {0,4}\| {0,24}(\S{1,12})/

export type CardRow = {
  readonly index: number
  readonly pci: string
  /** Uncorrected ECC errors; absent when the cell holds no number. */ readonly uncorrected: number | undefined
}

export function cardRow(line: string): CardRow | undefined {
  const match = FIRST.exec(line)
  const index = whole(match?.[1])
  if (match?.[2] === undefined || index === undefined) return undefined
  return { index, pci: match[2], uncorrected: whole(match[3]) }
}

export type Broken = 'card' | 'fan'

/**
 * What `ERR!` in a card's second line means. Fan, temperature and power are in the first cell: two that cannot be read are a card that
 * does not answer, the fan's alone is the fan. In the last cell it is only the utilisation, which some drivers under WSL2 cannot tell.
 */
export function brokenIn(line: string): Broken | undefined {
  const first = line.replace(/^[^|]{0,20}\|/, '').split('|')[0] ?? ''
  const errors = first.split('ERR!').length - 1
  if (errors >= 2) return 'card'
  return errors === 1 && /^ {0,4}ERR!/.test(first) ? 'fan' : undefined
}
