// What the generic webhook posts: the contract's body, the signature over exactly these bytes, the key.
import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { webhook } from '../../../alerts/notifiers/webhook.ts'
import type { Message } from '../../../agent/model/notification.ts'
import { bare, full, hostile, item, message, storm } from './notifier-messages.ts'

const options = { url: 'https://user:pass@ops.example.com/hooks/SECRET?token=SECRET', secret: 'correct horse', headers: { 'X-Team': 'gpu' } }
const send = (about: Message, change: Partial<typeof options> = {}) => webhook.create({ ...options, ...change }).request(about, new Map())
const Body = z.looseObject({
  version: z.literal(1),
  event: z.enum(['firing', 'resolved']),
  incident: z.looseObject({ id: z.string(), kind: z.string(), verdict: z.string() }),
  host: z.string(),
  count: z.int(),
  others: z.optional(z.array(z.strictObject({ event: z.string(), reason: z.string(), incident: z.looseObject({ id: z.string() }) }))),
})
const bodyOf = (about: Message) => Body.parse(JSON.parse(send(about).body))

describe('the webhook', () => {
  test('posts the contract’s keys, with links and the key that is signed too', () => {
    const body = bodyOf(message(item(full())))
    expect(body).toMatchObject({
      version: 1,
      event: 'firing',
      reason: 'new',
      host: 'gpu-node-07',
      key: 'key-1',
      runbook: 'http://gpu-node-07:9839/runbooks/cuda_oom',
      incident: { kind: 'cuda_oom', verdict: 'The model asked for 2 GiB and the card was full.' },
      count: 1,
    })
    expect(body['url']).toContain(full().id)
    expect(body.others).toBeUndefined()
  })

  test('tells the first and all others of a group', () => {
    const body = bodyOf(message(item(full()), item(bare(), 'resolved')))
    expect(body.count).toBe(2)
    expect(body.others).toHaveLength(1)
    expect(body.others?.[0]).toMatchObject({ event: 'resolved', reason: 'resolved', incident: { kind: 'disk_full', resolution: 'the process has ended' } })
    expect(bodyOf(storm(100)).others).toHaveLength(99)
  })

  test('signs the body’s bytes, whatever characters they are', () => {
    for (const about of [message(item(full({ verdict: 'Grafikkarte überhitzt 🔥' }))), message(item(hostile()))]) {
      const { headers, body } = send(about)
      const expected = createHmac('sha256', options.secret).update(Buffer.from(body, 'utf8')).digest('hex')
      expect(headers['X-Warpwatch-Signature']).toBe(`sha256=${expected}`)
      expect(headers['Idempotency-Key']).toBe('key-1')
      expect(headers['X-Team']).toBe('gpu')
    }
    expect(send(message(item(full())), { secret: '' }).headers).not.toHaveProperty('X-Warpwatch-Signature')
  })

  test('is the same each time it is asked, so that a retry is no new message', () => {
    const about = message(item(full()))
    expect(send(about)).toEqual(send(about))
  })

  test('shows people nothing of its URL but the host', () => {
    expect(webhook.create(options).host).toBe('ops.example.com')
  })

  test('refuses headers that it sets itself', () => {
    const wrong = webhook.check?.({ ...options, headers: { 'x-warpwatch-signature': 'sha256=0', 'Idempotency-KEY': 'a', 'X-Team': 'gpu' } })
    expect(wrong?.map(({ option }) => option)).toEqual(['headers', 'headers'])
    expect(webhook.check?.(options)).toEqual([])
  })
})
