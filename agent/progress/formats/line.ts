// All lines of names and figures: print loops, dicts, loggers, Megatron's rows of fields, servers' throughput, tables. The shape is the names in their order.
import { fieldsOf, type Field } from '../fields.ts'
import { createLearner } from '../learner.ts'
import type { Observation } from '../observation.ts'
import { phaseOf } from '../phases.ts'
import { figuresOf, type Figures } from '../record.ts'
import { createTable } from '../table.ts'
import type { Format, Line, Read } from './format.ts'

const SHAPE_KEYS = 6

/** What makes lines of one statement alike: the names of their first figures. */
const shapeOf = (fields: readonly Field[]): string =>
  `line ${fields
    .filter(({ aside }) => !aside)
    .slice(0, SHAPE_KEYS)
    .map(({ key, unit }) => key.replace(/\d+/g, '#') || (unit ?? '#'))
    .join(' | ')}`

/** `333 154 Loss=nan`, `12 loss 0.532`: whole figures without a name at the head of a line with a loss. */
function headCounters(fields: readonly Field[], out: Figures): void {
  const bare = (field: Field | undefined): field is Field =>
    field !== undefined && field.key === '' && field.whole && field.unit === undefined && field.total === undefined && !field.aside
  const [first, second] = fields
  if (!bare(first) || out.step !== undefined) return
  if (bare(second)) {
    out.step = second.value
    out.epoch ??= first.value
  } else if (out.epoch === undefined) out.step = first.value
}

/** timm's `Train: 0 [ 25/250 (10%)]`: the name before the counter counts epochs; `train[4300] loss=2.1` counts steps. */
function trainEpoch(fields: readonly Field[], out: Figures): void {
  const first = fields[0]
  if (first === undefined || !first.whole || first.total !== undefined || !/^(?:train|training)$/.test(first.key)) return
  if (out.step === undefined && out.loss !== undefined) out.step = first.value
  else if (out.step !== undefined) out.epoch ??= first.value
}

/** The first words, in which a validation or a save says so. */
const leadOf = (text: string): string =>
  text
    .trimStart()
    .split(/\s+/)
    .slice(0, 3)
    .join(' ')
    .replace(/[^\p{L}\s]+/gu, ' ')

/** The figures of a whole run at its end (`train_runtime`, `train_loss`): means, and how many steps there were. */
function summary(fields: readonly Field[], out: Figures): void {
  const took = fields.find(({ key }) => /^(?:train )?run ?time$/.test(key))?.value
  if (took === undefined) return
  delete out.loss
  if (out.step === undefined && out.rate?.of === 'step' && out.rate.secondsEach !== undefined) out.step = Math.round(took / out.rate.secondsEach)
}

function createReader(): (line: Line) => Read | undefined {
  const learner = createLearner()
  const table = createTable()
  return ({ text, at }) => {
    const found = fieldsOf(text)
    if (found.length === 0) {
      table.head(text)
      return undefined
    }
    const fields = table.named(text, found)
    const figures = figuresOf(fields)
    const shape = shapeOf(fields)
    const learned = learner.learn(shape, fields)
    if (figures.loss !== undefined || (figures.metrics ?? 0) > 1) headCounters(fields, figures)
    trainEpoch(fields, figures)
    summary(fields, figures)
    let risen: number | undefined
    if (learned !== undefined) {
      if (figures.step === undefined && learned.step !== undefined) {
        figures.step = learned.step
        if (learned.total !== undefined) figures.total = learned.total
        risen = learned.risen
      }
      if (learned.loss !== undefined && figures.loss === undefined && figures.step !== undefined) figures.loss = learned.loss
      if (learned.elapsedNotStepTime === true && figures.rate?.of === 'step' && figures.rate.secondsEach !== undefined) {
        figures.elapsedSeconds ??= figures.rate.secondsEach
        delete figures.rate
      }
    }
    if (learned?.stepTimeNotElapsed !== undefined && figures.rate === undefined && figures.step !== undefined) {
      figures.rate = { value: learned.stepTimeNotElapsed, unit: 's/it', of: 'step', secondsEach: learned.stepTimeNotElapsed }
      delete figures.elapsedSeconds
    }
    const { step, loss, rate, epoch, etaSeconds, gradNorm } = figures
    if (step === undefined && loss === undefined && rate === undefined && epoch === undefined && etaSeconds === undefined && gradNorm === undefined)
      return undefined
    const phase = phaseOf(leadOf(text))
    const observation: Observation = {
      ...figures,
      metrics: figures.metrics ?? 0,
      shape,
      form: 'record',
      title: text.slice(0, 80),
      ...(risen === undefined ? {} : { risen }),
      ...(phase === undefined ? {} : { phase }),
      ...(at === undefined ? {} : { at }),
    }
    return { observation }
  }
}

export const line: Format = { name: 'line', create: createReader }
