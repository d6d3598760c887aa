// Boxes that hold a figure a line, as reinforcement learning prints them: `|    total_timesteps | 6144 |`. The whole box is one statement.
import { wordsOf, type Field } from '../fields.ts'
import { numberOf } from '../quantity.ts'
import type { Observation } from '../observation.ts'
import { figuresOf } from '../record.ts'
import type { Format, Line, Read } from './format.ts'

const ROW = /^\s*[|│┃]\s*([A-Za-z][\w /.()%-]{0,60}?)\s*[|│┃]\s*(\S{1,24})\s*[|│┃]?\s*$/
/** Without lines between the cells: `Epoch                    14`. */
const OPEN_ROW = /^\s*([A-Za-z][\w/.()%-]{0,60}(?: [\w/.()%-]{1,30}){0,5})\s{2,}([-+]?(?:\d[\d.,]{0,20}(?:e[-+]?\d{1,3})?|nan|inf))\s*$/i
/** So many rows make a table of such. */
const LEAST_ROWS = 3
const MAX_ROWS = 64
const OTHERS = 3
const CLOSING = /^\s*[-=+_─━]{5,}\s*$/

function createReader(): (line: Line) => Read | undefined {
  let rows = new Map<string, Field>()
  /** Lines of others that may still stand between its rows. */
  let open = 0
  let last = ''
  return ({ text, at }) => {
    const framed = ROW.exec(text)
    const found = framed ?? OPEN_ROW.exec(text)
    if (found === null) {
      open = CLOSING.test(text) ? 0 : open - 1
      return undefined
    }
    // The same row again, of the other rank.
    if (text === last) return undefined
    last = text
    const key = wordsOf(found[1] ?? '')
    const value = numberOf(found[2] ?? '')
    if (open <= 0 || rows.has(key)) rows = new Map()
    open = OTHERS
    if (value === undefined || rows.size >= MAX_ROWS) return undefined
    rows.set(key, { key, value, aside: false, whole: /^\d[\d,]*$/.test(found[2] ?? ''), from: 0, to: 0 })
    if (framed === null && rows.size < LEAST_ROWS) return undefined
    const figures = figuresOf([...rows.values()])
    if (figures.step === undefined && figures.epoch === undefined) return undefined
    const observation: Observation = { ...figures, metrics: figures.metrics ?? 0, shape: 'box', form: 'record', ...(at === undefined ? {} : { at }) }
    return { observation }
  }
}

export const block: Format = { name: 'block', create: createReader }
