// /props and /slots of llama-server, be it started by a person or, for each model, by Ollama from 0.30 on.
import * as z from 'zod/mini'
import type { Known } from '../family.ts'
import { amount, flag, listOf, part, readJson, words } from '../json-page.ts'
import { figures, type ServerFigures } from '../model.ts'

const props = z.object({
  role: words,
  build_info: words,
  is_sleeping: flag,
  total_slots: amount,
  model_alias: words,
  model_path: words,
  model_ftype: words,
  default_generation_settings: part(z.object({ n_ctx: amount })),
})
/** Of a file that does not name its type: `(guessed) all F32`. */
export const typeOf = (text: string | undefined): string | undefined => text?.replace(/^\(guessed\) /, '')
export const fileOf = (path: string | undefined): string | undefined => path?.split(/[\\/]/).at(-1)

export function readProps(body: string): ServerFigures | undefined {
  const found = readJson(body, props)
  if (found === undefined) return undefined
  const { role, build_info: version, is_sleeping: asleep, total_slots: slots, default_generation_settings: settings } = found
  if (role === 'router') return figures({ router: true, version, state: 'ready' })
  if (slots === undefined && version === undefined) return undefined
  // Newer ones give the path as the name of what has none.
  const model = found.model_alias === found.model_path ? fileOf(found.model_path) : (found.model_alias ?? fileOf(found.model_path))
  return figures({
    version,
    models: model === undefined ? undefined : [model],
    quantization: typeOf(found.model_ftype),
    context: settings?.n_ctx,
    state: asleep === true ? 'sleeping' : 'ready',
  })
}

/** Slots share one cache unless their number was given; what is not known of a command line is not guessed. */
function sharesOneCache({ argv }: Known): boolean | undefined {
  if (argv.length === 0) return undefined
  if (argv.some((word) => word === '-kvu' || word === '--kv-unified')) return true
  return !argv.some((word) => /^(?:-np|--parallel)(?:=|$)/.test(word))
}

// Only numbers: builds up to b6000 put the prompt's text on this page.
const slots = listOf(z.object({ n_ctx: amount, is_processing: flag, state: amount, n_prompt_tokens: amount }))
export function readSlots(body: string, known: Known): ServerFigures | undefined {
  // Up to b3800 a slot has a state instead: 0 is idle.
  const found = readJson(body, slots)?.map(({ state, is_processing: isBusy = state === undefined ? undefined : state !== 0, ...slot }) => ({ ...slot, isBusy }))
  if (found === undefined || found.length === 0) return undefined
  const contexts = found.flatMap(({ n_ctx: length }) => length ?? [])
  const oneCache = found.length === 1 ? false : sharesOneCache(known)
  const capacity =
    contexts.length !== found.length || oneCache === undefined ? undefined : oneCache ? Math.max(...contexts) : contexts.reduce((sum, each) => sum + each, 0)
  const busy = found.filter(({ isBusy }) => isBusy === true)
  const tokens = busy.map(({ n_prompt_tokens: count }) => count)
  const used = tokens.reduce<number | undefined>((sum, count) => (sum === undefined || count === undefined ? undefined : sum + count), 0)
  return figures({
    running: found.every(({ isBusy }) => isBusy !== undefined) ? busy.length : undefined,
    context: contexts[0],
    kvCapacityTokens: capacity,
    kvUsage: capacity === undefined || capacity <= 0 || used === undefined ? undefined : Math.min(1, used / capacity),
  })
}
