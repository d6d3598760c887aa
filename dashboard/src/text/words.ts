// Machine words in a person's words: why a GPU slows down, why something could not be read.
import { throttleWord } from '../../../agent/text/throttle.ts'

export type Throttle = { readonly reason: string; readonly text: string; readonly harmful: boolean }

/** The reasons that hold right now, harmful ones first; idling is no throttling. */
export function activeThrottles(active: Readonly<Record<string, number>> | undefined): readonly Throttle[] {
  const found: Throttle[] = []
  for (const [reason, value] of Object.entries(active ?? {})) {
    if (value === 0 || reason === 'gpu_idle' || reason === 'idle') continue
    found.push({ reason, ...throttleWord(reason) })
  }
  // `hw_slowdown` is NVML's umbrella over the heat and brake reasons: beside one of those it says nothing.
  const precise = found.some((throttle) => throttle.harmful && throttle.reason !== 'hw_slowdown')
  return found
    .filter((throttle) => !(precise && throttle.reason === 'hw_slowdown'))
    .sort((a, b) => Number(b.harmful) - Number(a.harmful) || (a.text < b.text ? -1 : 1))
}

const GAP: Readonly<Record<string, string>> = {
  not_supported: 'not supported here',
  no_permission: 'no permission to read it',
  gpu_lost: 'the GPU is lost',
  reset_required: 'the GPU needs a reset',
  timeout: 'the driver does not answer',
  driver_error: 'the driver reports an error',
  parse_error: 'its answer could not be understood',
}

/** A gap's reason in words; a detail, where there is one, says more. */
export const gapText = (reason: string): string => GAP[reason] ?? reason.replaceAll('_', ' ')
