// All lines of names and figures: print loops, dicts, loggers, Megatron's rows of fields, servers' throughput, tables. The shape is the names in their order.
import { fieldsOf, type Field } from '../fields.ts'
import { createLearner, type Learned } from '../learner.ts'
import type { Observation, Phase } from '../observation.ts'
import { isForeign, isMoved, saysNothing } from '../others.ts'
import { phaseOf } from '../phases.ts'
import { rateOf, secondsOf } from '../quantity.ts'
import { figuresOf, type Figures } from '../record.ts'
import { isEvaluation, roleOf, tookRole, type Role } from '../roles.ts'
import { createTable, SIMULATED } from '../table.ts'
import type { Format, Line, Read } from './format.ts'

const SHAPE_KEYS = 6

/** What makes lines of one statement alike: the names of their first figures, without those of a validation, which only some lines have. */
const shapeOf = (fields: readonly Field[]): string =>
  `line ${fields
    .filter(({ aside, key }) => !aside && !isEvaluation(key))
    .slice(0, SHAPE_KEYS)
    .map(({ key, unit }) => key.replace(/\d+/g, '#') || (unit ?? '#'))
    .join(' | ')}`

/** `333 154 Loss=nan`, `12 loss 0.532`: whole figures without a name at the head of a line with a loss. */
function headCounters(fields: readonly Field[], out: Figures, still: ReadonlySet<number> | undefined): void {
  const bare = (field: Field | undefined): field is Field =>
    field !== undefined && field.key === '' && field.whole && field.unit === undefined && field.total === undefined && !field.aside
  const [first, second] = fields
  if (!bare(first)) return
  // The step is known by its movement: what is before it counts the epochs.
  if (bare(second) && out.step === second.value) out.epoch ??= first.value
  if (out.step !== undefined) return
  if (bare(second)) {
    out.step = second.value
    out.epoch ??= first.value
  } else if (out.epoch === undefined && still?.has(0) !== true) out.step = first.value
}

/** timm's `Train: 0 [ 25/250 (10%)]`: the name before the counter counts epochs; `train[4300] loss=2.1` counts steps. */
function trainEpoch(fields: readonly Field[], out: Figures): void {
  const first = fields[0]
  if (first === undefined || !first.whole || first.total !== undefined || !/^(?:train|training)$/.test(first.key)) return
  if (out.step === undefined && out.loss !== undefined) out.step = first.value
  else if (out.step !== undefined) out.epoch ??= first.value
}

/** `[E 9 | it 200]`: the letter before the counter counts epochs. */
function shortEpoch([first]: readonly Field[], out: Figures): void {
  if (out.step !== undefined && out.epoch === undefined && first?.key === 'e' && first.whole && first.total === undefined) out.epoch = first.value
}

/** `epoch 26/40 train=5.24 heldout=5.27`: a loss beside that of a validation. No share is larger than one. */
function namedAlone(fields: readonly Field[], out: Figures): void {
  if (out.loss !== undefined || out.epoch === undefined || !fields.some(({ key, whole, value }) => !whole && value > 1 && isEvaluation(key))) return
  const own = fields.find(({ key, whole, value, unit, duration }) => /^(?:train|trn|tr)$/.test(key) && !whole && value > 1 && (unit ?? duration) === undefined)
  if (own !== undefined) out.loss = own.value
}

/** `Time = 3330` and no more: how far a simulation is, not how long a step takes. */
function loneTime([first, second]: readonly Field[], out: Figures): void {
  if (second === undefined && first?.key === 'time' && first.whole && first.unit === undefined && first.duration === undefined) delete out.rate
}

/** ` * Average accuracy 0.70; Average loss 0.73`: what a validation came to, below the lines that count. */
const STARRED = /^\s{0,8}\* (?!.{0,60}train)/i

/** `Minibatch[ 21- 30]: … time = 0.21s; samplesPerSecond = 12243`: whether the time is that of one step or of all, only the rate beside it shows. */
function ofRange(fields: readonly Field[], out: Figures): void {
  const ranged = fields.some(({ span = 1, value }) => span > 1 && value === out.step)
  const rate = ranged && out.rate?.of === 'step' && out.samplesRate !== undefined ? rateOf(out.samplesRate, 'samples/s') : undefined
  if (rate !== undefined) out.rate = rate
}

/** `'epoch': 27`, `'epochs': 30` on lines of their own: the second is how many there are. */
function epochsBeside(fields: readonly Field[], out: Figures, epochIsNamed: boolean): void {
  const [only] = fields
  if (!epochIsNamed || fields.length !== 1 || only?.key !== 'epochs' || only.total !== undefined || out.epoch !== only.value) return
  delete out.epoch
  out.epochs = only.value
}

/** What an optimizer of settings tries: `and parameters: {'batch': 4, …}`. */
const SETTINGS = /\b(?:params|parameters|config|hparams)\b:? ?\{[^}]{0,2000}\}/g
/** `eval/reward:`, `hard_loss_metric=0.2` name a figure. */
const PATH_KEY = /^\w+\/[\w/]+[:=]|_metrics?[:=]/
/** `cpu_test: FindTheTarget: Step: …`: the name of a run and of its part. */
const LOGGER_CHAIN = /^\s*\w{1,40}[_.-][\w.-]{1,40}: (?=[A-Za-z]\w{0,40}: )/
/** The first words, in which a validation or a save says so. */
/** `__main__ - INFO - Loaded 10/31 batches`. */
const LEVEL_LEAD = /^[\s\-|:[]{0,4}(?:[\w.]{1,60} - )?(?:DEBUG|INFO|WARNING)\]?(?: -|:| \|) ?/
const leadOf = (text: string): string =>
  // Of a dictionary the first name alone: `{'accuracy': 0.4, 'eval_accuracy': 0.39, 'loss': …}`.
  (/^\s*\{\s*['"]?[\w/ ]{1,60}/.exec(text)?.[0] ?? text.replace(LEVEL_LEAD, '').replace(LOGGER_CHAIN, ''))
    .trimStart()
    .split(/\s+/, 3)
    .filter((word) => !PATH_KEY.test(word))
    .join(' ')
    .replace(/[^\p{L}\s]+/gu, ' ')

/** The figures of a whole run at its end (`train_runtime`, `train_loss`): means, and how many steps there were. */
function summary(fields: readonly Field[], out: Figures): void {
  const took = fields.find(({ key, duration }) => duration === undefined && /^(?:train )?run ?time$/.test(key))?.value
  // A line of the training may say how long it has run.
  if (took === undefined || out.learningRate !== undefined || out.gradNorm !== undefined || fields.some(({ key }) => key === 'loss')) return
  delete out.loss
  if (out.step === undefined && out.rate?.of === 'step' && out.rate.secondsEach !== undefined) out.step = Math.round(took / out.rate.secondsEach)
}

type Known = { readonly known: readonly (Role | undefined)[]; readonly counts: boolean }
/** The roles by name, and those by movement where names say nothing. `counts`: the step is known by its movement alone. */
function withLearned(fields: readonly Field[], roles: readonly (Role | undefined)[], learned: Learned | undefined): Known {
  if (learned === undefined) return { known: roles, counts: false }
  const has = (is: Role['is']): boolean => roles.some((role) => role?.is === is)
  const known = [...roles]
  const give = (at: number | undefined, make: (field: Field) => Role | undefined): void => {
    const field = at === undefined ? undefined : fields[at]
    if (at !== undefined && field !== undefined) known[at] = make(field)
  }
  const seconds = ({ value, unit }: Field): number => value * (secondsOf(unit ?? 's') ?? 1)
  for (const at of learned.elapsed) give(at, (field) => ({ is: 'elapsed', seconds: seconds(field) }))
  for (const at of learned.idle) known[at] = undefined
  if (!has('rate') && (has('step') || learned.step !== undefined)) give(learned.each, (field) => tookRole(seconds(field) / (learned.every ?? 1)))
  give(learned.count, () => (has('step') ? undefined : { is: 'step', weight: -1 }))
  if (!has('eta')) give(learned.left, ({ duration }) => (duration === undefined ? undefined : { is: 'eta', seconds: duration }))
  const counts =
    !has('step') &&
    learned.step !== undefined &&
    // Two columns without a name: who counts begins with it.
    (learned.step === 0 || fields.length > 2 || fields.some(({ key }) => key !== '')) &&
    !fields.some(({ total }, at) => total !== undefined && roles[at] === undefined && at !== learned.step && at !== learned.epoch)
  if (counts) give(learned.step, () => ({ is: 'step', weight: 0 }))
  if (counts && learned.total !== undefined) {
    const field = fields[learned.step ?? -1]
    if (field?.total === undefined) give((learned.step ?? 0) + 1, ({ value }) => ({ is: 'total', value }))
  }
  if (!has('epoch')) give(learned.epoch, () => ({ is: 'epoch' }))
  if (!has('loss') && (counts || has('step'))) give(learned.loss, () => ({ is: 'loss', weight: 1, part: false, mean: false }))
  return { known, counts }
}

/** `Last test reward: 16. Training step: 1600/10000. Loss: 2.81`. */
const isTrainingStep = ({ key, whole }: Field): boolean => whole && /^train(?:ing)? (?:step|iter|iteration|update)$/.test(key)

/** A figure that could be a result: no counter, no time, no share. */
const isDecimal = ({ key, whole, unit, duration, total, value }: Field): boolean =>
  !whole && unit === undefined && duration === undefined && total === undefined && (!Number.isInteger(value) || key === SIMULATED)

/** `Mean rms=3.9%, delta=6.1%`: results in percent. */
const isPercentage = ({ key, whole, unit }: Field): boolean => key !== '' && unit === '%' && !whole
const hasResult = (fields: readonly Field[]): boolean => fields.some(isDecimal) || fields.filter(isPercentage).length > 1

/** A share beside a length of time: where the time falls, it is what is left. */
const isTimedShare = (fields: readonly Field[], { done }: Figures): boolean => done !== undefined && fields.some(({ duration }) => duration !== undefined)

/** `Batch 3/400`: epoch 3, step 400. */
function pairOf(field: Field | undefined, out: Figures): void {
  if (field?.total === undefined || out.step !== field.value) return
  out.epoch ??= field.value
  out.step = field.total
  delete out.total
}

const NOT_FINITE = /nan|inf/i
const SECTION_LINES = 3
const QUANTIZED = /\bquanti[sz](?:ed|ing|ation)\b/i
const QUANTIZED_LINES = 6
const LAYER = /^(?:layer|module|tensor)$/
/** `INFO:voice:[2.41, 3.07, 4400, 9.99e-05]`: VITS and what came of it end a list with the step and the learning rate. */
const VITS = /^((?:.{0,120}:)?\[(?:\d{1,4}\.\d{1,20}, ){0,12})(\d{1,9}), (\d(?:\.\d{1,20})?e-\d\d)\]\s*$/
/** `Tue Sep 17 15:31:45 2019`: no time that is left. */
const DATE = /\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2}\d{1,2} \d\d:\d\d:\d\d \d{4}\b/g
/** Two dictionaries that a copy has put on one line. */
const GLUED = "} {'"
/** `# TASK 1 TEST DATA EVALUATION`, `===== Validation =====`. */
const HEADING = /^\s*(?!-\s)[#=*>-]{1,80}\s*[\p{L}\d][^:]{2,80}$/u
/** `Valid:` above lines that are set in. */
const SECTION = /^(?:train(?:ing)?|valid(?:ation)?|val|eval(?:uation)?|dev|test(?:ing)?)(?: (?:set|data|results?|metrics|phase))?:\s*$/i
const sectionOf = (text: string): Phase | undefined => {
  if (!HEADING.test(text) && !SECTION.test(text)) return undefined
  const said = phaseOf(text)
  return said === 'evaluating' && !/train(?:ing)?\b.{0,20}$/i.test(text.replace(/\btrained\b/gi, '')) ? 'evaluating' : 'training'
}

/** `#"Step" "Box Volume (nm^3)"`: a head may name a unit with a figure in it. */
const NAMES = /^\s*#?\s*"[^"]{1,40}"(?:[\s,]{1,20}"[^"]{1,40}"){2,40}\s*$/
/** `=> loaded best model './best.pth' (epoch 4)`: no line of an epoch. */
const LOADED = /^\W{0,6}loaded\b/i

/** `WARNING: loss (=14484257.0) is not correct`: about one sample that was left out. */
const WARNED = /^.{0,60}\bWARN(?:ING)?\b/

const MAX_SKELETONS = 64
const ASCII = /^[\0-\x7f]*$/
/** The words of lines: a loop prints the same again and again. */
function createSkeletons(): { readonly see: (text: string) => boolean } {
  const known = new Set<string>()
  return {
    see(text) {
      const head = text.slice(0, 320).trimEnd()
      const words = ASCII.test(head) ? head.replace(/[^A-Za-z]+/g, ' ') : head.replace(/[^\p{L}]+/gu, ' ')
      const before = known.delete(words)
      if (known.size >= MAX_SKELETONS) for (const oldest of known) if (known.delete(oldest)) break
      known.add(words)
      return before
    },
  }
}

function createReader(): (line: Line) => Read | undefined {
  const learner = createLearner()
  const table = createTable()
  const skeletons = createSkeletons()
  let section: Phase | undefined
  /** Lines that a heading still speaks of. */
  let under = 0
  /** Lines since a model was said to be quantized, layer by layer, with losses and steps of its own. */
  let quantized = Infinity
  let last = ''
  /** The last line that counted had a loss. */
  let ownLoss = false
  let epochIsNamed = false
  const readOne = ({ text: line, at }: Line): Observation | undefined => {
    // A second handler or rank prints the same again; a loss that is none counts each time.
    if (line === last && !NOT_FINITE.test(line)) return undefined
    last = line
    const text = table.parted(line.includes('{') ? line.replace(SETTINGS, ' ') : line.replace(VITS, '$1 step: $2, lr: $3]').replace(DATE, ' '))
    const found = fieldsOf(text)
    quantized = QUANTIZED.test(text) ? 0 : quantized + 1
    const opened = sectionOf(text)
    under = opened === undefined ? under - 1 : SECTION_LINES
    section = opened ?? (under > 0 ? section : undefined)
    if (found.length === 0 || NAMES.test(text)) {
      table.head(text)
      return undefined
    }
    if (saysNothing(line) || (text !== line && saysNothing(text)) || table.isOther(text)) return undefined
    const fields = table.named(text, found)
    const roles = fields.map(roleOf)
    const shape = shapeOf(fields)
    const foreign = isForeign(text)
    const movement = learner.learn(shape, fields, roles, at)
    const learned = foreign ? undefined : movement
    const { known, counts } = withLearned(fields, roles, learned)
    const figures = figuresOf(fields, known)
    pairOf(fields[learned?.pair ?? -1], figures)
    for (const at of learned?.grown ?? []) if (fields[at]?.total === figures.total && fields[at]?.value === figures.step) delete figures.total
    if (figures.loss !== undefined || (figures.metrics ?? 0) > 1) headCounters(fields, figures, learned?.still)
    trainEpoch(fields, figures)
    shortEpoch(fields, figures)
    namedAlone(fields, figures)
    epochIsNamed ||= fields.some(({ key }) => key === 'epoch')
    epochsBeside(fields, figures, epochIsNamed)
    summary(fields, figures)
    ofRange(fields, figures)
    loneTime(fields, figures)
    const risen = counts ? learned?.risen : undefined
    const { step, loss, rate, epoch, etaSeconds, gradNorm } = figures
    if (step !== undefined || epoch !== undefined) ownLoss = loss !== undefined || (ownLoss && LOADED.test(text))
    else if ((ownLoss && STARRED.test(text)) || WARNED.test(text)) return undefined
    const reported = [step, loss, rate, epoch, etaSeconds, gradNorm].some((figure) => figure !== undefined) || isTimedShare(fields, figures)
    const before = skeletons.see(text)
    if (!reported && (figures.metrics ?? 0) < 1) return undefined
    if ((figures.metrics ?? 0) < 1 && isMoved(text)) return undefined
    const ofLayer = LAYER.test(fields[0]?.key ?? '') && step === undefined
    if ((ofLayer || quantized < QUANTIZED_LINES) && (loss === undefined || (step === undefined && epoch === undefined))) return undefined
    // Under a heading that says so, a line that counts nothing is of the evaluation.
    if (step !== undefined || epoch !== undefined) under = 0
    const led = phaseOf(leadOf(text))
    const phase =
      (led === 'evaluating' && loss !== undefined && fields.some(isTrainingStep) ? undefined : led) ??
      (step === undefined && epoch === undefined && section === 'evaluating' ? section : undefined)
    const observation: Observation = {
      ...figures,
      metrics: figures.metrics ?? 0,
      shape,
      form: 'record',
      title: text.slice(0, 80),
      ...(risen === undefined ? {} : { risen }),
      ...(phase === undefined ? {} : { phase }),
      ...(!before || foreign ? { loose: true as const } : {}),
      ...(foreign ? { foreign: true as const } : {}),
      ...(hasResult(fields) ? { decimals: true as const } : {}),
      ...(at === undefined ? {} : { at }),
    }
    return observation
  }
  return (line) => {
    const end = line.text.indexOf(GLUED) + 1
    const observation = readOne(end === 0 ? line : { ...line, text: line.text.slice(0, end) })
    return observation === undefined ? undefined : { observation, ...(end === 0 ? {} : { rest: line.text.slice(end) }) }
  }
}

export const line: Format = { name: 'line', create: createReader }
