// What Slack is sent: blocks within its limits whatever comes in, nothing forged, threads for a bot; and what its answers mean.
import * as fc from '../../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import type { Incident } from '../../../agent/model/incident.ts'
import type { Message } from '../../../agent/model/notification.ts'
import { slack } from '../../../alerts/notifiers/slack.ts'
import { item, messageOf, oom, resolvedAfter, storm, xid79 } from './messages-scenes.ts'

const HOOK = 'https://hooks.slack.com/services/T000/B000/secretsecretsecret'
const TOKEN = 'xoxb-111-222-secretsecret'
const OPTIONS = { url: '', token: '', channel: '', api: 'https://slack.com/api', compatible: false }
const webhook = slack.create({ ...OPTIONS, url: HOOK })
const bot = slack.create({ ...OPTIONS, token: TOKEN, channel: 'C0123456789' })

type Text = { readonly type: string; readonly text: string; readonly verbatim?: boolean }
type Block = { readonly type: string; readonly text?: Text }
type Body = {
  readonly text: string
  readonly blocks?: readonly Block[]
  readonly thread_ts?: string
  readonly reply_broadcast?: boolean
  readonly channel?: string
}
const NONE: ReadonlyMap<string, string> = new Map()
function bodyOf(message: Message, threads = NONE, notifier = webhook): Body {
  const read: Body = JSON.parse(notifier.request(message, threads).body)
  return read
}
const mrkdwn = ({ blocks = [] }: Body): string => blocks.flatMap(({ text }) => (text?.type === 'mrkdwn' ? [text.text] : [])).join('\n')

test('one incident: what, why, what to do, where, since when, and where to read on', () => {
  const body = bodyOf(messageOf([item(oom())]))
  expect(body.text).toBe('🔴 CRITICAL: Out of GPU memory on GPU 3: container trainer on gpu-node-07')
  expect(body.blocks?.[0]).toEqual({ type: 'header', text: { type: 'plain_text', text: body.text, emoji: false } })
  const said = mrkdwn(body)
  const order = [
    '*Why:* PyTorch asked for 2.00 GiB',
    '*What to do:*\n1. Halve the batch size',
    '*Where:* container trainer (image lab/train:3)',
    '*Since:* 2026-05-01 03:12:07 UTC',
  ]
  expect(order.map((part) => said.indexOf(part))).toEqual(order.map((part) => said.indexOf(part)).toSorted((a, b) => a - b))
  for (const part of order) expect(said).toContain(part)
  expect(said).toContain('<http://gpu-node-07:9839/#/incidents/00000000000000aa|Open incident>')
  expect(said).toContain('<http://gpu-node-07:9839/runbooks/cuda_oom|Runbook>')
})

test('what is over says after how long, and names what it was', () => {
  const body = bodyOf(messageOf([item(resolvedAfter(oom(), 12 * 60_000, { resolution: 'the process has ended' }))]))
  expect(body.text).toBe('✅ Resolved after 12 min: Out of GPU memory on GPU 3: container trainer on gpu-node-07')
  expect(mrkdwn(body)).toContain('*Over:* The process has ended. What it was: PyTorch asked for')
})

test('a storm is one message with its counts', () => {
  const body = bodyOf(storm(500))
  expect(body.text).toMatch(/500 incidents, 350 critical: Out of GPU memory/)
  expect(mrkdwn(body)).toMatch(/449 more: Out of GPU memory on GPU 0–7, in containers (?:trainer-\d+, ){4}trainer-\d+ and 444 more/)
})

const pieces = fc.constantFrom(
  '<!channel>',
  '<@U1>',
  '@here',
  '*x*',
  '`',
  '```',
  '\n',
  '&',
  '<http://evil.example|Runbook>',
  'https://evil.example',
  'word ',
  '_',
  '> ',
  '\u202e',
  '漢',
  '😀',
)
const hostile = fc.oneof(
  fc.array(pieces, { maxLength: 60 }).map((some) => some.join('')),
  fc.tuple(pieces, fc.integer({ min: 0, max: 4_000 })).map(([piece, times]) => piece.repeat(times)),
)
const incidents = fc.array(
  fc.record({
    title: hostile,
    verdict: hostile,
    name: hostile,
    image: hostile,
    text: hostile,
    command: hostile,
    line: hostile,
    id: hostile,
    over: fc.boolean(),
  }),
  { minLength: 1, maxLength: 12 },
)
test("Slack's limits are kept and nothing is forged, whatever the words of incidents are", () => {
  fc.assert(
    fc.property(incidents, (given) => {
      const items = given.map(({ title, verdict, name, image, text, command, line, id, over }, i) => {
        const own: Partial<Incident> = {
          id: `${i} ${id}`,
          title,
          verdict,
          subject: { container: { name, image } },
          remedies: [{ text, command }],
          evidence: { log_lines: [{ t: 0, stream: 'container', text: line, matched: true }], series: [], processes: [] },
        }
        return item(over ? resolvedAfter(oom(own), 60_000) : oom(own))
      })
      const body = bodyOf(messageOf(items))
      const { blocks = [] } = body
      expect(blocks.length).toBeLessThanOrEqual(50)
      expect(JSON.stringify(blocks).length).toBeLessThanOrEqual(10_000)
      for (const { type, text } of blocks) {
        if (type === 'divider') continue
        expect(text?.text.length).toBeGreaterThan(0)
        expect(text?.text.length).toBeLessThanOrEqual(type === 'header' ? 150 : 3_000)
        expect(text?.type).toBe(type === 'header' ? 'plain_text' : 'mrkdwn')
        expect(text?.verbatim).toBe(type === 'section' ? true : undefined)
      }
      for (const said of [body.text, ...blocks.flatMap(({ text }) => text?.text ?? [])]) {
        // The only links are ours; of Slack's other sequences there is none.
        const links = [...said.matchAll(/<([^>]*)>/g)].map(([, link = '']) => link)
        for (const link of links) expect(link).toMatch(/^http:\/\/gpu-node-07:9839\/[^|]*\|(?:Open incident|Runbook)$/)
        expect(said.replace(/<[^>]*>/g, '')).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/)
      }
      // Fences come in pairs, so no block of code runs into our own words; a header is plain text.
      for (const said of [body.text, ...blocks.flatMap(({ type, text }) => (type === 'section' && text !== undefined ? [text.text] : []))])
        expect(said.split('```').length % 2).toBe(1)
      expect(body.text.length).toBeLessThanOrEqual(500)
    }),
    { numRuns: 60 },
  )
})

describe('threads of a bot', () => {
  const threads = new Map([
    ['00000000000000aa', '171.1'],
    ['7900000000000003', '171.2'],
  ])
  const over = item(resolvedAfter(oom(), 60_000))
  test('what is over goes into the thread of its first message, quietly', () => {
    expect(bodyOf(messageOf([over]), threads, bot)).toMatchObject({ channel: 'C0123456789', thread_ts: '171.1', reply_broadcast: false })
  })
  test('what still fires goes there too, and is shown in the channel', () => {
    expect(bodyOf(messageOf([item(oom(), 'repeat')]), threads, bot)).toMatchObject({ thread_ts: '171.1', reply_broadcast: true })
  })
  test('what nobody was told, or belongs to several threads, stands in the channel', () => {
    expect(bodyOf(messageOf([item(oom())]), NONE, bot).thread_ts).toBeUndefined()
    expect(bodyOf(messageOf([over, item(xid79(3), 'repeat')]), threads, bot).thread_ts).toBeUndefined()
    expect(bodyOf(messageOf([over, item(xid79(4))]), threads, bot).thread_ts).toBeUndefined()
  })
  test('a webhook has none', () => expect(bodyOf(messageOf([over]), threads).thread_ts).toBeUndefined())
  test('the token is in its header alone', () => {
    const { url, headers, body } = bot.request(messageOf([over]), threads)
    expect(url).toBe('https://slack.com/api/chat.postMessage')
    expect(headers['Authorization']).toBe(`Bearer ${TOKEN}`)
    expect(url + body + bot.host).not.toContain('secret')
    expect(webhook.host).toBe('hooks.slack.com')
  })
})

test('Mattermost and the like get Markdown, within their length', () => {
  const body = bodyOf(storm(500), NONE, slack.create({ ...OPTIONS, url: 'https://chat.example/hooks/x', compatible: true }))
  expect(body.blocks).toBeUndefined()
  expect(body.text).toMatch(/^\*\*CRITICAL: gpu-node-07: 500 incidents/)
  expect(body.text.length).toBeLessThanOrEqual(4_900)
})

describe('answers', () => {
  const answer = (status: number, body: string, headers: Record<string, string> = {}) => ({ status, body, headers })
  test.each([
    [200, 'ok', { result: 'delivered' }],
    [404, 'no_service', { result: 'rejected', why: expect.stringMatching(/no_service: the webhook was removed/) }],
    [410, 'channel_is_archived', { result: 'rejected', why: expect.stringMatching(/archived/) }],
    [400, 'invalid_payload', { result: 'rejected', why: expect.stringMatching(/fault of Warpwatch/) }],
    [500, 'rollup_error', { result: 'retry', why: 'Slack answered rollup_error' }],
    [503, '<html>secret</html>', { result: 'retry', why: 'Slack answered 503' }],
    [302, 'moved to https://secret', { result: 'rejected', why: 'Slack answered 302' }],
  ])('a webhook: %d %s', (status, body, verdict) => expect(webhook.judge?.(answer(status, body))).toEqual(verdict))

  const judged = (body: unknown, status = 200, headers = {}) => bot.judge?.(answer(status, JSON.stringify(body), headers))
  test('a bot: the thread is that of the first message, of a reply its parent', () => {
    expect(judged({ ok: true, ts: '171.1', message: { text: 'x' } })).toEqual({ result: 'delivered', thread: '171.1' })
    expect(judged({ ok: true, ts: '171.9', message: { thread_ts: '171.1' } })).toEqual({ result: 'delivered', thread: '171.1' })
  })
  test('a bot: errors come with status 200', () => {
    expect(judged({ ok: false, error: 'ratelimited' }, 429, { 'retry-after': '30' })).toEqual({
      result: 'retry',
      why: 'Slack answered ratelimited',
      afterMs: 30_000,
    })
    expect(judged({ ok: false, error: 'internal_error' })).toMatchObject({ result: 'retry' })
    expect(judged({ ok: false, error: 'channel_not_found' })).toMatchObject({ result: 'rejected', why: expect.stringMatching(/invite the app/) })
    expect(judged({ ok: false, error: 'some_new_error' })).toEqual({ result: 'rejected', why: 'Slack answered some_new_error' })
    expect(bot.judge?.(answer(200, '<html>'))).toMatchObject({ result: 'retry' })
    expect(bot.judge?.(answer(502, '<html>'))).toEqual({ result: 'retry', why: 'Slack answered 502' })
  })
})

describe('options', () => {
  const wrong = (options: Partial<typeof OPTIONS>) => slack.check?.({ ...OPTIONS, ...options }).map(({ option }) => option)
  test('a webhook at Slack, or a bot with its channel', () => {
    expect(wrong({ url: HOOK })).toEqual([])
    expect(wrong({ url: 'https://hooks.slack-gov.com/services/x' })).toEqual([])
    expect(wrong({ token: TOKEN, channel: 'C1' })).toEqual([])
    expect(wrong({ url: 'http://127.0.0.1:1/x', compatible: true })).toEqual([])
  })
  test('anything else is refused with the option named', () => {
    expect(wrong({})).toEqual(['url'])
    expect(wrong({ url: HOOK, token: TOKEN, channel: 'C1' })).toEqual(['token'])
    expect(wrong({ token: TOKEN })).toEqual(['channel'])
    expect(wrong({ url: HOOK, channel: 'C1' })).toEqual(['channel'])
    expect(wrong({ token: TOKEN, channel: 'C1', api: 'https://evil.example/api' })).toEqual(['api'])
    for (const url of ['http://hooks.slack.com/services/x', 'https://hooks.slack.com.evil.example/x', 'https://hooks.slack.com@evil.example/x'])
      expect(wrong({ url })).toEqual(['url'])
  })
  test('of a refused URL only its host is told', () => {
    const [problem] = slack.check?.({ ...OPTIONS, url: 'https://user:pass@evil.example/services/secret' }) ?? []
    expect(problem?.text).toMatch(/not https:\/\/evil\.example$/)
  })
})
