// What a section of the screen is: a table with a title, whose cells may be bars and curves as wide as their column turns out.
import type { Style } from '../terminal/look.ts'

export type Segment = { readonly text: string; readonly style?: Style }
/** Text, styled parts, or what is drawn once the width is known. */
export type Cell = string | readonly Segment[] | ((width: number) => readonly Segment[])
export type Column = {
  readonly title: string
  /** At least so wide. */
  readonly width: number
  /** How much of the room that is left it takes. */
  readonly grow?: number
  /** At most so wide. */
  readonly most?: number
  readonly right?: true
  /** Left out on narrow terminals: the highest first. */
  readonly drop?: number
}
export type Row = {
  /** The same over the seconds, so that a selection stays. */
  readonly key: string
  readonly cells: readonly Cell[]
  /** What each column is sorted by; undefined comes last. */
  readonly values: readonly (string | number | undefined)[]
  /** What search and filter look at. */
  readonly text: string
  readonly dim?: boolean
}
export const SECTION_IDS = ['hosts', 'gpus', 'incidents', 'jobs', 'servers', 'processes'] as const
export type SectionId = (typeof SECTION_IDS)[number]
export type Section = {
  readonly id: SectionId
  readonly title: string
  readonly columns: readonly Column[]
  readonly rows: readonly Row[]
  /** Rows that it gets before others get more. */
  readonly least: number
  /** The column by which it is sorted until the user says otherwise; absent: as it comes. */
  readonly sortedBy?: number
}

export const UNKNOWN = '–'
export const orUnknown = <T>(value: T | undefined, text: (value: T) => string): string => (value === undefined ? UNKNOWN : text(value))
