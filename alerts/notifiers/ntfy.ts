// ntfy: a push message on phones, by a topic of ntfy.sh or of an own server. Title, priority and link are headers, the text is the body.
import type { Message, RunMessage } from '../../agent/model/notification.ts'
import { headerWords } from '../messages/header-words.ts'
import { incidentUrl } from '../messages/links.ts'
import { messageText } from '../messages/message-text.ts'
import { plainText } from '../messages/render.ts'
import { plainRuns, runMessageText } from '../messages/run-text.ts'
import { plainWaste, wasteMessageText } from '../messages/waste-text.ts'
import { hostOf, receiverUrl, secretText } from './common.ts'
import { defineNotifier, type OutgoingRequest } from './definition.ts'

/** A longer message becomes a file; the limit is 4,096 bytes, and letters may have three. */
const MOST_TEXT = 1_300
const MOST_TITLE = 120
/** https://docs.ntfy.sh/publish/#message-priority: 5 is the highest, 3 the usual. */
const PRIORITY = { critical: '5', warning: '4', info: '3' } as const

export const ntfy = defineNotifier({
  type: 'ntfy',
  summary: 'a push message on phones by ntfy',
  options: {
    url: receiverUrl('The topic. Who knows it can read it.', 'https://ntfy.sh/gpu-alerts-7f3a'),
    token: secretText('Access token (tk_…), where the topic is protected.'),
  },
  required: ['url'],
  create({ url, token }) {
    const post = (key: string, title: string, body: string, more: Readonly<Record<string, string>>): OutgoingRequest => ({
      method: 'POST',
      url,
      headers: {
        'Content-Type': 'text/plain; charset=utf-8',
        'Idempotency-Key': key,
        Title: headerWords(title, MOST_TITLE),
        ...more,
        ...(token === '' ? {} : { Authorization: `Bearer ${token}` }),
      },
      body,
    })
    return {
      most: 100,
      host: hostOf(url),
      request(message: Message) {
        const { severity, headline } = messageText(message)
        const [first] = message.items
        const link = first === undefined ? undefined : incidentUrl(message, first.incident.id)
        return post(message.key, headline, plainText(message, MOST_TEXT), {
          Priority: severity === undefined ? '3' : PRIORITY[severity],
          Tags: severity === undefined ? 'white_check_mark' : severity === 'info' ? 'information_source' : 'warning',
          ...(link === undefined ? {} : { Click: link }),
        })
      },
      finished(message: RunMessage) {
        const { headline, isBad } = runMessageText(message)
        return post(message.key, headline, plainRuns(message, MOST_TEXT), { Priority: isBad ? '4' : '3', Tags: isBad ? 'warning' : 'checkered_flag' })
      },
      waste: (message) => post(message.key, wasteMessageText(message).headline, plainWaste(message, MOST_TEXT), { Priority: '2', Tags: 'bar_chart' }),
    }
  },
})
