// Liquid as far as a message needs it: no files, no code, bounded, and what is printed is escaped for the form of the body.
import type * as Library from 'liquidjs'
import type { Message, RunMessage, WasteMessage } from '../../../agent/model/notification.ts'
import { messageOf } from '../../../agent/text/error.ts'
import { clean } from '../../messages/clean.ts'
import { escapeHtml, escapeMarkdown, fitted } from '../../messages/escape.ts'
import { htmlText, markdownText, plainText } from '../../messages/render.ts'
import { htmlRuns, markdownRuns, plainRuns } from '../../messages/run-text.ts'
import { htmlWaste, markdownWaste, plainWaste } from '../../messages/waste-text.ts'

export type Form = 'json' | 'form' | 'markup' | 'text'
export type Template = {
  /** `strict`: a name that is not there is an error, not nothing. */
  readonly render: (view: object, strict: boolean) => string
}
/** What is wrong with a template, in words that hold nothing of it but names. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError'
}

export const MAX_TEMPLATE = 64 * 1024
/** Of a whole message where the template names no bound. */
const MOST_WORDS = 16_000
/** No receiver takes more. */
const MAX_BODY = 1 << 20
/** Against loops without an end only, as it is time by the clock: a storm of 20 takes 8 ms, but on a host in trouble anything may take long. */
const RENDER_MS = 5_000
/** Characters and elements that filters may make. */
const MEMORY = 20_000_000
/** Files, templates of other names, and counters that outlive a message. */
const TAGS_WITHOUT = ['include', 'render', 'layout', 'block', 'increment', 'decrement', 'tablerow']

const FORMS: readonly (readonly [RegExp, Form])[] = [
  [/^[\w.-]+\/(?:[\w.-]+\+)?json\b/i, 'json'],
  [/^application\/x-www-form-urlencoded\b/i, 'form'],
  [/^[\w.-]+\/(?:[\w.-]+\+)?(?:html|xml)\b/i, 'markup'],
]
export const formOf = (contentType: string): Form => FORMS.find(([pattern]) => pattern.test(contentType))?.[1] ?? 'text'

const ESCAPES: Readonly<Record<Form, (text: string) => string>> = {
  json: (text) => JSON.stringify(text).slice(1, -1),
  form: encodeURIComponent,
  markup: escapeHtml,
  text: (text) => text,
}

function printed(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw new TemplateError(`only text and numbers can be printed, not ${Array.isArray(value) ? 'a list' : 'a group'}; the filter json prints those`)
}

type Escape = (text: string) => string
/** A whole message in this form, in at most so many characters. */
type Whole<T = Message> = (message: T, most: number) => string
const isMessage = (value: unknown): value is Message => typeof value === 'object' && value !== null && 'items' in value && 'local_url' in value
const isRunMessage = (value: unknown): value is RunMessage => typeof value === 'object' && value !== null && 'runs' in value && 'local_url' in value
const isWasteMessage = (value: unknown): value is WasteMessage => typeof value === 'object' && value !== null && 'waste' in value && 'local_url' in value

/** `{{ message | markdown: 1900 }}` is the message in words, `{{ item.title | markdown: 200 }}` a text escaped; neither is longer than that. */
const marking =
  (escape: Escape, whole: Whole, wholeOfRuns: Whole<RunMessage>, wholeOfWaste: Whole<WasteMessage>) =>
  (value: unknown, most?: unknown): string => {
    const bound = typeof most === 'number' && most >= 1 ? Math.floor(most) : undefined
    if (isMessage(value)) return whole(value, bound ?? MOST_WORDS)
    if (isRunMessage(value)) return wholeOfRuns(value, bound ?? MOST_WORDS)
    if (isWasteMessage(value)) return wholeOfWaste(value, bound ?? MOST_WORDS)
    return bound === undefined ? escape(printed(value)) : fitted(printed(value), bound, escape)
  }

/** `undefined filter: jsn, line:3, col:7` as line 3, column 7: undefined filter: jsn. */
function errorText(error: unknown): TemplateError {
  const text = messageOf(error)
  const [, what = text, line, column] = /^(.*?)(?:, file:[^,]*)?, line:(\d+), col:(\d+)/s.exec(text) ?? []
  return new TemplateError(line === undefined ? what : `line ${line}, column ${column}: ${what}`)
}

export function createEngine({ Liquid }: typeof Library, form: Form): { readonly compile: (source: string) => Template } {
  const escape = ESCAPES[form]
  const liquid = new Liquid({
    strictFilters: true,
    lenientIf: true,
    ownPropertyOnly: true,
    // Nothing is looked for in the file system.
    templates: {},
    parseLimit: MAX_TEMPLATE,
    renderLimit: RENDER_MS,
    memoryLimit: MEMORY,
    timezoneOffset: 0,
    outputEscape: (value: unknown) => escape(printed(value)),
  })
  for (const tag of TAGS_WITHOUT) delete liquid.tags[tag]
  // Whole values, with their quotes: nothing is to be escaped any more.
  const json = { raw: true, handler: (value: unknown) => JSON.stringify(value ?? null) }
  liquid.registerFilter('json', json)
  liquid.registerFilter('jsonify', json)
  liquid.registerFilter('plain', marking(clean, plainText, plainRuns, plainWaste))
  liquid.registerFilter('markdown', marking(escapeMarkdown, markdownText, markdownRuns, markdownWaste))
  liquid.registerFilter('html', marking(escapeHtml, htmlText, htmlRuns, htmlWaste))
  return {
    compile(source) {
      if (source.length > MAX_TEMPLATE) throw new TemplateError(`must be at most ${MAX_TEMPLATE} characters, not ${source.length}`)
      try {
        const parsed = liquid.parse(source)
        return {
          render(view, strict) {
            let text: unknown
            try {
              text = liquid.renderSync(parsed, view, { strictVariables: strict })
            } catch (error) {
              throw errorText(error)
            }
            if (typeof text !== 'string' || text.length > MAX_BODY)
              throw new TemplateError(`the result is longer than ${MAX_BODY} characters: shorten the template`)
            return text
          },
        }
      } catch (error) {
        throw errorText(error)
      }
    },
  }
}
