// What was being written when a disk was full, as the lines around the error show: the folder of a checkpoint, the step of an image's build.
import { around } from './window.ts'
import type { Seen } from './rules.ts'

const SAVES =
  /\b(?:[Ss]aving (?:model )?(?:checkpoint|model|state) to|[Cc]onfiguration saved in|[Mm]odel weights saved in|[Ww]riting checkpoint to) ["']?((?:\.{0,2}\/)?[\w@+-][\w./@+=-]{1,200}|\/[\w./@+=-]{1,200})/
const TORCH_SAVE = /PytorchStreamWriter|unexpected pos|iostream error|serialization\.py/
/** Named by the trainer in the lines above: torch.save names no file. */
export function checkpointFolder({ text, at }: Pick<Seen, 'text' | 'at'>): string | undefined {
  if (!TORCH_SAVE.test(around(text, at, 8, 2))) return undefined
  for (let line = at; line >= 0 && line > at - 40; line -= 1) {
    const named = SAVES.exec(text[line] ?? '')?.[1]
    if (named !== undefined) return named.replace(/\.+$/, '').replace(/\/[\w.-]{1,80}\.(?:json|bin|safetensors|pt|pth)$/, '')
  }
  return undefined
}
/** BuildKit marks the step, or names its command. */
const STEP = /^ {0,4}\d{1,4} \| {1,2}>>> RUN ([^\n]{3,100})$|failed to solve: process "\/bin\/(?:ba)?sh -c ([^"\n]{3,100})"/m
export function buildStep(log: string): string {
  const [, marked, named] = STEP.exec(log) ?? []
  const step = marked ?? named
  return step === undefined ? '' : ` in the build of an image (step "${step.trim()}")`
}
