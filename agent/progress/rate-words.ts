// What the words of a name say of a rate or of the time of a step: of each name once.
import { memo } from './memo.ts'
import { lookup } from '../text/lookup.ts'
import type { Field } from './fields.ts'
import { rateOf } from './quantity.ts'
import type { Role } from './roles.ts'

const KNOWN_RATES: Readonly<Record<string, string>> = {
  tps: 'tokens/s',
  wps: 'tokens/s',
  tgs: 'tokens/s',
  ups: 'it/s',
  fps: 'frames/s',
  'env sps': 'frames/s',
  sps: 'steps/s',
  throughput: 'samples/s',
}

/** Units that a name spells out: `steps per second`, `sec per iter`, `throughput samples`. */
export const rateWords = memo((words) => {
  const spelled =
    /(?:^|\s)((?:env |global |train |gradient |opt |optimizer )?[a-z#]+) (?:per |a |\/ ?)?(s|sec|second|seconds|min|minute|hour)(?: (?:per )?(?:device|gpu|rank|chip|thread|worker|core|node))?$/.exec(
      words,
    )
  // `time this iter s`: a time, in seconds.
  const none = spelled === null || (/\b(?:time|duration|took|elapsed)\b/.test(words) && !/\bper\b/.test(words))
  const slow = /(?:^|\s)(ms|us|s|sec|secs|seconds) (?:per |a |\/ ?)?(step|it|iter|iteration|batch|b|tick|update|sample|token|image|img)$/.exec(words)
  const through = /^(?:train |avg )?throughput ([a-z]+)$/.exec(words)?.[1]
  return {
    foreign: /\b(?:prompt|input|prefill|flops|tflops|gb|mb|kb|bytes|io|requests?|cache hit)\b/.test(words),
    spelled: none ? undefined : `${spelled?.[1]?.replace(/^(?:train|opt|optimizer|gradient) /, '')}/${spelled?.[2]}`,
    slow: slow === null ? undefined : `${slow[1]}/${slow[2]}`,
    through: through === undefined ? undefined : `${through}/s`,
    known:
      lookup(KNOWN_RATES, words) ??
      (/^(?:avg |train |mean )?(?:tps|wps|tgs|ups|fps)$/.test(words) ? lookup(KNOWN_RATES, words.split(' ').at(-1) ?? '') : undefined),
  }
})

const STEP_TIME =
  /(?:^|\s)(?:(?:step|iter|iteration|batch|update|train step|forward backward|train iter|tick) (?:time(?: cost| taken)?|timing|duration|cost|dur|secs|seconds|ms)|(?:time|seconds|sec|secs|ms|dt|sec)(?: (?:per|a|an) (?:step|iter|iteration|batch|update|it|tick|global step))?|time (?:this |each )?(?:step|iter|batch|it|update|iteration)(?: (?:s|sec|secs|seconds|ms))?|dt|elapsed time per (?:step|iteration|iter|batch)|step time|btime|updt s|(?:zeit|dauer) (?:pro|je) (?:schritt|iteration|batch)|temps par (?:étape|itération|pas|lot)|tiempo por (?:paso|iteración|lote)|tempo per (?:passo|iterazione)|tempo por (?:passo|iteração)|train time|secs|t step|t it|t iter|t batch|s step|s it|s iter|sec iter|sec step|sec batch|ms it|ms step|ms iter|took|in|takes|timer)(?: (?:in )?(?:m?s|secs?|seconds))?$/
const NO_STEP_TIME =
  /\b(?:data|reader|load\w*|test|testing|evaluation|validation|inference|wait|forward|fwd|backward|bwd|optim\w*|collection|learning|comm|eval|val|save|saving|epoch|total|est|estimated|queue|prompt|prefill|io|loader|sync|allreduce|last)\b/
/** `step avg`, `iter mean`: a time by its unit alone. */
const STEP_MEAN = /^(?:avg |mean |average |train |training )?(?:per |this )?(?:step|iter|iteration|batch|bch|it|update)(?: avg| mean| average| dur| duration)?$/
/** Whether a name is that of the time of a step. */
export const stepTime = memo((words) => ({
  mean: STEP_MEAN.test(words),
  named: STEP_TIME.test(words),
  other: NO_STEP_TIME.test(words.replace(/\btotal (?=step|iter|batch)/, '')),
}))

/** PyTorch/XLA's `Rate=812.4 GlobalRate=798.1`: samples a second, now and since the start. Alone a rate is anything, mostly that of learning. */
export function rateBeside({ key, value, unit, total }: Field, fields: readonly Field[]): Role | undefined {
  const rate = key === 'rate' && (unit ?? total) === undefined && fields.some((field) => field.key === 'global rate') ? rateOf(value, 'samples/s') : undefined
  return rate === undefined ? undefined : { is: 'rate', rate, weight: 4 }
}
