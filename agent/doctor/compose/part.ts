// The parts of compose files as plain data that knows where each of it is written, also after files were merged, extended and included.
import type { Finding } from '../definition.ts'

/** `line` 0: the file as a whole. */
export type Place = { readonly file: string; readonly line: number }
export type Scalar = string | number | boolean | null
export type PlainPart = {
  readonly kind: 'scalar'
  readonly value: Scalar
  /** What is written in the file itself: with the defaults of its variables, without their values. */
  readonly literal: Scalar
  /** false: it depends on a variable that is not set here, so its value is not known. */
  readonly known: boolean
}
export type MapPart = { readonly kind: 'map'; readonly entries: ReadonlyMap<string, Part> }
export type ListPart = { readonly kind: 'list'; readonly items: readonly Part[] }
/** `line` of a map's value is that of its key: that is where a reader looks. */
export type Part = Place & { readonly tag?: 'reset' | 'override' } & (PlainPart | MapPart | ListPart)

export type Problem = Place & { readonly status: 'fail' | 'warn'; readonly message: string; readonly remedy: string }

const NONE: ReadonlyMap<string, Part> = new Map()
export const entriesOf = (part: Part | undefined): ReadonlyMap<string, Part> => (part?.kind === 'map' ? part.entries : NONE)
export const itemsOf = (part: Part | undefined): readonly Part[] => (part?.kind === 'list' ? part.items : [])

/** What is there; undefined where nothing does. */
export function at(part: Part | undefined, ...path: readonly string[]): Part | undefined {
  let here = part
  for (const key of path) here = entriesOf(here).get(key)
  return here
}
/** Of a scalar whose value is known and not null. */
export function textOf(part: Part | undefined): string | undefined {
  return part?.kind === 'scalar' && part.known && part.value !== null ? String(part.value) : undefined
}
/** One text, or a list of some, as Compose takes `env_file`, `tmpfs`, `command`. */
export const textsOf = (part: Part | undefined): readonly string[] =>
  (part?.kind === 'list' ? part.items : part === undefined ? [] : [part]).map(textOf).filter((text) => text !== undefined)

const FOLDERS = /^.*[/\\]/
/** What the file has, without its value: that may be a secret. */
export const kindOf = (part: Part): string => {
  if (part.kind === 'map') return 'a map'
  if (part.kind === 'list') return 'a list'
  return part.value === null ? 'nothing' : typeof part.value === 'string' ? 'text' : `a ${typeof part.value}`
}
export const placeText = ({ file, line }: Place): string => (line === 0 ? file : `${file}:${line}`)
/** `compose.yml:12 trainer` */
export const subjectOf = (place: Place, service?: string): string => `${placeText(place)}${service === undefined ? '' : ` ${service}`}`
export const problemFinding = ({ status, message, remedy, ...place }: Problem): Finding => ({
  status,
  subject: placeText(place),
  summary: message,
  remedies: [{ text: remedy }],
})
export const baseName = (path: string): string => path.replace(FOLDERS, '')
