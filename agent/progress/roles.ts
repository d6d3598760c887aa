// What a figure is, by the words of its name and its unit. What the words do not say, the learner finds by how the figure moves.
import type { Field } from './fields.ts'
import type { Rate } from './observation.ts'
import { memo } from './memo.ts'
import { rateOf, secondsOf } from './quantity.ts'
import { rateWords, stepTime } from './rate-words.ts'

export type Role =
  | { readonly is: 'step'; readonly weight: number }
  | { readonly is: 'total'; readonly value?: number }
  | { readonly is: 'epoch' }
  | { readonly is: 'epochs' }
  | { readonly is: 'loss'; readonly weight: number; readonly part: boolean; readonly mean: boolean }
  | { readonly is: 'rate'; readonly rate: Rate; readonly weight: number; readonly took?: true }
  | { readonly is: 'eta'; readonly seconds: number }
  | { readonly is: 'elapsed'; readonly seconds: number }
  | { readonly is: 'gradNorm' }
  | { readonly is: 'learningRate' }
  | { readonly is: 'metric' }
  | { readonly is: 'evaluation' }

const EVALUATION =
  /\b(?:val|valid|validation|eval|[vt]?valloss|vloss|testloss|devloss|evalloss|evaluation|evaluator|test|dev|held ?out|best|ema|mean baseline|target|avg validation)\b/
export const isEvaluation = memo((words) => EVALUATION.test(words))
const LOSS =
  /\b(?:[a-z]{0,6}loss|losses|cost|nll|objective|objf|perte|verlust|p[eé]rdida|perda|perdita|verlies|förlust|strata|ztráta|kayıp|criterion)(?!\p{L})|损失|损耗|損失|потер[иья]|втрат[иа]|손실|mất mát|^(?:train )?(?:ce|xent|bce|elbo|neg elbo|cross entropy|crossentropy|energy)$|^l (?:[dg] )?(?:pix\w*|percep\w*|style|gan|total|real|fake|identity|freq|fft|edge|ssim|lpips)$/u
const LOSS_WORD =
  /\b(?:[a-z]{0,6}loss|losses|cost|nll|objective|objf|perte|verlust|p[eé]rdida|perda|perdita|verlies|förlust|strata|ztráta|kayıp|criterion)(?!\p{L})|损失|損失|потер[иья]|втрат[иа]|손실|mất mát/u
/** Words beside "loss" that still mean the whole of it. */
const WHOLE_LOSS =
  /^(?:loss|t|tr|trn|tot|[a-z]{1,2}loss|(?:tot|total|train|avg|cur)loss|losses|perte|verlust|p[eé]rdida|perda|perdita|verlies|förlust|strata|cost|nll|objective|objf|criterion|train|training|trainer|total|sum|overall|final|lm|model|step|batch|iter|iteration|current|cur|reduced|running|smooth|smoothed|avr|avg|average|mean|ema|epoch|value|the|a|with|ends|has|is|of|at|in|metrics|loss\/train|cross|entropy|crossentropy|ce|global|raw|scaled|log|end|training:|main|rank|all|our|this|now|tensor|per|token|tokens|micro|mb|minibatch|mini|it|info|debug|root|\d+|.*(?:损失|損失|потери|втрат[иа]|손실|mất mát)|ztráta|kayıp)$/
const AVERAGED = /\b(?:avg|avr|average|mean|running|smooth|smoothed|ema|epoch|sum)\b/

const STEP_LAST =
  /(?:^|\s)(?:steps?|iters?|iterations?|its?|itr|itrs|batch|batches|batch id|batch idx|idx|minibatch|minibatches|mini batch|updates?|num updates|nupdates|up|upd|tick|rounds?|step num|global step|i|n iter|niter|schritt|étape|paso|pasos|pas|步|步数|шаг|итерация|ステップ|스텝|迭代|étapes?|iteração|passo|krok|stap|adım|lotes?|lotto|lot|крок|пакет|батч|bước|langkah|lépés|バッチ|批次|배치|boosting round|trees?|cycles?|generations?|gen|trials?|episodes?|timesteps?|total timesteps|(?:total|num|env|total num|agent|env total) frames|env steps?|total steps trained|iteration number|iter num|current step|current iter|optimizer step|stp)(?: (?:executed|done|completed?|taken|so far|trained|sampled|processed|num|number|index|idx|count|no|n|in [a-z]{3,12}))?$/
const NO_STEP =
  /\b(?:fps|tps|sps|throughput|per|warmup|warm up|every|skipped|skip|nan|accum\w*|save\w*|saving|log|logging|eval|evaluation|val|valid|validation|test|max|maximum|num train|size|time|timing|interval|freq|frequency|decay|lr|schedul\w*|from|remaining|left|total optimization|gradient|checkpoint|ckpt|resum\w*|load\w*|of|running|ahead|prefetch|inner|micro|opt grad|sampling|diffusion|inference|denoising|best|patience|last|no iterations)\b/
const NO_STEP_BUT =
  /^(?:on |at )?time steps?$|\b(?:total timesteps|total number of steps|global step|end of|gradient step|inner step|saving step|running step)\b/
const TOTAL =
  /^(?:of|out of|von|gesamt|insgesamt|sur|共|总共|总步数|총)$|^(?!num updates|nupdates)(?:max|total|num|n|number of|train|num train|total train|max train|total optimization|total training|num training)(?: train| training| optimization)? ?(?:steps?|iters?|iterations?|updates?|batches|rounds?)$/
const EPOCH =
  /(?:^|\s)(?:epoch|epochs|epch|ep|pass|epoch idx|epoch id|current epoch|epoche|époque|época|epoca|epoka|эпоха|эпохи|轮|轮次|第|エポック|에폭|train epoch|training epoch|epoch (?:num|number|no|nr|count|counter|index|progress))$/

const ETA =
  /\b(?:eta|rem|remain|remaining|time left|left|est(?:imated)? (?:time )?remaining|time to (?:end|completion|finish)|remaining time|time remaining|restzeit|verbleib\w*|restant\w*|restante|rimanent\w*|pozostał\w*|resterend\w*|expected remaining time|(?:finishes|ends|completes) in|time (?:needed|required|to go)|until (?:the )?end|to go)(?!\p{L})|^required$|剩余|預計|预计|残り|남은|осталось|залишилось|còn lại|kalan|zbývá/u
/** What is left but no time: `remaining processes count`, `left=12` of a box. */
const NO_TIME_LEFT =
  /^(?:left|rem)$|\b(?:process\w*|steps?|samples?|files?|items?|batch(?:es)?|epochs?|iters?|iterations?|count|tokens?|memory|bytes|requests?|jobs?|tasks?|lines?|rows?|examples?|space|budget|attempts?|retries)\b/
const ELAPSED =
  /\b(?:elapsed?|time elapsed|wall|walltime|wall time|total time|wall clock|run time|runtime|time since|training time|duration|time total|since start)\b/
const RATE_WORD =
  /\b(?:throughput|speed|rate|tps|wps|ups|ips|fps|tgs|qps|samples|tokens|imgs?|images|it|steps?|iters?|iterations|global step|updates|examples|sequences|seqs?|frames|env steps|words|batches|sps|toks?|token)(?: (?:per|s|sec|seconds?|gpu|device|rank|chip|avg|mean|total|global|seen|so far|processed|min|step|iter)\b.*)?$/
const METRIC =
  /\b(?:lr|learning rate|grad norm|gnorm|gradnorm|gradient norm|norm|acc|accuracy|ppl|perplexity|mfu|tflops|flops|reward|rewards|rew|kl|entropy|auc|psnr|ssim|iou|dice|f1|bleu|wer|cer|top1|top 1|acc1|acc top1|mem|memory|max mem|gpu mem|vram|wd|weight decay|momentum|beta|temperature|advantage|return|loss scale|bits per dim|bpd|fid|mae|mse|rmse|error|err|logloss|consumed samples|tokens seen|alpha|gamma|score|elo|win rate|success|ips|data|l1|l2|kld|score|recon|perceptual|lpips|r2|ndcg|map)\b/
const LEARNING_RATE = /^(?:train |cur |current |base |optim\w* |pg )?(?:lr|learning rate|cur lr|lr ?0|lr group ?0|taux d apprentissage|学习率)$/
/** A rate that the name or the unit spells out: `steps/s`, `samples per second`, `sec/tick`, `tokens_per_second`. */
/** So many a second are no steps of a training but what its batches hold. */
const MANY = 50
/** Bytes, where nothing says what is counted. */
const TOO_MANY = 1e7
function rateRole(field: Field, words: string): Role | undefined {
  const { value, unit } = field
  if (rateWords(words).foreign) return undefined
  const own = unit === undefined ? undefined : rateOf(value, unit)
  // `0.0120/step`: seconds, where it is less than a minute.
  const each = unit?.startsWith('/') === true && !field.whole && value < 60 ? rateOf(value, `s${unit}`) : undefined
  if (each !== undefined) return { is: 'rate', rate: each, weight: 5, took: true }
  // `17.2/s`: of what, nobody says.
  if (own === undefined && unit !== undefined && /^\/ ?s/.test(unit) && value < TOO_MANY)
    return {
      is: 'rate',
      rate: rateOf(value, value > MANY ? 'samples/s' : 'it/s') ?? { value, unit: 'it/s', of: 'step', secondsEach: undefined },
      weight: value > MANY ? 2 : 3,
    }
  if (own !== undefined) return { is: 'rate', rate: own, weight: own.of === 'step' ? 6 : /\b(?:gen|generation|ips)\b/.test(words) ? 5 : 4 }
  const { spelled, slow, through, known } = rateWords(words)
  const byName = spelled === undefined ? undefined : rateOf(value, spelled)
  if (byName !== undefined) return { is: 'rate', rate: byName, weight: byName.of === 'step' ? 6 : 4 }
  const bySlow = slow === undefined ? undefined : rateOf(value, slow)
  if (bySlow !== undefined) return { is: 'rate', rate: bySlow, weight: bySlow.of === 'step' ? 5 : 3 }
  const byThrough = through === undefined ? undefined : rateOf(value, through)
  if (byThrough !== undefined) return { is: 'rate', rate: byThrough, weight: 4 }
  // A throughput that nothing measures: of samples, unless it is as small as what simulations reach.
  const byKnown = known === undefined || field.total !== undefined || (words === 'throughput' && value < 10) ? undefined : rateOf(value, known)
  return byKnown === undefined ? undefined : { is: 'rate', rate: byKnown, weight: byKnown.of === 'step' ? 6 : 3 }
}

const pairRole = ({ total, unit }: Field): Role | undefined => {
  const rate = total === undefined || unit === undefined ? undefined : rateOf(total, unit)
  return rate === undefined ? undefined : { is: 'rate', rate, weight: 5 }
}

/** So sure that no longer time beside it is the step's: `train_time:11482ms step_avg:90.4ms`. */
export const MEAN_WEIGHT = 7
/** `step_time=1.25s`: more than how many tokens that were. */
const NAMED_WEIGHT = 6
/** What else takes time than the whole of a step: `generate time`, `sync time`. */
const PART_TIME =
  /(?:^|\s)(?!(?:step|iter|iteration|batch|update|train|training|tick|total|avg|average|mean|current|cur|last|per|elapsed|the|wall|it|one|each|this)\s)[a-z]\w* (?:time|timing|duration|secs?|seconds|ms)$/

/** Ten hours: without a unit it is a time of a simulation, in milliseconds, since 1970. */
const TOO_LONG = 36_000
const LONGEST = 1e6
/** No step takes less: it is how far a simulation goes in one. */
const SHORTEST = 1e-7
/** A bare time of so many seconds may be that of many steps: a rate beside it says more. */
const LONG = 60

function stepTimeRole(field: Field, words: string): Role | undefined {
  const byUnit = field.unit !== undefined && secondsOf(field.unit) !== undefined && !field.whole && stepTime(words).mean
  // Composer's `time/batch: 365` is how far it is.
  if (field.whole && field.unit === undefined && /\btime per (?:batch|step|iter)$/.test(words)) return undefined
  // `t=0.21s`: with its unit, and no time since the start, which the learner would find to grow.
  const short = field.unit !== undefined && secondsOf(field.unit) !== undefined && !field.whole && words === 't'
  // `time step: 5000` counts; `time step: 0.001` is that of a simulation.
  if (field.unit === undefined && (/(?:^|\s)time ?step$/.test(words) || (field.whole && /(?:^|\s)t step$/.test(words)))) return undefined
  if ((!byUnit && !short && !stepTime(words).named) || stepTime(words).other) return undefined
  const scale = (field.unit === undefined ? undefined : secondsOf(field.unit)) ?? (/\bms\b/.test(words) ? 1e-3 : 1)
  if (
    scale > 1 ||
    field.value * scale < SHORTEST ||
    field.value * scale > (field.unit === undefined ? TOO_LONG : LONGEST) ||
    (field.unit !== undefined && secondsOf(field.unit) === undefined)
  )
    return undefined
  const unit = scale === 1e-3 ? 'ms/it' : scale === 1e-6 ? 'us/it' : 's/it'
  const rate = rateOf(field.value, unit)
  const weight = byUnit
    ? MEAN_WEIGHT
    : (/\bcost\b/.test(words) && !/\btime\b/.test(words)) || words === 'in'
      ? 2
      : PART_TIME.test(words) || (/ (?:in|took|takes)$/.test(words) && !/\b(?:step|iter|iteration|batch|update|train|tick|time)\b/.test(words))
        ? 2.5
        : /\b(?:per|step|iter|iteration|dt)\b/.test(words)
          ? 6
          : words === 'time' && field.value * scale > LONG
            ? 3.5
            : 5.5
  return rate === undefined ? undefined : { is: 'rate', rate, weight, took: true }
}

/** Paddle's costs are times; others are money. */
const COSTS_TIME =
  /\b(?:batch|reader|data|iter|step|time|api|token|llm|estimated|est) costs?$|\bcosts? (?:time|ms|secs?|seconds|usd|dollars?|eur|per)\b|^(?:usd|total|session) costs?$/

const lossRole = memo((words): Role | undefined => {
  if (
    !LOSS.test(words) ||
    COSTS_TIME.test(words) ||
    words.endsWith(' time') ||
    /\b(?:scale|scaler|weight|lambda|coef|factor|stop|best|min|delta|change|type|fn|function)\b/.test(words)
  )
    return undefined
  // `loss_ema`: a running mean; `ema_loss` may be that of the averaged weights.
  if (EVALUATION.test(words.replace(/\btrain test\b|(?<=\bloss )ema$/, ''))) return { is: 'evaluation' }
  const list = words.split(' ')
  const foreign = !LOSS_WORD.test(words) || list.some((word) => !WHOLE_LOSS.test(word)) || (words.includes('entropy') && !words.includes('cross'))
  // `loss_gpt_total`: the whole of it, if nothing else is.
  const total = foreign && list.length > 2 && list.includes('total')
  const part = foreign && !total
  const weight =
    (total ? 5 : part ? 0 : 10) - (AVERAGED.test(words) ? 3 : 0) + (list.length === 1 ? 3 : /\btot(?:al)?\b/.test(words) ? 2 : 0) - list.length / 10
  return { is: 'loss', weight, part, mean: AVERAGED.test(words) }
})

/** The time of one step, known by how it moves. */
export const tookRole = (seconds: number, weight = 3): Role => ({
  is: 'rate',
  rate: { value: seconds, unit: 's/it', of: 'step', secondsEach: seconds },
  weight,
  took: true,
})

/** In seconds; the unit is behind the figure, or ends its name: `eta_hours`, `remaining_min`. */
function lengthOf({ duration, unit, value }: Field, words: string): number {
  if (duration !== undefined) return duration
  const named = unit ?? /(?:^|\s)(ms|msec|msecs|millis|milliseconds|s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?|days)$/.exec(words)?.[1]
  return value * (named === undefined ? 1 : (secondsOf(named) ?? Number.NaN))
}

/** `train_acc_epoch=0.842`: of the epoch, not which one. Only what is called an epoch and no more counts in fractions, too. */
const FRACTION_OF = /^(?:(?:train|training|current|cur|global|total|num|progress or) )?[^\s]+$/
const countsEpochs = (words: string, { whole, value }: Field): boolean => whole || Number.isInteger(value) || FRACTION_OF.test(words)

/** What a machine uses, not what a training reaches. */
export const isResource = memo((words) => /\b(?:mem|memory|vram)\b/.test(words))
/** The counter behind a loss that comes after it: `loss at step 400`. */
export const lossAt = ({ key, whole }: Field): boolean =>
  whole &&
  (LOSS_WORD.test(key) || key.endsWith('score at iteration')) &&
  /\b(?:at|for|in|after|of|on) (?:the )?(?:steps?|iters?|iterations?|batch|batches|minibatch|minibatches|epoch|update)$/.test(key)

/** What the words of a name say; of each name once. */
const saying = memo((words) => ({
  eta: ETA.test(words),
  elapsed: ELAPSED.test(words) && !/\bper\b|\b(?:step|iter|iteration|batch)(?: duration| time)?$/.test(words),
  gradNorm: /\b(?:grad norm|gradnorm|gnorm|gradient norm|total norm)\b/.test(words),
  learningRate: LEARNING_RATE.test(words),
  evaluation: EVALUATION.test(words) && !EPOCH.test(words),
  total: TOTAL.test(words) && !/^(?:train|n|number of) /.test(words),
  epochs: /^(?:(?:num|max|total|n)(?: train| training)?|number of) epochs?$/.test(words),
  epoch: EPOCH.test(words) && !/\b(?:per|time|save|every|loss|samples|size|best)\b/.test(words),
  /** `Time taken for epoch 2 is 600.12 sec`. */
  timedEpoch: /^time\b.*\b(?:for|of) epoch$/.test(words),
  step: STEP_LAST.test(words) && (!NO_STEP.test(words) || NO_STEP_BUT.test(words)),
  stepWeight:
    (words.endsWith('total timesteps') ? 4 : words.endsWith('timesteps so far') ? 1 : 0) +
    (/\b(?:actor|local|env|evaluator|critic|agent|player|episodes?|trials?|frames|timesteps?|micro|accumulated|cycles?|generations?|gen)\b/.test(words)
      ? -3
      : 0) +
    (/\b(?:global|num updates)\b/.test(words) ? -1 : 0) +
    // Iterations beside it are those of a solver.
    (words === 'time step' ? 0.2 : 0) -
    words.split(' ').length / 10,
  metric: METRIC.test(words) || RATE_WORD.test(words),
}))

/** So many requests, bytes, rows a second are no figure of a training. */
const OF_OTHERS =
  /^(?:req\w*|quer\w*|rows?|records?|docs?|documents|files?|pages?|urls?|messages?|msgs?|events?|jobs?|tasks?|ops|txs?|packets?|pkts?|[kMGT]?i?B|[kMGT]?bits?|bytes) ?\/ ?s(?:ec)?/i

export function roleOf(field: Field): Role | undefined {
  const words = field.key
  if (field.aside && field.unit === undefined) return undefined
  if (lossAt(field)) return words.endsWith('epoch') ? { is: 'epoch' } : { is: 'step', weight: field.total === undefined ? 0 : 4 }
  const timed = field.unit !== undefined && secondsOf(field.unit) !== undefined
  // `loss: [3.711/3.842]`: now, and on average.
  const loss = field.duration === undefined && (field.total === undefined || !field.whole) && !timed ? lossRole(words) : undefined
  // `17:CE >> 64`: a short name beside a whole number is no loss.
  if (loss !== undefined && !(loss.is === 'loss' && loss.part && field.whole && !LOSS_WORD.test(words))) return loss
  const says = saying(words)
  if (says.eta && (timed || field.duration !== undefined || !NO_TIME_LEFT.test(words))) {
    const seconds = lengthOf(field, words)
    return Number.isFinite(seconds) ? { is: 'eta', seconds } : undefined
  }
  // `6744/7011 tok/s`: of source and target, the one that is produced.
  const rate = field.duration !== undefined ? undefined : field.total === undefined ? rateRole(field, words) : pairRole(field)
  if (rate !== undefined) return rate
  // CatBoost: `learn: 0.51	total: 5m 43s	remaining: 24m 22s`.
  if (says.elapsed || (words === 'total' && field.duration !== undefined)) {
    const seconds = lengthOf(field, words)
    return Number.isFinite(seconds) ? { is: 'elapsed', seconds } : undefined
  }
  if (field.duration === undefined && !field.aside) {
    const took = stepTimeRole(field, words)
    if (took !== undefined && field.total === undefined) return took
  }
  // llama.cpp's `dt=00:00:51`.
  if (field.duration !== undefined)
    return /^(?:dt|(?:train )?(?:step|iter|iteration|batch) (?:time|duration)|time per (?:step|iter|iteration|batch))$/.test(words)
      ? tookRole(field.duration, NAMED_WEIGHT)
      : undefined
  if (words === 'learn' && !field.whole && field.unit === undefined) return { is: 'loss', weight: 1, part: false, mean: false }
  if (says.gradNorm) return { is: 'gradNorm' }
  if (says.learningRate) return { is: 'learningRate' }
  if (says.evaluation) return { is: 'evaluation' }
  if (says.total && field.whole) return { is: 'total' }
  if (says.epochs) return field.whole ? { is: 'epochs' } : undefined
  if (((says.epoch && countsEpochs(words, field)) || (says.timedEpoch && field.whole)) && field.unit === undefined) return { is: 'epoch' }
  const counts = field.whole || (Number.isInteger(field.value) && field.value >= 0)
  if (counts && field.unit === undefined && says.step) return { is: 'step', weight: (field.total === undefined ? 0 : 4) + says.stepWeight }
  return says.metric && !OF_OTHERS.test(field.unit ?? '') ? { is: 'metric' } : undefined
}
