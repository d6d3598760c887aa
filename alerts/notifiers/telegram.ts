// Telegram: a bot writes to a chat, a group or a channel.
import { text } from '../../agent/config/field.ts'
import { htmlText } from '../messages/render.ts'
import { htmlRuns } from '../messages/run-text.ts'
import { htmlWaste } from '../messages/waste-text.ts'
import { hostOf, secretText } from './common.ts'
import { defineNotifier, type OutgoingRequest, type ReceiverAnswer, type Verdict } from './definition.ts'

/** https://core.telegram.org/bots/api#sendmessage: 4,096 characters after the markup is read; before it there are more. */
const MOST_TEXT = 4_000

const memberOf = (value: unknown, name: string): unknown => (typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined)

/** Says itself how long to wait, and why a message is refused; neither holds the token. */
function judge({ status, body }: ReceiverAnswer): Verdict {
  let answer: unknown
  try {
    answer = JSON.parse(body)
  } catch {
    answer = undefined // a proxy's page
  }
  const description = memberOf(answer, 'description')
  const why = `Telegram answered with status ${status}${typeof description === 'string' ? `: ${description.slice(0, 200)}` : ''}`
  if (status >= 200 && status <= 299 && memberOf(answer, 'ok') === true) return { result: 'delivered' }
  const afterS = memberOf(memberOf(answer, 'parameters'), 'retry_after')
  if (status === 429) return { result: 'retry', why, ...(typeof afterS === 'number' ? { afterMs: afterS * 1_000 } : {}) }
  return { result: status >= 500 || status === 408 || (status >= 200 && status <= 299) ? 'retry' : 'rejected', why }
}

export const telegram = defineNotifier({
  type: 'telegram',
  summary: 'a chat, group or channel of Telegram, by a bot',
  options: {
    token: { ...secretText('Token of the bot, as BotFather gives it.'), default: '' },
    chat: text({
      default: '',
      pattern: /^(?:-?\d{1,20}|@\w{1,64})?$/,
      expected: 'the number of a chat or the @name of a channel',
      description: 'Where the bot writes, such as -1001234567890.',
    }),
    api: text({
      default: 'https://api.telegram.org',
      pattern: /^https?:\/\/[^\s/]+(?:\/[^\s?#]*)?$/,
      expected: 'a URL such as https://api.telegram.org',
      description: 'Where the Bot API is; another for a server of your own.',
    }),
  },
  required: ['token', 'chat'],
  check: ({ token }) => (/^[\w:.-]*$/.test(token) ? [] : [{ option: 'token', text: 'must be as BotFather gives it: digits, a colon, letters' }]),
  create({ token, chat, api }) {
    const url = `${api.replace(/\/+$/, '')}/bot${token}/sendMessage`
    const post = (key: string, words: string): OutgoingRequest => ({
      method: 'POST',
      url,
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
      body: JSON.stringify({ chat_id: chat, text: words, parse_mode: 'HTML', link_preview_options: { is_disabled: true } }),
    })
    return {
      most: 100,
      host: hostOf(url),
      request: (message) => post(message.key, htmlText(message, MOST_TEXT)),
      finished: (message) => post(message.key, htmlRuns(message, MOST_TEXT)),
      waste: (message) => post(message.key, htmlWaste(message, MOST_TEXT)),
      judge,
    }
  },
})
