// Why a GPU, or all of them, cannot be read: the gaps of the sources of GPUs, told apart by what each means.
import type { Gap } from '../../../model/reading.ts'
import type { Present } from './present.ts'

/** `missing`: the driver does not have it; `hung`: a call does not return; `mismatch`: library and kernel module differ; `failing`: anything else. */
export type TroubleKind = 'missing' | 'hung' | 'mismatch' | 'failing'
export type Trouble = {
  readonly kind: TroubleKind
  /** Unknown for one that hung or was lost before it told its UUID; without an index too it concerns all GPUs. */
  readonly uuid: string | undefined
  readonly index: number | undefined
  readonly gap: Gap
}

/** The metric of a gap that stands for a whole GPU, or for the whole driver when it names none. */
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

/** A sentence of its own. */
export const reasonText = ({ gap: { detail, reason } }: Trouble): string => {
  const text = detail ?? reason.replaceAll('_', ' ')
  return /[.!?]$/.test(text) ? text : `${text}.`
}
