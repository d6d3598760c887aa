// Tables: a line of names, then lines of figures. The names of the head become those of the figures.
import { wordsOf, type Field } from './fields.ts'
import { lookup } from '../text/lookup.ts'

export type Table = {
  /** The text with a space behind its commas, where they part the cells: `0,300` is no number. */
  readonly parted: (text: string) => string
  /** Remembers a line of names. */
  readonly head: (text: string) => void
  /** The figures with the names of the head, where they are as many. */
  readonly named: (text: string, fields: readonly Field[]) => readonly Field[]
  /** A row of a table of something else: sizes and times of a benchmark, results by model. */
  readonly isOther: (text: string) => boolean
}

const BARS = /\s*[|│┃║]\s*/
const COMMA = /\s*,\s*/
/** `#"Progress (%)" "Time Remaining"`. */
const QUOTED = /^"[^"]{1,40}"(?:[\s,]+"[^"]{1,40}"){2,}\s*$/
/** `|g|`: a norm, no cell. */
const NORM = /(^|\s)\|([a-z]\w{0,8})\|(?=\s|$)/gi
/** With dates, too. */
const COMMA_ROW = /^[-+\d.,:\seEnaif]+$/i
const DELIMITERS: readonly RegExp[] = [BARS, COMMA, /\t+/, /\s{2,}/, /\s+/]
const allCells = (text: string, delimiter: RegExp): readonly string[] =>
  text
    .trim()
    .replace(/^[|│┃║]|[|│┃║]$/g, '')
    .trim()
    .split(delimiter)
const cells = (text: string, delimiter: RegExp): readonly string[] => allCells(text, delimiter).filter((cell) => cell !== '' || delimiter === COMMA)
const NAME = /^[\p{L}_#][\p{L}\w /.()@%#*^-]{0,30}$/u

/** Rows of models, methods, settings: results, which nobody counts. */
const RESULTS =
  /^(?:models?|methods?|name|config\w*|dataset|experiment|run|run name|trial|trial name|backbone|arch\w*|network|setting|variant|system|task|optimizer|lr|learning rate)$/

/** `keyframe id, psnr`: pairs below it list things and what each came to. */
const LISTED = /(?:^|[\s\]])(?:\w{1,20} )?(?:id|idx|index|name|file|image),\s?\w{2,40}$/i
const PAIR = /^\s*\d{1,9}[\s,]{1,8}[-+]?\d{1,9}(?:\.\d{1,16})?(?:e[-+]?\d{1,3})?\s*$/i

/** Under the head of a table in Markdown: `|---|---:|`. */
const RULE = /^\s*\|\s*:?-{1,40}:?\s*(?:\|\s*:?-{1,40}:?\s*)+\|?\s*$/
/** Such a table is that of a training where its rows count in their first cell, or in the second behind their time. */
const COUNTS = /^(?:(?:global |train |training )?(?:epochs?|steps?|iters?|iterations?|updates?|rounds?|episodes?|ticks?|timesteps?)|it|e|ep)$/
const isTraining = ([first = '', second = '']: readonly string[]): boolean => COUNTS.test(first) || (/^(?:time|date|when)$/.test(first) && COUNTS.test(second))

/** What only a finished model is measured by: results by class, by fold. */
const MEASURE =
  /^(?:(?:roc |pr |macro |micro |mean |avg )?(?:precision|recall|f1(?:[- ]?score)?|support|auc|auroc|accuracy|acc|m?iou|dice|m?ap(?:@\S+)?|bleu\S*|rouge\S*|wer|cer|r2|mae|rmse|mse|kappa|mcc|mrr|ndcg\S*|sensitivity|specificity))$/i
const isResults = (cells: readonly string[]): boolean => cells.every((cell, at) => MEASURE.test(cell) || (at === 0 && !MAYBE.test(cell)))

/** Names of a training that says no more of itself. */
const MAYBE = /\b(?:ep|err|acc|obj|cost|lr|ppl|energy|grad|reward|return|it|eta|mse|mae|nll|fps|score|gen|time left|train|trn)|loss/i

/** Names that only the head of a table has. */
const ALIASES: Readonly<Record<string, string>> = { e: 'epoch', '#': 'step' }
/** `Step/Total` over `400/90000`. */
const OF_TOTAL = /\/\s?(?:total|max)\w{0,10}$/i
/** A bracket behind a name is its unit, or says more of it: `Step (% Done)`. */
const nameOf = (cell: string): string => lookup(ALIASES, cell.toLowerCase()) ?? wordsOf(cell.replace(/\s*\([^()]*\)$/, '').replace(OF_TOTAL, ''))

/** A time of a simulation, which is none of the computer's. */
export const SIMULATED = 'simulated'
/** GROMACS' `Step           Time` above each of its blocks. */
const isPair = (cells: readonly string[]): boolean => cells.length === 2 && cells[0] === 'Step' && cells[1] === 'Time'

export function createTable(): Table {
  let names: readonly string[] = []
  /** The same head parted at each space: `Epoch batch    loss` may be three names or two. */
  let words: readonly string[] = []
  /** So many names has the head of a table that is none of a training. */
  let others = 0
  /** The cells of the last line with bars, and whether a rule below it made it the head of a table of results. */
  let barred: readonly string[] = []
  let results = false
  let listed = false
  /** Where each name of the head begins and ends on its line. */
  let places: readonly Place[] = []
  return {
    head(line) {
      if (RULE.test(line)) {
        results = barred.length >= 3 && !isTraining(barred)
        if (results) names = []
        return
      }
      if (!line.trimStart().startsWith('|')) results = false
      barred = line.trimStart().startsWith('|') ? cells(line, BARS).map(wordsOf) : []
      const plain = line.replace(/^\s*#\s*(?=["'\p{L}])/u, '').replace(NORM, '$1norm $2')
      // pandas ends the lines of a table that it folds with a backslash.
      const text = (QUOTED.test(plain) ? plain.replace(/"\s+"/g, '"\t"').replaceAll('"', '') : plain).replace(/\s{1,4}\\\s{0,4}$/, '')
      // A rule, an empty line.
      if (!/\p{L}/u.test(text)) return
      others = 0
      listed = LISTED.test(text)
      if (names.at(-1) === SIMULATED) names = []
      if (text.length > 400) return
      if (!/\b(?:epoch|step|iter|loss|batch|round|it|timestep|progress|time remaining)/i.test(text)) {
        const found = cells(text, /\s{2,}|\t/)
        if (found.length >= 3 && (!MAYBE.test(text) || isResults(found)) && found.every((cell) => NAME.test(cell))) others = found.length
        return
      }
      for (const delimiter of DELIMITERS) {
        const found = cells(text, delimiter)
        if (!found.every((cell) => NAME.test(cell)) || (found.length < 3 && !isPair(found))) continue
        if (delimiter.source === String.raw`\s+` && found.length > 12) continue
        names = isPair(found) ? ['step', SIMULATED] : found.map(nameOf)
        if (RESULTS.test(names[0] ?? '')) [others, names] = [found.length, []]
        places = placesOf(line, found)
        const single = cells(text, /\s+/)
        words = single.length <= 12 && single.every((cell) => NAME.test(cell)) ? single.map(nameOf) : []
        return
      }
    },
    parted: (text) => (names.length >= 3 && COMMA_ROW.test(text) && cells(text, COMMA).length === names.length ? text.replaceAll(',', ', ') : text),
    isOther(text) {
      if (results && !text.trimStart().startsWith('|')) results = false
      if (results) return true
      if (listed) listed = PAIR.test(text)
      if (listed) return true
      if (others === 0) return false
      const count = cells(text, text.includes('|') ? BARS : /\s{2,}|\t/).length
      if (count !== others && count !== others + 1) others = 0
      return others > 0
    },
    named(text, fields) {
      if (names.length < 2) return fields
      // `04.29_01:45:54`: what is left of a date is no name.
      const named = fields.some(({ key }) => /\p{L}/u.test(key))
      // Cells without a figure keep their place; in a cell the first figure is the one that the head names.
      for (const delimiter of DELIMITERS) {
        if (named && delimiter !== BARS) continue
        const whole = delimiter === BARS ? allCells(text, delimiter) : []
        const found = whole.length === names.length ? whole : cells(text, delimiter)
        const heads = found.length === names.length ? names : found.length === words.length && delimiter !== BARS && delimiter !== COMMA ? words : undefined
        if (heads === undefined) continue
        const ends: number[] = []
        for (const cell of found) ends.push(text.indexOf(cell, ends.at(-1) ?? 0) + cell.length)
        const taken = new Set<number>()
        return fields.map((field) => {
          const cell = ends.findIndex((end) => end > field.from)
          if (taken.has(cell)) return { ...field, key: '', aside: true }
          taken.add(cell)
          return { ...field, key: heads[cell] ?? '' }
        })
      }
      return named ? fields : byPlace(fields, names, places)
    },
  }
}

type Place = { readonly from: number; readonly to: number }
function placesOf(line: string, cells: readonly string[]): readonly Place[] {
  let to = 0
  return cells.map((cell) => {
    const from = line.indexOf(cell, to)
    to = from + cell.length
    return { from, to }
  })
}

/** Cells that are empty leave the others under their names: these begin or end where the figure does. */
function byPlace(fields: readonly Field[], names: readonly string[], places: readonly Place[]): readonly Field[] {
  if (fields.length < 3 || fields.length > names.length) return fields
  const under = fields.map(({ from, to }) => places.findIndex((place) => Math.abs(place.from - from) <= 1 || place.to === to))
  return under.every((at, index) => at >= 0 && at > (under[index - 1] ?? -1))
    ? fields.map((field, at) => ({ ...field, key: names[under[at] ?? -1] ?? '' }))
    : fields
}
