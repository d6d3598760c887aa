// What a text says of a GPU that a build does not support.
import type { Seen } from './rules.ts'
import type { Situation } from '../../situation/situation.ts'
import { around } from './window.ts'

/** xFormers lists why it cannot use each of its operators: one reason counts only where all of them have it. */
const TOO_OLD = /too old|requires a GPU with compute capability/

/** True where some operator fails for another reason than the age of the GPU. */
export function notTheGpuAlone({ text, at }: Pick<Seen, 'text' | 'at'>): boolean {
  const [, ...operators] = around(text, at, 24, 24).split(/is not supported because:/)
  return operators.some((reasons) => !TOO_OLD.test(reasons) || /build with CUDA/.test(reasons))
}

/** The GPU that PyTorch warned of when CUDA started. */
export function warnedOf({ text }: Situation): string | undefined {
  const found = /Found GPU\d{1,2} ([^\n]{3,40}) which is of (?:compute|cuda) capability (?:\(CC\) )?(\d{1,2}\.\d)([^]{0,120} too old)?/.exec(text)
  return found === null ? undefined : `the ${found[1]} (compute capability ${found[2]})${found[3] === undefined ? '' : ', which is too old for it'}`
}
