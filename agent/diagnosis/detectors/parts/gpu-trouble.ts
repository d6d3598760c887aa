// Why a GPU, or all of them, cannot be read: the gaps of the GPU sources, sorted by what each means.
import type { Gap } from '../../../model/reading.ts'
import type { Present } from './present.ts'

/** `missing`: the driver does not have it; `hung`: a call does not return; `mismatch`: library and kernel module differ; `failing`: anything else. */
export type TroubleKind = 'missing' | 'hung' | 'mismatch' | 'failing'
export type Trouble = {
  readonly kind: TroubleKind
  /** Unknown for a GPU that hung or was lost before its UUID was read; where the index is unknown too, all GPUs are affected. */
  readonly uuid: string | undefined
  readonly index: number | undefined
  readonly gap: Gap
}

type Card = { readonly uuid: string; readonly index: number; readonly now: { readonly used?: number | undefined } }

/** The metric of a gap that means a whole GPU, or for the whole driver when it names none. */
const WHOLE = 'gpu'
/** NVML_ERROR_LIB_RM_VERSION_MISMATCH (nvml.h). */
const LIB_RM_VERSION_MISMATCH = 18
const NONE: readonly never[] = []

function kindOf({ reason, code }: Gap): TroubleKind {
  if (code === LIB_RM_VERSION_MISMATCH) return 'mismatch'
  if (reason === 'timeout') return 'hung'
  return reason === 'gpu_lost' || reason === 'reset_required' ? 'missing' : 'failing'
}

/** Nothing is made where all is well. */
export function troublesOf(present: Present): readonly Trouble[] {
  const gaps = present.gapsOf(WHOLE)
  if (gaps.length === 0) return NONE
  return gaps.map((gap) => {
    const { uuid, gpu } = gap.labels
    return { kind: kindOf(gap), uuid, index: gpu === undefined ? undefined : Number(gpu), gap }
  })
}

export const isWide = ({ uuid, index }: Trouble): boolean => uuid === undefined && index === undefined

export const concernsGpu = (trouble: Trouble, uuid: string, index: number): boolean =>
  trouble.uuid === undefined ? trouble.index === index : trouble.uuid === uuid

/** A GPU reported by its index alone may be known by its UUID from another source. */
export function isKnown({ uuid, index }: Trouble, cards: ReadonlyMap<string, Card>): boolean {
  if (uuid !== undefined) return cards.has(uuid)
  for (const card of cards.values()) if (card.index === index) return true
  return false
}

/** The card that has this number and is not read. */
export function unreadAt(cards: ReadonlyMap<string, Card>, index: number | undefined): string | undefined {
  for (const card of cards.values()) if (card.index === index && card.now.used === undefined) return card.uuid
  return undefined
}

/** A sentence of its own, or the end of one. */
export const reasonText = ({ gap: { detail, reason } }: Trouble, place: 'sentence' | 'end' = 'sentence'): string => {
  const text = detail ?? reason.replaceAll('_', ' ')
  // A name of the driver's, such as nvmlInit_v2 or libnvidia-ml.so.1, stays as it is written.
  const sentence = place === 'sentence' ? text.replace(/^[a-z](?=[a-z]*(?:[ ,]|$))/, (first) => first.toUpperCase()) : text
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`
}
