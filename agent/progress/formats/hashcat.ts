// The status of hashcat, a figure a line: `Progress.........: 1200/90000 (1.33%)`, below the time that is left.
import { durationOf } from '../quantity.ts'
import type { Observation } from '../observation.ts'
import type { Format, Line, Read } from './format.ts'

const ROW = /^\s{0,4}(Status|Time\.Estimated|Progress)\.{2,12}: (\S.{0,120})$/
/** What is left of `Time.Estimated...: Tue Dec 31 21:26:13 2030 (11 days, 21 hours)` behind its date; when it began is above, in the same form. */
const LEFT = /^\s{0,4}\((\d{1,6} [a-z]{3,6}(?:, \d{1,6} [a-z]{3,6})?)\)\s*$/
const DONE = /^(\d{1,20})\/(\d{1,20}) \(/

function createReader(): (line: Line) => Read | undefined {
  let running = false
  let left: number | undefined
  return ({ text, at }) => {
    const said = running ? LEFT.exec(text)?.[1] : undefined
    if (said !== undefined) left = durationOf(said)
    const [, name, value = ''] = (text.includes('..: ') ? ROW.exec(text) : null) ?? []
    if (name === undefined) return undefined
    if (name === 'Status') running = value.startsWith('Running')
    if (name !== 'Progress') {
      // `Next Big Bang`, where it has no date.
      left = undefined
      return undefined
    }
    const [, step, total] = DONE.exec(value) ?? []
    if (!running || step === undefined) return undefined
    const observation: Observation = {
      shape: 'hashcat',
      form: 'record',
      metrics: 0,
      sure: true,
      step: Number(step),
      total: Number(total),
      ...(left === undefined ? {} : { etaSeconds: left }),
      ...(at === undefined ? {} : { at }),
    }
    return { observation }
  }
}

export const hashcat: Format = { name: 'hashcat', create: createReader }
