// Slack: by an incoming webhook, or as a bot whose later words on an incident go into the thread of its first. Mattermost and Rocket.Chat take webhooks too.
import { onOff, text } from '../../agent/config/field.ts'
import type { Message, MessageItem, RunMessage, WasteMessage } from '../../agent/model/notification.ts'
import { hostOf, receiverUrl, secretText, type OptionProblem } from './common.ts'
import { escapeSlack, fitted } from '../messages/escape.ts'
import { markdownText } from '../messages/render.ts'
import { markdownRuns } from '../messages/run-text.ts'
import { markdownWaste } from '../messages/waste-text.ts'
import { messageText } from '../messages/message-text.ts'
import { defineNotifier, type OutgoingRequest } from './definition.ts'
import { judgePosted, judgeWebhook } from './slack/answers.ts'
import { headlineText, messageBlocks, runBlocks, runHeadlineText, wasteBlocks, wasteHeadlineText } from './slack/blocks.ts'

const WEBHOOK_HOSTS: readonly string[] = ['hooks.slack.com', 'hooks.slack-gov.com']
const API_HOSTS: readonly string[] = ['slack.com', 'slack-gov.com']
const API = 'https://slack.com/api'
/** A storm is one message with a count; more of it would tell nobody more. */
const MOST = 200
/** Slack wants at most 4,000 of a text; of the fall-back a phone shows two lines. */
const MOST_FALLBACK = 500
/** Mattermost's limit of a post is 16,383 characters, Rocket.Chat's 5,000 as it comes. */
const MOST_COMPATIBLE = 4_900

type Options = { readonly url: string; readonly token: string; readonly channel: string; readonly api: string; readonly compatible: boolean }
type Body = Readonly<Record<string, unknown>>

function hostProblem(option: 'url' | 'api', url: string, hosts: readonly string[], compatible: boolean): readonly OptionProblem[] {
  if (compatible || !URL.canParse(url)) return []
  const { protocol, host } = new URL(url)
  if (protocol === 'https:' && hosts.includes(host)) return []
  const wanted = hosts.map((one) => `https://${one}`).join(' or ')
  return [{ option, text: `must be a URL at ${wanted} (or compatible: true for Mattermost and the like), not ${protocol}//${host}` }]
}

function problems({ url, token, channel, api, compatible }: Options): readonly OptionProblem[] {
  const bot = token !== ''
  return [
    ...(url === '' && !bot ? [{ option: 'url', text: 'missing: give the URL of an incoming webhook, or token and channel of a bot' }] : []),
    ...(url !== '' && bot ? [{ option: 'token', text: 'url and token exclude each other: give the URL of an incoming webhook or the token of a bot' }] : []),
    ...(bot && channel === '' ? [{ option: 'channel', text: 'missing: give the channel that the bot posts to, such as C0123456789' }] : []),
    ...(!bot && channel !== '' ? [{ option: 'channel', text: 'leave it out: a webhook has a channel of its own (only a bot, with token, takes one)' }] : []),
    ...(url === '' ? [] : hostProblem('url', url, WEBHOOK_HOSTS, compatible)),
    ...(bot ? hostProblem('api', api, API_HOSTS, compatible) : []),
  ]
}

function bodyOf(message: Message): Body {
  return {
    text: fitted(headlineText(messageText(message)), MOST_FALLBACK, escapeSlack),
    blocks: messageBlocks(message),
    unfurl_links: false,
    unfurl_media: false,
  }
}
/** Neither knows all of the blocks, both know Markdown. */
const compatibleBody = (message: Message): Body => ({ text: markdownText(message, MOST_COMPATIBLE) })

function runBodyOf(message: RunMessage): Body {
  return { text: fitted(runHeadlineText(message), MOST_FALLBACK, escapeSlack), blocks: runBlocks(message), unfurl_links: false, unfurl_media: false }
}
const compatibleRunBody = (message: RunMessage): Body => ({ text: markdownRuns(message, MOST_COMPATIBLE) })

function wasteBodyOf(message: WasteMessage): Body {
  return { text: fitted(wasteHeadlineText(message), MOST_FALLBACK, escapeSlack), blocks: wasteBlocks(message), unfurl_links: false, unfurl_media: false }
}
const compatibleWasteBody = (message: WasteMessage): Body => ({ text: markdownWaste(message, MOST_COMPATIBLE) })

/** What was never sent is in the channel itself; all else goes to the thread when there is just one. */
function threadOf({ items }: Message, threads: ReadonlyMap<string, string>): string | undefined {
  const found = new Set(items.map(({ incident }) => threads.get(incident.id)))
  const [only] = found
  return found.size === 1 ? only : undefined
}
/** A reply is shown to those alone who follow the thread; what still fires, or worse, is to be seen by all. */
const forAll = ({ event }: MessageItem): boolean => event === 'firing'

const json = (url: string, body: Body, headers: Readonly<Record<string, string>> = {}): OutgoingRequest => ({
  method: 'POST',
  url,
  headers: { ...headers, 'Content-Type': 'application/json; charset=utf-8' },
  body: JSON.stringify(body),
})

export const slack = defineNotifier({
  type: 'slack',
  summary: 'a channel of Slack, by webhook or bot; Mattermost and Rocket.Chat by webhook',
  options: {
    url: receiverUrl('Incoming webhook of the app. It holds the channel, and cannot make threads.', 'https://hooks.slack.com/services/T…/B…/…', {
      optional: true,
    }),
    token: secretText('Bot token (xoxb-…) with the scope chat:write, in place of url: what is sent later about an incident goes into its thread.'),
    channel: text({ default: '', expected: 'the id or name of a channel', description: 'Where the bot posts, such as C0123456789; the app must be in it.' }),
    api: text({
      default: API,
      pattern: /^https?:\/\/[^\s/]+(?:\/[^\s?#]*)?$/,
      expected: 'a URL such as https://slack.com/api',
      description: "Where the bot's methods are; https://slack-gov.com/api for GovSlack.",
    }),
    compatible: onOff({ default: false, description: 'For other servers that take the webhooks of Slack: any host, and Markdown in place of blocks.' }),
  },
  required: [],
  check: problems,
  create({ url, token, channel, api, compatible }) {
    const content = compatible && token === '' ? compatibleBody : bodyOf
    const runContent = compatible && token === '' ? compatibleRunBody : runBodyOf
    const wasteContent = compatible && token === '' ? compatibleWasteBody : wasteBodyOf
    if (token === '')
      return {
        most: MOST,
        host: hostOf(url),
        request: (message) => json(url, content(message)),
        finished: (message) => json(url, runContent(message)),
        waste: (message) => json(url, wasteContent(message)),
        judge: judgeWebhook,
      }
    const target = `${api.replace(/\/+$/, '')}/chat.postMessage`
    return {
      most: MOST,
      host: hostOf(target),
      request(message, threads) {
        const thread = threadOf(message, threads)
        const reply = thread === undefined ? {} : { thread_ts: thread, reply_broadcast: message.items.some(forAll) }
        return json(target, { channel, ...content(message), ...reply }, { Authorization: `Bearer ${token}` })
      },
      finished: (message) => json(target, { channel, ...runContent(message) }, { Authorization: `Bearer ${token}` }),
      waste: (message) => json(target, { channel, ...wasteContent(message) }, { Authorization: `Bearer ${token}` }),
      judge: judgePosted,
    }
  },
})
