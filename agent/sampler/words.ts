// Says for a person how a sampler child ended, and which GPU and function it was in.
import { functionName } from '../nvml/names.ts'
import { secondsText } from '../text/span.ts'
import type { ChildEnd } from './child-process.ts'

export type EndWords = {
  /** The GPU to blame, where the last words name one. */
  readonly gpu: number | undefined
  readonly function: string
  readonly detail: string
}

export function describeEnd(end: ChildEnd): EndWords {
  const nobody = { gpu: undefined, function: 'unknown' }
  if (end.kind === 'failed') return { ...nobody, detail: end.failed.detail }
  if (end.kind === 'stopped') return { ...nobody, detail: 'the sampler process was stopped from outside (SIGSTOP or a debugger)' }
  if (end.kind === 'garbage') return { ...nobody, detail: `the sampler process spoke garbage: ${end.detail}` }
  const { words } = end
  const name = words === undefined ? 'unknown' : (functionName(words.functionOrdinal) ?? `NVML function ${words.functionOrdinal}`)
  const place = words === undefined ? undefined : `${name}${words.gpu === undefined ? '' : ` on GPU ${words.gpu}`}`
  const detail =
    end.kind === 'hang'
      ? `${place ?? 'the sampler process'} did not return within ${secondsText(end.waitedMs)}`
      : `the sampler process ${end.detail}${place === undefined ? '' : `, in ${place}`}`
  return { gpu: words?.gpu, function: name, detail }
}
