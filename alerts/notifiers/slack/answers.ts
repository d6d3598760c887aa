// What Slack's answers mean: which of its errors pass by themselves, and what people can do about the others.
import * as z from 'zod/mini'
import type { ReceiverAnswer, Verdict } from '../definition.ts'
import { clip, oneLine } from '../../messages/clean.ts'

/** docs.slack.dev/reference/methods/chat.postMessage and the changelog of 2016-05-17 for webhooks. */
const WHY: Readonly<Record<string, string>> = {
  no_service: 'the webhook was removed or switched off; make a new one for the app, and put its URL into the configuration',
  no_active_hooks: 'the webhook was removed or switched off; make a new one for the app, and put its URL into the configuration',
  no_team: 'the workspace of this webhook does not exist any more; make a webhook in another',
  invalid_token: 'the end of the webhook URL is wrong; copy it again from the page of the app',
  team_disabled: 'the workspace is switched off; ask its administrators',
  action_prohibited: 'the workspace forbids this webhook to post there; ask its administrators',
  posting_to_general_channel_denied: 'this webhook may not post to the general channel; choose another channel',
  channel_is_archived: 'the channel is archived; unarchive it, or choose another',
  is_archived: 'the channel is archived; unarchive it, or choose another',
  channel_not_found: 'the channel does not exist, or the app cannot see it; give its id (C…), and invite the app into it',
  not_in_channel: 'the app is not in the channel; invite it there',
  invalid_auth: 'the token is not valid; copy the bot token (xoxb-…) again from the page of the app',
  not_authed: 'the token is missing; copy the bot token (xoxb-…) from the page of the app',
  token_revoked: 'the token was taken back; install the app again, and put the new token into the configuration',
  token_expired: 'the token has expired; install the app again, and put the new token into the configuration',
  account_inactive: 'the token belongs to an app or a workspace that is gone; install the app again',
  missing_scope: 'the app lacks the scope chat:write; add it, and install the app again',
  not_allowed_token_type: 'this kind of token may not post; use the bot token (xoxb-…)',
  restricted_action: 'the workspace allows only some to post in this channel; ask its administrators',
  restricted_action_thread_locked: 'the thread was locked; unlock it in Slack',
  thread_locked: 'the thread was locked; unlock it in Slack',
  cannot_reply_to_message: 'the first message of the thread takes no replies',
  invalid_payload: 'Slack could not read the message; this is a fault of Warpwatch, please report it',
  invalid_blocks: 'Slack could not read the blocks of the message; this is a fault of Warpwatch, please report it',
  msg_blocks_too_long: 'the message was too long for Slack; this is a fault of Warpwatch, please report it',
  no_text: 'the message had no text; this is a fault of Warpwatch, please report it',
}
/** These pass: the service, the network, or too much at once. */
const PASSING: ReadonlySet<string> = new Set([
  'ratelimited',
  'rate_limited',
  'message_limit_exceeded',
  'internal_error',
  'fatal_error',
  'service_unavailable',
  'request_timeout',
  'rollup_error',
  'team_added_to_org',
  'timeout',
])

const named = (error: string): string => (WHY[error] === undefined ? `Slack answered ${error}` : `Slack answered ${error}: ${WHY[error]}`)
/** An error's name as Slack writes them; anything else that came is not repeated, as it may be anything. */
const errorName = (body: string): string | undefined => /^\s*([a-z][a-z_]{2,60})\s*$/.exec(body)?.[1]

/** Slack says it in seconds. */
function later(why: string, { headers }: ReceiverAnswer): Verdict {
  const afterMs = Number(headers['retry-after'] ?? Number.NaN) * 1_000
  return { result: 'retry', why, ...(afterMs > 0 ? { afterMs } : {}) }
}
const failed = (error: string, answer: ReceiverAnswer): Verdict =>
  PASSING.has(error) ? later(`Slack answered ${error}`, answer) : { result: 'rejected', why: named(error) }

function byStatus(answer: ReceiverAnswer): Verdict | undefined {
  const { status, body } = answer
  if (status >= 200 && status < 300) return undefined
  const name = errorName(body)
  // A body that names an error says more than its status: for some lasting ones webhooks answer 500.
  if (name !== undefined && (WHY[name] !== undefined || PASSING.has(name))) return failed(name, answer)
  const why = `Slack answered ${status}${name === undefined ? '' : ` ${name}`}`
  return status === 408 || status === 425 || status === 429 || status >= 500 ? later(why, answer) : { result: 'rejected', why }
}

export const judgeWebhook = (answer: ReceiverAnswer): Verdict => byStatus(answer) ?? { result: 'delivered' }

const posted = z.object({
  ok: z.boolean(),
  error: z.optional(z.string()),
  ts: z.optional(z.string()),
  message: z.optional(z.object({ thread_ts: z.optional(z.string()) })),
})
function read(body: string): z.infer<typeof posted> | undefined {
  try {
    return posted.safeParse(JSON.parse(body)).data
  } catch {
    return undefined
  }
}

/** chat.postMessage answers 200 for errors as well, and says so in the body. */
export function judgePosted(answer: ReceiverAnswer): Verdict {
  const found = read(answer.body)
  if (found?.ok === false) return failed(clip(oneLine(found.error ?? 'no error by name'), 60), answer)
  const other = byStatus(answer)
  if (other !== undefined) return other
  // A proxy's page, for example. Posting again could say it twice; being silent could be never.
  if (found === undefined) return { result: 'retry', why: 'the answer is not the JSON of chat.postMessage; is there a proxy in between?' }
  const thread = found.message?.thread_ts ?? found.ts
  return { result: 'delivered', ...(thread === undefined ? {} : { thread }) }
}
