// xFormers lists why it cannot use each of its operators: one reason counts only where all of them have it.
import type { Seen } from './rules.ts'
import { around } from './window.ts'

const TOO_OLD = /too old|requires a GPU with compute capability/

/** True where some operator fails for another reason than the age of the GPU. */
export function notTheGpuAlone({ text, at }: Pick<Seen, 'text' | 'at'>): boolean {
  const [, ...operators] = around(text, at, 24, 24).split(/is not supported because:/)
  return operators.some((reasons) => !TOO_OLD.test(reasons) || /build with CUDA/.test(reasons))
}
