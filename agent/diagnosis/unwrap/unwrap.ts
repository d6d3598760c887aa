// Takes a log out of what was put around it on its way here: JSON of engines and notebooks, marks of HTML, links, numbers of lines, quotes, indentation, the prefix of a collector that we do not know. What the system says
// in another language is put into English.
import { withNamedAnswers } from './answers.ts'
import { comfyReport } from './comfyui.ts'
import { jsonLines, notebookLines, packedNotebook, type Unwrap } from './json.ts'
import { learnedPrefix } from './learned-prefix.ts'
import { withoutIndent } from './indent.ts'
import { inEnglish } from './locale.ts'
import { withoutNumbers } from './numbered.ts'
import { linkedLines } from './links.ts'
import { taskNumbers, withoutMarks, withoutQuotes } from './quoted.ts'
import { richRecords } from './rich.ts'
import { accounted } from './sacct.ts'
import { withoutWraps } from './wrapped.ts'

const ENTITY = /&(?:lt|gt|amp|quot|apos|nbsp|#0?39|#x27|#34|#x22);/g
const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&amp;': '&',
  '&quot;': '"',
  '&apos;': "'",
  '&nbsp;': ' ',
  '&#39;': "'",
  '&#039;': "'",
  '&#x27;': "'",
  '&#34;': '"',
  '&#x22;': '"',
}
const htmlLines = (sample: readonly string[]): Unwrap | undefined =>
  sample.some((line) => /&(?:quot|#0?39|#x27|lt|gt);/.test(line)) ? (line) => line.replace(ENTITY, (entity) => ENTITIES[entity] ?? entity) : undefined

/** Each takes one layer away, from the outside in; what it does not know stays. */
const LAYERS: readonly ((sample: readonly string[]) => Unwrap | undefined)[] = [
  htmlLines,
  notebookLines,
  jsonLines,
  richRecords,
  taskNumbers,
  learnedPrefix,
  linkedLines,
]

const opened = (layer: Unwrap, lines: readonly string[]): readonly string[] => lines.map((line) => layer(line) ?? line)

/** The lines of a text that is held, as its program printed them; each keeps its number, unless the text is a notebook in one line. */
export function unwrapped(lines: readonly string[]): readonly string[] {
  const packed = lines.length <= 3 ? packedNotebook(lines.join('\n')) : undefined
  const whole = packed ?? accounted(withNamedAnswers(withoutWraps(withoutIndent(withoutNumbers(withoutMarks(withoutQuotes(lines)))))))
  let plain = comfyReport(whole) ?? whole
  for (const layer of LAYERS) {
    const found = layer(plain)
    if (found !== undefined) plain = opened(found, plain)
  }
  return plain.map(inEnglish)
}

/** How the lines of a long log are taken out, by its first ones; undefined where nothing is around them. `counted`: a number before a colon may count steps (`300: loss 0.4`), so it stays. */
export function unwrapping(sample: readonly string[], counted = false): ((line: string) => string) | undefined {
  const layers: Unwrap[] = []
  let plain = sample
  for (const layer of LAYERS) {
    if (counted && layer === taskNumbers) continue
    const found = layer(plain)
    if (found === undefined) continue
    plain = opened(found, plain)
    layers.push(found)
  }
  return layers.length === 0 ? undefined : (line) => layers.reduce((text, layer) => layer(text) ?? text, line)
}
