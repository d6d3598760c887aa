// How a sampler child ended, as text: which GPU and function it was in.
import { functionName } from '../nvml/names.ts'
import { secondsText } from '../text/span.ts'
import type { ChildEnd } from './child-handle.ts'

export type ChildEndText = {
  /** The GPU to blame, where the call in flight names one. */
  readonly gpu: number | undefined
  readonly function: string
  readonly detail: string
}

export function childEndText(end: ChildEnd): ChildEndText {
  const noCall = { gpu: undefined, function: 'unknown' }
  if (end.kind === 'failed') return { ...noCall, detail: end.failed.detail }
  if (end.kind === 'stopped') return { ...noCall, detail: 'the sampler process was stopped from outside (SIGSTOP or a debugger)' }
  if (end.kind === 'garbage') return { ...noCall, detail: `the sampler process sent an invalid message: ${end.detail}` }
  const { call } = end
  const name = call === undefined ? 'unknown' : (call.part ?? functionName(call.functionOrdinal) ?? `NVML function ${call.functionOrdinal}`)
  const place =
    call === undefined ? undefined : `${call.part === undefined ? name : `the reading of ${name}`}${call.gpu === undefined ? '' : ` on GPU ${call.gpu}`}`
  const detail =
    end.kind === 'hang'
      ? `${place ?? 'the sampler process'} did not return within ${secondsText(end.waitedMs)}`
      : `the sampler process ${end.detail}${place === undefined ? '' : `, in ${place}`}`
  return { gpu: call?.gpu, function: name, detail }
}
