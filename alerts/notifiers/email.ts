// Email: a plain message to some addresses by a mail server (SMTP). The server's URL holds user and password; delivery/smtp.ts speaks to it.
import * as z from 'zod/mini'
import { list, text, type Field } from '../../agent/config/field.ts'
import type { Message } from '../../agent/model/notification.ts'
import { headerWords } from '../messages/header-words.ts'
import { messageText } from '../messages/message-text.ts'
import { plainText } from '../messages/render.ts'
import { plainRuns, runMessageText } from '../messages/run-text.ts'
import { plainWaste, wasteMessageText } from '../messages/waste-text.ts'
import { defineNotifier, type OutgoingRequest } from './definition.ts'

const MOST_SUBJECT = 200
/** No end of line, no brackets: it is in commands of SMTP and in headers. */
const ADDRESS = /^[^\s<>()[\]\\,;:"@]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?$/
const MAX_TO = 50

const smtpUrl: Field<string> = {
  kind: 'text',
  schema: z.string().check(z.refine((url) => url === '' || (/^smtps?:\/\/\S{1,500}$/.test(url) && URL.canParse(url) && new URL(url).hostname !== ''))),
  default: '',
  expected: 'a URL such as smtps://USER:PASSWORD@mail.example.com:465 or smtp://mail.example.com:587',
  description:
    'The mail server, with user and password where it asks for them. smtps:// is encrypted from the start; smtp:// becomes so where the server offers it, and must before a password is sent.',
  secret: true,
}

export const email = defineNotifier({
  type: 'email',
  summary: 'mail by an SMTP server',
  options: {
    url: smtpUrl,
    from: text({ default: '', expected: 'an address such as warpwatch@example.com', description: 'The sender.' }),
    to: list({ default: [], expected: 'a list of addresses', description: 'The recipients.' }),
  },
  required: ['url', 'from', 'to'],
  check: ({ from, to }) => [
    ...(ADDRESS.test(from) ? [] : [{ option: 'from', text: `must be an address such as warpwatch@example.com, not ${JSON.stringify(from.slice(0, 100))}` }]),
    ...(to.length > MAX_TO ? [{ option: 'to', text: `must be at most ${MAX_TO} addresses, not ${to.length}: use a mailing list` }] : []),
    ...(to.length === 0 ? [{ option: 'to', text: 'must be at least one address' }] : []),
    ...to
      .filter((one) => !ADDRESS.test(one))
      .map((one) => ({ option: 'to', text: `must be addresses such as ops@example.com, not ${JSON.stringify(one.slice(0, 100))}` })),
  ],
  create({ url, from, to }) {
    const mail = ({ key, t }: Pick<Message, 'key' | 't'>, subject: string, body: string): OutgoingRequest => ({
      method: 'POST',
      url,
      headers: {
        From: from,
        To: to.join(', '),
        Subject: headerWords(subject, MOST_SUBJECT),
        Date: new Date(t).toUTCString().replace('GMT', '+0000'),
        // The same over retries: a mail that came twice is seen as one.
        'Message-ID': `<${key.replace(/[^\w.-]/g, '')}@${from.slice(from.indexOf('@') + 1)}>`,
        'Auto-Submitted': 'auto-generated',
        'MIME-Version': '1.0',
        'Content-Type': 'text/plain; charset=utf-8',
      },
      body,
    })
    return {
      most: 200,
      host: new URL(url).hostname,
      request: (message) => mail(message, messageText(message).headline, plainText(message)),
      finished: (message) => mail(message, runMessageText(message).headline, plainRuns(message)),
      waste: (message) => mail(message, wasteMessageText(message).headline, plainWaste(message)),
      judge: ({ status, body }) => (status === 250 ? { result: 'delivered' } : { result: status >= 500 ? 'rejected' : 'retry', why: body }),
    }
  },
})
