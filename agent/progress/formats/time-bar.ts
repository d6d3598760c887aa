// RELION's bars, which count time and nothing else: `3.20/12.51 min ....~~(,_,">`, below the line that says what is done, with the iteration where there are several.
import type { Observation } from '../observation.ts'
import type { Format, Line, Read } from './format.ts'

const BAR = /^\s*(\d{1,6}(?:\.\d{1,2})?)\/ {0,3}(\d{1,6}(?:\.\d{1,2})?) {1,3}(sec|min|hrs) \.{0,80}~~\(,_,">/
const SECONDS: Readonly<Record<string, number>> = { sec: 1, min: 60, hrs: 3_600 }
/** `Expectation iteration 12 of 25`; without a number where it runs until it converges. */
const ITERATION = /\biteration (\d{1,4})(?: of (\d{1,4}))?\b/

function createReader(): (line: Line) => Read | undefined {
  let before = ''
  return ({ text, at }) => {
    // Of each line that is no bar only this much is done.
    if (!text.includes('~~(,_,')) {
      if (text !== '') before = text
      return undefined
    }
    const found = BAR.exec(text)
    if (found === null) return undefined
    const title = before.slice(0, 80)
    const [, spent, whole, unit = ''] = found
    const [elapsedSeconds, all] = [spent, whole].map((figure) => Number(figure) * (SECONDS[unit] ?? Number.NaN))
    if (elapsedSeconds === undefined || all === undefined || all === 0) return undefined
    const [, iteration, iterations] = ITERATION.exec(title) ?? []
    const observation: Observation = {
      shape: 'time bar',
      form: 'bar',
      title: `Progress: ${title.trim()}`,
      metrics: 0,
      ...(iteration === undefined
        ? { done: elapsedSeconds / all, etaSeconds: Math.max(0, all - elapsedSeconds), elapsedSeconds }
        : { step: Number(iteration), sure: true, ...(iterations === undefined ? {} : { total: Number(iterations) }) }),
      ...(at === undefined ? {} : { at }),
    }
    return { observation }
  }
}

export const timeBar: Format = { name: 'time-bar', create: createReader }
