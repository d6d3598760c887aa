// Any receiver over HTTP that a template can speak to: Discord, Microsoft Teams, ntfy, PagerDuty; docs/notifications.md has them ready.
import type * as Library from 'liquidjs'
import { choice, text, texts, wholeNumber } from '../../agent/config/field.ts'
import type { Message, RunMessage, WasteMessage } from '../../agent/model/notification.ts'
import { messageOf } from '../../agent/text/error.ts'
import { headerProblems, headersOption, hostOf, receiverUrl, type OptionProblem } from './common.ts'
import { defineNotifier, type OutgoingRequest } from './definition.ts'
import { createEngine, formOf, TemplateError, type Template } from './template/engine.ts'
import { sampleMessages } from './template/samples.ts'
import { runViewOf } from './template/run-view.ts'
import { wasteViewOf } from './template/waste-view.ts'
import { viewOf } from './template/view.ts'

/** 2.3 MB of heap and 13 ms (measured with 10.30): only for those who use it. */
let library: typeof Library | undefined

type AnyMessage = Message | RunMessage | WasteMessage
type Words = { readonly body: string; readonly content_type: string; readonly secrets: Readonly<Record<string, string>> }

/** What V8 quotes of a text that is no JSON may hold a secret, so only what was expected and where is reported. */
function jsonProblem(body: string): string | undefined {
  try {
    JSON.parse(body)
    return undefined
  } catch (error) {
    const position = /at position (\d+)/.exec(messageOf(error))?.[1]
    const place = position === undefined ? '' : ` in line ${body.slice(0, Number(position)).split('\n').length} of what comes out`
    return `the result is no JSON, though content_type says so${place}${body.trim() === '' ? ' (nothing)' : ''}`
  }
}

/** Throws a TemplateError that holds no secret. */
function renderer({ body, content_type, secrets }: Words): (message: AnyMessage, strict: boolean) => string {
  if (library === undefined) throw new Error('the template notifier was used before it was loaded')
  const form = formOf(content_type)
  const template: Template = createEngine(library, form).compile(body)
  return (message, strict) => {
    const view = 'runs' in message ? runViewOf(message, secrets) : 'waste' in message ? wasteViewOf(message, secrets) : viewOf(message, secrets)
    const rendered = template.render(view, strict)
    const problem = form === 'json' ? jsonProblem(rendered) : undefined
    if (problem !== undefined) throw new TemplateError(problem)
    return rendered
  }
}

export const template = defineNotifier({
  type: 'template',
  summary: 'any HTTP service, with a body of your own: Discord, Teams, ntfy, PagerDuty (docs/notifications.md)',
  options: {
    url: receiverUrl('Where messages are sent to.', 'https://ntfy.example.com/gpu-alerts'),
    method: choice(['POST', 'PUT'], { default: 'POST', description: 'How.' }),
    headers: headersOption(),
    content_type: text({
      default: 'application/json',
      pattern: /^[\w.+-]+\/[\w.+-]+(?:; ?[\w-]+=[\w.-]+)*$/,
      expected: 'a media type such as application/json',
      description: 'The form of the body; what the template prints is escaped for it, and JSON is checked.',
    }),
    body: text({ default: '', pattern: /\S/, expected: 'a template', description: 'The body, a Liquid template.' }),
    secrets: texts({
      default: {},
      secret: true,
      valid: (name) => /^[a-z_]\w*$/i.test(name),
      expected: 'names of letters, digits and _ with their values',
      description: 'What the body needs but nobody should read: secrets.NAME in the template.',
    }),
    max_items: wholeNumber({ default: 20, min: 1, max: 100, description: 'Most incidents of one message; more go into the next.' }),
  },
  required: ['url', 'body'],
  async load() {
    library ??= await import('liquidjs')
  },
  check(options) {
    const problems: OptionProblem[] = [...headerProblems(options.headers)]
    try {
      const render = renderer(options)
      // Strict here, where someone reads it; in the night a fact that is missing costs a word, not the message.
      for (const [name, message] of sampleMessages(options.max_items)) {
        try {
          render(message, true)
        } catch (error) {
          if (!(error instanceof TemplateError)) throw error
          return [...problems, { option: 'body', text: `${error.message} (tried with ${name})` }]
        }
      }
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error
      problems.push({ option: 'body', text: error.message })
    }
    return problems
  },
  create(options) {
    const { url, method, headers, content_type, max_items } = options
    const render = renderer(options)
    const request = (message: AnyMessage): OutgoingRequest => ({
      method,
      url,
      headers: { ...headers, 'Content-Type': content_type, 'Idempotency-Key': message.key },
      body: render(message, false),
    })
    return { most: max_items, host: hostOf(url), request, finished: request, waste: request }
  },
})
