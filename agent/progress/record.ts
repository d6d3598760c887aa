// From the fields of a line to an observation: each figure gets its role, and of several with the same role the one that says most stays.
import { takeCounter } from './counters.ts'
import { fieldsOf, type Field } from './fields.ts'
import type { Observation, Rate } from './observation.ts'
import { rateOf, secondsOf } from './quantity.ts'
import { rateBeside } from './rate-words.ts'
import { isWholeLoss, sumOf } from './whole-loss.ts'
import { isResource, lossAt, MEAN_WEIGHT, roleOf, tookRole, type Role } from './roles.ts'

export type Figures = { -readonly [K in keyof Observation]?: Observation[K] }
type Best = { weight: number; took?: boolean }

const DONE = /^(?:total |overall |training |train )?(?:progress|completed?|done|percent)$|^(?:training|fitting|learning)(?: \w+){0,3}$/
const ENDS = /^(?:total|max|end|of|target|last)$/
/** `41.2s/epoch`. */
const PER_EPOCH = /^(?:s|secs?|seconds|min|minutes) ?\/ ?epoch$/i
const NO_RATE = /\b(?:data|load\w*|eval|val|valid|test|download\w*)\b/
const COUNTER_WORD = /\b(?:step|iter|batch|it|itr|update|epoch|round|train|training|progress|ep)\w*$/
const EPOCH_AND_STEP = /^(?:epoch|ep) (?:iter|iteration|step|batch)$/
/** What batches hold: beside a loss they count as steps do where nothing else does. */
const THING = /^(?:data|samples?|images?|examples?|process(?:ed|ing)?)$/
/** The same beside an epoch, too: elsewhere they are counted by anybody. */
const OF_EPOCH = /^(?:seqs?|sequences?|clips?|videos?|scenes?|graphs?|slices?|volumes?|molecules?|utterances?|sentences?|trajector(?:y|ies))$/

/** Terms of a loss that do not say so: `Rec=0.078, KL=0.002, Total=0.080`. */
const PART_METRIC = /^(?:recons?|rec|kl|kld|mse|l1|l2|perceptual|lpips|entropy)$/

/** A time that nothing names, in seconds for one of its unit: `| 2741.47 ms |`, `(6.66s)`. */
function bareTimeOf({ unit, whole }: Field): number | undefined {
  const scale = unit === undefined ? undefined : secondsOf(unit)
  return scale === 1e-3 || (scale === 1 && !whole) ? scale : undefined
}

/** Figures by their roles. `named`: only what its name or unit says; counters without a name are left to the caller. */
export function figuresOf(fields: readonly Field[], roles: readonly (Role | undefined)[] = fields.map(roleOf)): Figures {
  const out: Figures = { metrics: 0 }
  const step: Best = { weight: -Infinity }
  const loss: Best = { weight: -Infinity }
  const rate: Best = { weight: -Infinity }
  const parts: number[] = []
  const partNames = new Set<string>()
  const unnamed: number[] = []
  const bare: Field[] = []
  const things: Field[] = []
  let metrics = 0
  let stepAt = -2
  let ms: Rate | undefined
  let shortEpoch = false
  for (const [index, field] of fields.entries()) {
    const role =
      amongTimes(field, fields) ??
      countedLoss(index, fields, roles) ??
      rateBeside(field, fields) ??
      roles[index] ??
      lossBehind(field, fields[index - 1]) ??
      meanBehind(index, fields) ??
      perCounter(field, fields)
    // `epoch/iter: 3/1210`: two figures under two names.
    if (field.total !== undefined && EPOCH_AND_STEP.test(field.key)) {
      out.epoch = field.value
      out.step = field.total
      delete out.total
      step.weight = 1
      continue
    }
    if (
      field.total !== undefined &&
      field.whole &&
      field.unit === undefined &&
      (THING.test(field.key) || (out.epoch !== undefined && OF_EPOCH.test(field.key)))
    ) {
      things.push(field)
      continue
    }
    if (role === undefined) {
      // `step=70 total=500`: what stands right behind the step under such a name is what it counts to.
      if (index - 1 === stepAt && field.whole && field.unit === undefined && ENDS.test(field.key) && field.value >= (out.step ?? Infinity))
        out.total ??= field.value
      // `E=0 B=3500`, `E 2/10 B 70/100`: epoch and batch.
      const next = fields[index + 1]
      const counts = next?.key === 'b' || (field.total !== undefined && next?.total !== undefined && next.whole)
      if (/(?:^|\s)e$/.test(field.key) && counts && field.whole && out.epoch === undefined) {
        out.epoch = field.value
        if (field.total !== undefined) out.epochs = field.total
      }
      const bareTime = bareTimeOf(field)
      if (field.unit === '%' && !field.aside && (field.key === '' || DONE.test(field.key)) && field.value >= 0 && field.value <= 100)
        out.done ??= field.value / 100
      if (field.total !== undefined && field.whole && field.duration === undefined && field.unit === undefined && Number.isInteger(field.total)) {
        if (field.key === '' || COUNTER_WORD.test(field.key)) {
          // Iter0(1/8): the bracket behind a step says only what it counts to; `Iter10(3/8)`: the first counts on over the epochs.
          if (index - 1 === stepAt && out.total === undefined && field.key === '' && field.value - (out.step ?? 0) <= 1 && (out.step ?? 0) <= field.value)
            out.total = field.total
          else bare.push(field)
        }
      } else if ((field.key === '' || field.key === 'run') && bareTime !== undefined && !(field.value * bareTime <= (ms?.secondsEach ?? 0)))
        ms = { value: field.value, unit: bareTime === 1 ? 's/it' : 'ms/it', of: 'step', secondsEach: field.value * bareTime }
      continue
    }
    switch (role.is) {
      case 'step':
        if (role.weight > step.weight) {
          step.weight = role.weight
          out.stepIsAside = role.weight < -2
          out.step = field.value
          if (field.total === undefined) delete out.total
          else out.total = field.total
          stepAt = index
        }
        break
      case 'total':
        out.total ??= field.value
        break
      case 'epochs':
        out.epochs ??= field.value
        break
      case 'epoch':
        if (field.value < 0) break
        // `ep` may be an episode where the epoch is beside it.
        if (out.epoch === undefined || shortEpoch || (field.total !== undefined && out.epochs === undefined)) {
          shortEpoch = field.key === 'ep' && field.total === undefined
          out.epoch = field.value
          if (field.total !== undefined) out.epochs = field.total
        }
        break
      case 'loss':
        metrics += 1
        if (role.part) {
          parts.push(field.value)
          // `train_mse_loss_step`, `train_mse_loss_epoch`: one loss, now and on average.
          partNames.add(field.key.replace(/ (?:step|epoch)$/, ''))
        }
        if (role.weight > loss.weight && (!role.part || loss.weight < 0)) {
          loss.weight = role.weight
          const current = role.mean ? currentBefore(fields[index - 1], field) : undefined
          out.loss = current ?? field.value
          out.lossIsMean = role.mean && current === undefined
          out.lossIsPart = role.part
        }
        break
      case 'rate': {
        const { rate: found } = role
        if (found.of === 'sample') out.samplesRate ??= found.secondsEach === undefined ? 0 : 1 / found.secondsEach
        if (found.of === 'token' && (out.tokensRate === undefined || /gen/.test(field.key)))
          out.tokensRate = found.secondsEach === undefined ? 0 : 1 / found.secondsEach
        // Of several times the whole is the longest: the data's, the forward pass's are parts of the step's.
        const longer =
          role.took === true &&
          rate.took === true &&
          rate.weight > 3 &&
          rate.weight < MEAN_WEIGHT &&
          role.weight > 3 &&
          (found.secondsEach ?? 0) > (out.rate?.secondsEach ?? 0)
        if (longer || (role.weight > rate.weight && !(role.took === true && rate.took === true && rate.weight > 3 && role.weight < MEAN_WEIGHT))) {
          rate.took = role.took === true
          rate.weight = role.weight
          out.rate = found
        }
        break
      }
      case 'eta':
        out.etaSeconds ??= role.seconds
        break
      case 'elapsed':
        out.elapsedSeconds ??= role.seconds
        break
      case 'learningRate':
        metrics += 1
        out.learningRate ??= field.value
        break
      case 'gradNorm':
        metrics += 1
        out.gradNorm ??= field.value
        break
      case 'metric':
        if (PART_METRIC.test(field.key) && !field.whole && field.value >= 0) unnamed.push(field.value)
        if (!field.aside && !isResource(field.key)) metrics += 1
        break
      case 'evaluation':
        break
    }
  }
  // `total 3.19 | ce 2.89 | aux 0.30`: the whole is beside its parts. `E012/100 I0420/2500 L=0.41`: short for a loss.
  const whole =
    out.loss !== undefined && out.lossIsPart !== true ? undefined : fields.find((field) => isWholeLoss(field, out, parts.length > 0 ? parts : unnamed))
  if (whole !== undefined) {
    out.loss = whole.value
    out.lossIsPart = false
    out.lossIsMean = false
    loss.weight = 5
    metrics += 1
  }
  const sum = loss.weight < 3 ? sumOf(parts) : undefined
  if (sum !== undefined) {
    out.loss = sum
    out.lossIsPart = false
    loss.weight = 3
  }
  // A part is the loss only where it is the only one.
  if (loss.weight < 3 && partNames.size > 1) {
    delete out.loss
    out.sure = true
  }
  // `5 / 39 … num_updates=5`: the counter of the epoch says what it counts to.
  if (out.step === undefined || (out.total === undefined && step.weight < 0)) takeCounter(out, bare)
  if (out.step === undefined && out.loss !== undefined) takeCounter(out, things)
  if (ms !== undefined && (rate.weight < 5 || out.rate === undefined) && (out.step !== undefined || out.epoch === undefined)) {
    out.rate = ms
    out.rateIsLoose = true
  }
  // Of what else takes time a line without a counter may speak: `sample processed in 14.03s`, `Epoch 3 … time: 176.47`.
  if (rate.took === true && out.step === undefined && rate.weight < (out.epoch === undefined ? 3 : 6)) {
    if (out.epoch !== undefined && out.rate?.secondsEach !== undefined) out.epochSeconds = out.rate.secondsEach
    delete out.rate
  }
  const ofEpoch = out.epoch === undefined || out.step !== undefined ? undefined : fields.find(({ unit }) => PER_EPOCH.test(unit ?? ''))
  if (ofEpoch !== undefined) out.epochSeconds = ofEpoch.value * (secondsOf(/^\w+/.exec(ofEpoch.unit ?? '')?.[0] ?? '') ?? Number.NaN)
  // `Copied [12/200] in 1.3s`: a counter without a name and how long something took are said of anything.
  if (out.rate !== undefined && (rate.took !== true || rate.weight > 2.5)) delete out.stepIsBare
  const left = out.etaSeconds === undefined ? leftByShare(fields, out) : undefined
  if (left !== undefined) out.etaSeconds = left
  const rated = out.rate === undefined ? ratedByTime(fields, out) : undefined
  if (rated !== undefined) out.rate = rated
  out.metrics = metrics
  return out
}

/** `64/117, 2.3 task/s, ETA: 23s`: whatever it counts, at this rate the rest takes the time that is left. */
function ratedByTime(fields: readonly Field[], { step, total, etaSeconds }: Figures): Rate | undefined {
  if (step === undefined || total === undefined || etaSeconds === undefined || total - step < 2) return undefined
  const fits = ({ value, unit }: Field): boolean =>
    /^[a-z]+ ?\/ ?s(?:ec)?$/i.test(unit ?? '') && value > 0 && Math.abs((total - step) / value - etaSeconds) < 1 + 0.05 * etaSeconds
  const field = fields.find(fits)
  return field === undefined ? undefined : rateOf(field.value, 'it/s')
}

/** `190 (0.63%)  17.4 ms  8 m, 37 s`: a length of time without a name that the rest takes at this rate. */
function leftByShare(fields: readonly Field[], { step, rate }: Figures): number | undefined {
  const share = (fields.find(({ key, unit }) => key === '' && unit === '%')?.value ?? 0) / 100
  if (step === undefined || share <= 0 || share >= 1 || rate?.of !== 'step' || rate.secondsEach === undefined) return undefined
  const left = (step / share - step) * rate.secondsEach
  return fields.find(({ key, duration }) => key === '' && duration !== undefined && Math.abs(duration - left) <= 0.2 * left)?.duration
}

/** `15: 825.5, 680.2 avg, 0.001 rate`: a figure and its mean, beside the rate of learning: the loss. */
function meanBehind(index: number, fields: readonly Field[]): Role | undefined {
  const field = fields[index]
  if (field?.key !== 'avg' || field.unit !== undefined || currentBefore(fields[index - 1], field) === undefined) return undefined
  const learns = fields.some(({ key, unit, whole }) => /^(?:rate|lr|learning rate)$/.test(key) && unit === undefined && !whole)
  return learns ? { is: 'loss', weight: 7, part: false, mean: true } : undefined
}

/** `957: 0.660188, 0.689227 avg loss`: the value of the step is before the mean, and nothing names it. */
function currentBefore(before: Field | undefined, { from, aside }: Field): number | undefined {
  const bare = before !== undefined && before.key === '' && !before.whole && before.unit === undefined && before.total === undefined && !before.aside
  return bare && !aside && before.duration === undefined && from - before.to <= 3 ? before.value : undefined
}

/** `Train loss 3210 0.412`: the step is between the name and its figure. */
function countedLoss(index: number, fields: readonly Field[], roles: readonly (Role | undefined)[]): Role | undefined {
  const counts = (at: number): boolean => {
    const [own, next] = [fields[at], fields[at + 1]]
    if (roles[at]?.is !== 'loss' || own?.whole !== true || own.total !== undefined || next === undefined) return false
    return next.key === '' && !next.whole && !next.aside && next.unit === undefined && next.duration === undefined && next.from - own.to <= 3
  }
  if (counts(index)) return { is: 'step', weight: 0 }
  return counts(index - 1) ? roles[index - 1] : undefined
}

/** `loss at step 400 is 2.31`, `objective for minibatches 10-19 is -3.91`. */
function lossBehind({ key, whole, unit, total }: Field, before: Field | undefined): Role | undefined {
  const said = before !== undefined && lossAt(before) && !whole && unit === undefined && total === undefined && /^(?:is|was|of|)$/.test(key)
  return said ? { is: 'loss', weight: 8, part: false, mean: false } : undefined
}

/** `0.51 s/Schritt` beside `Schritt 300`: per step, whatever the language. */
function perCounter({ key, value, unit }: Field, fields: readonly Field[]): Role | undefined {
  const [, left = '', right = ''] = /^(\p{L}{1,14}) ?\/ ?(\p{L}{1,14})$/u.exec(unit?.toLowerCase() ?? '') ?? []
  if (left === '' || NO_RATE.test(key) || PER_EPOCH.test(unit ?? '')) return undefined
  const counted = (word: string): boolean =>
    word.length > 2 && fields.some((field) => field.whole && field.key !== '' && word.startsWith(field.key.split(' ').at(-1) ?? ' '))
  const rate = counted(right) ? rateOf(value, `${left}/step`) : counted(left) ? rateOf(value, `step/${right}`) : undefined
  return rate === undefined ? undefined : { is: 'rate', rate, weight: 4 }
}

/** `Data 0.003 (0.003) Batch 2.225 (2.253)`: what waiting for the data and the whole batch took. */
const isMeter = ({ key, whole, unit, duration, value }: Field): boolean =>
  /^(?:data|batch|iter|step)$/.test(key) && !whole && unit === undefined && duration === undefined && value > 0
/** `time_sample: 0.0002, time_step: 0.0036`: among other times that of a step, alone that of a simulation. */
function amongTimes(field: Field, fields: readonly Field[]): Role | undefined {
  if (isMeter(field) && field.key !== 'data') return fields.some((other) => isMeter(other) && other.key === 'data') ? tookRole(field.value) : undefined
  if (field.key !== 'time step' || field.whole || field.unit !== undefined || field.value <= 0) return undefined
  return fields.some(({ key }) => key !== 'time step' && key.startsWith('time ')) ? tookRole(field.value) : undefined
}

export const recordOf = (text: string): Figures => figuresOf(fieldsOf(text))
