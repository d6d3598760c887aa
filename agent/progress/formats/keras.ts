// Keras 1 to 3: `7/43 [===>....] - ETA: 1:04 - loss: 4.39`, `38/80 ━━━━ 2s 54ms/step - loss: 0.43`, `80/80 - 2s - 23ms/step - loss: 0.17`.
import { durationOf, numberOf, rateOf } from '../quantity.ts'
import type { Observation } from '../observation.ts'
import { recordOf } from '../record.ts'
import type { Format, Line, Read } from './format.ts'

const HEAD = /^\s*(\d{1,10})\/(\d{1,10}|Unknown|None|\?)\s*(\[[=>.]{5,}\]|━{5,}|-(?= \d+m?s\b))/
const ETA = /ETA:\s*(\d+s|[\d:]+)/
const STEP_TIME = /(\d+(?:\.\d+)?) ?(us|µs|ms|s)\/(step|sample)/
const EPOCH_TIME = /\d+(?:\.\d+)? ?m?s\/epoch/
/** Keras 3 puts the time left there while it runs, the time taken at the end. */
const TIME = /^\s*(?:-\s*)?((?:\d+:)?\d+:\d\d|\d+s|\d+m \d+s)\b/

/** So many steps has no epoch: it counts the bytes of a download. */
const MANY = 5e6

function read({ text, at }: Line): Read | undefined {
  const head = HEAD.exec(text)
  if (head === null) return undefined
  const [all, step = '', total = '', bar = ''] = head
  const behind = text.slice(all.length)
  const [said, loss] = [STEP_TIME.exec(behind), /-\s/.exec(behind)]
  if (said === null && loss === null && !ETA.test(behind)) return undefined
  const figures = recordOf(behind.replace(ETA, '').replace(STEP_TIME, '').replace(EPOCH_TIME, '').replace(TIME, ''))
  const [stepNumber, totalNumber] = [Number(step), numberOf(total)]
  const done = totalNumber !== undefined && stepNumber >= totalNumber
  const eta = ETA.exec(behind)?.[1] ?? (!done && bar.startsWith('━') ? TIME.exec(behind)?.[1] : undefined)
  const etaSeconds = eta === undefined ? undefined : durationOf(eta)
  const rate = said === null ? undefined : rateOf(Number(said[1]), `${said[2]}/${said[3]}`)
  const bytes = rate === undefined && figures.loss === undefined && totalNumber !== undefined && totalNumber >= MANY
  const observation: Observation = {
    shape: 'keras',
    form: 'bar',
    metrics: figures.metrics ?? 0,
    ...(bytes ? { phase: 'downloading' as const } : {}),
    step: stepNumber,
    ...(totalNumber === undefined ? {} : { total: totalNumber }),
    ...(figures.loss === undefined ? {} : { loss: figures.loss }),
    ...(rate === undefined ? {} : { rate: { ...rate, unit: said === null ? rate.unit : `${said[2] ?? ''}/${said[3] ?? ''}` } }),
    ...(etaSeconds === undefined ? {} : { etaSeconds }),
    ...(at === undefined ? {} : { at }),
  }
  return { observation }
}

export const keras: Format = { name: 'keras', create: () => read }
