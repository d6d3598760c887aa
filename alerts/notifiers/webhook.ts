// The generic webhook: the incident as JSON, signed, with a key by which the receiver knows a repeated message.
import { createHmac } from 'node:crypto'
import type { MessageItem, Reach } from '../../agent/model/notification.ts'
import { directionsOf, incidentUrl, messagePageUrl, runbookUrl } from '../messages/links.ts'
import { headerProblems, headersOption, hostOf, receiverUrl, secretText } from './common.ts'
import { runMessageText } from '../messages/run-text.ts'
import { wasteMessageText } from '../messages/waste-text.ts'
import { defineNotifier, type OutgoingRequest } from './definition.ts'

const SIGNATURE = 'X-Warpwatch-Signature'
/** A storm's messages stay below a megabyte or two: an incident is at most some 16 KB. */
const MOST = 100

/** The run as Markdown. */
const reportUrl = ({ base_url }: Reach, jobId: string): string | undefined =>
  base_url === undefined ? undefined : `${base_url}/api/v1/jobs/${encodeURIComponent(jobId)}/report`

export const webhook = defineNotifier({
  type: 'webhook',
  summary: 'a POST of JSON to any HTTP service, signed',
  options: {
    url: receiverUrl('Where messages are posted to.', 'https://ops.example.com/warpwatch'),
    secret: secretText(`With it each message carries ${SIGNATURE}: sha256= and the HMAC of the body in hexadecimal.`),
    headers: headersOption(),
  },
  required: ['url'],
  check: ({ headers }) => headerProblems(headers, [SIGNATURE.toLowerCase()]),
  create({ url, secret, headers }) {
    const signed = (key: string, value: object): OutgoingRequest => {
      const body = JSON.stringify(value)
      return {
        method: 'POST',
        url,
        headers: {
          ...headers,
          'Content-Type': 'application/json',
          'Idempotency-Key': key,
          ...(secret === '' ? {} : { [SIGNATURE]: `sha256=${createHmac('sha256', secret).update(body).digest('hex')}` }),
        },
        body,
      }
    }
    return {
      most: MOST,
      host: hostOf(url),
      request(message) {
        const [first, ...others] = message.items
        if (first === undefined) throw new Error('a message without items')
        return signed(message.key, {
          version: 1,
          event: first.event,
          incident: first.incident,
          host: message.host,
          reason: first.reason,
          // Signed with the rest, so that nobody can send a message again under another key.
          key: message.key,
          t: message.t,
          // Without alerts.base_url there are no links, but words that say how to get there.
          url: incidentUrl(message, first.incident.id),
          runbook: runbookUrl(message, first.incident.kind),
          directions: directionsOf(first.incident, message)?.text,
          count: message.count,
          others: others.length === 0 ? undefined : others.map(({ event, reason, incident }: MessageItem) => ({ event, reason, incident })),
          expired: message.expired,
        })
      },
      finished(message) {
        const [run, ...others] = message.runs
        if (run === undefined) throw new Error('a message without runs')
        return signed(message.key, {
          version: 1,
          event: 'finished',
          text: runMessageText(message).headline,
          run,
          host: message.host,
          key: message.key,
          t: message.t,
          report: reportUrl(message, run.job_id),
          count: message.runs.length,
          others: others.length === 0 ? undefined : others,
          expired: message.expired,
        })
      },
      waste(message) {
        const [summary, ...others] = message.waste
        if (summary === undefined) throw new Error('a message without summaries')
        return signed(message.key, {
          version: 1,
          event: 'waste',
          text: wasteMessageText(message).headline,
          waste: summary,
          host: message.host,
          key: message.key,
          t: message.t,
          runbook: messagePageUrl(message, 'waste_summary'),
          count: message.waste.length,
          others: others.length === 0 ? undefined : others,
          expired: message.expired,
        })
      },
    }
  },
})
