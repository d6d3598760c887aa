// Templates of the user's own: what is refused at the start and where, what text from outside can do, and what they are given.
import { beforeAll, describe, expect, test } from 'vitest'
import * as fc from '../../setup/fast-check.ts'
import * as z from 'zod'
import { template } from '../../../alerts/notifiers/template.ts'
import type { Message } from '../../../agent/model/notification.ts'
import { bare, full, hostile, HOSTILE, item, message, storm } from './notifier-messages.ts'

const options = {
  url: 'https://chat.example.com/hooks/SECRET',
  method: 'POST',
  headers: {},
  content_type: 'application/json',
  body: '{"text": "{{ headline }}"}',
  secrets: {},
  max_items: 20,
} as const
type Options = Omit<typeof options, 'body' | 'content_type' | 'secrets' | 'method' | 'max_items'> & {
  readonly body: string
  readonly content_type: string
  readonly secrets: Readonly<Record<string, string>>
  readonly method: 'POST' | 'PUT'
  readonly max_items: number
}
const check = (body: string, change: Partial<Options> = {}) => template.check?.({ ...options, body, ...change }) ?? []
const render = (body: string, about: Message, change: Partial<Options> = {}) => template.create({ ...options, body, ...change }).request(about, new Map()).body
const json = (body: string, about: Message, change: Partial<Options> = {}): unknown => JSON.parse(render(body, about, change))
const asText = { content_type: 'text/plain' }

beforeAll(async () => {
  await template.load?.()
})

describe('at the start', () => {
  test.each([
    ['{"text":\n  "{{ headline | jsn }}"}', 'line 2, column 4: undefined filter: jsn'],
    ['{% if event == "firing" %}{}', 'line 1, column 1: tag {% if event == "firing" %} not closed'],
    ['{"text": "{{ headline"}', 'line 1, column 11: output'],
    ['{"text": "{{ headlin }}"}', 'line 1, column 14: undefined variable: headlin'],
    ['{"serial": {{ items[0].facts.serial | json }}}', 'undefined variable: items.0.facts.serial'],
    ['{"text": "{{ items[0] }}"}', 'only text and numbers can be printed, not a group'],
    ["{% include '/etc/passwd' %}", 'tag "include" not found'],
    ["{% render 'x' %}", 'tag "render" not found'],
    ["{% layout 'x' %}", 'tag "layout" not found'],
    ['{"text": {{ headline }}}', 'the result is no JSON'],
    ['{"text": "{{ headline | json }}"}', 'the result is no JSON'],
    ['{"text": "{{ items[0].verdict | raw }}"}', 'the result is no JSON'],
    ['{"gpu": {{ items[0].gpu }}}', '(tried with an incident of the host)'],
    ['{% for i in (1..100000000) %}{{ i }}{% endfor %}', 'line 1, column'],
    [`"${'x'.repeat(70_000)}"`, 'must be at most 65536 characters, not 70002'],
  ])('refuses %j', (body, why) => {
    const problems = check(body)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatchObject({ option: 'body', text: expect.stringContaining(why) })
  })

  test('takes what is JSON for every message', () => {
    expect(check('{"text": {{ headline | json }}, "gpu": {{ items[0].gpu | json }}}')).toEqual([])
    expect(check('{% if items[0].facts.xid %}{"xid": {{ items[0].facts.xid }}}{% else %}{}{% endif %}')).toEqual([])
    expect(check('no JSON: {{ headline }}', asText)).toEqual([])
  })

  test('tells no secret of a body that is wrong', () => {
    const secrets = { key: 'VERY-SECRET' }
    for (const body of [
      '{{ secrets.key }}',
      '{"a": {{ secrets.key }}}',
      '{{ secrets.key | nofilter }}',
      '{{ secrets.nokey }}',
      '{"key": "{{ secrets.key | raw }}"',
    ])
      expect(JSON.stringify(check(body, { secrets }))).toMatch(/"body"(?!.*VERY-SECRET)/)
  })
})

describe('when a message is sent', () => {
  test('what is not known costs a word, not the message', () => {
    expect(json('{"xid": "{{ items[0].facts.xid }}", "temperature": "{{ items[0].facts.temperature_celsius }}"}', message(item(bare())))).toEqual({
      xid: '',
      temperature: '',
    })
  })

  test('a body that is no JSON after all is an error without the body', () => {
    const body = '{% if items[0].facts.xid %}oops {{ secrets.key }}{% else %}{}{% endif %}'
    expect(check(body, { secrets: { key: 'VERY-SECRET' } })).toEqual([])
    expect(() => render(body, storm(1), { secrets: { key: 'VERY-SECRET' } })).toThrow(/^the result is no JSON(?!.*VERY-SECRET)/)
  })

  test('carries its key, its headers and the form of its body', () => {
    const { method, headers } = template.create({ ...options, ...asText, method: 'PUT', headers: { Priority: '4' } }).request(message(item(full())), new Map())
    expect({ method, headers }).toEqual({ method: 'PUT', headers: { Priority: '4', 'Content-Type': 'text/plain', 'Idempotency-Key': 'key-1' } })
    expect(template.create(options).host).toBe('chat.example.com')
    expect(template.check?.({ ...options, headers: { 'content-type': 'a/b' } }).map(({ option }) => option)).toEqual(['headers'])
  })
})

describe('text from outside', () => {
  const fields = ['title', 'verdict', 'container', 'image', 'headline']

  test.each(fields)('stays text in JSON without a filter: %s', (field) => {
    const [own] = message(item(hostile())).items
    const found = z.strictObject({ text: z.string() }).parse(json(`{"text": "{{ items[0].${field} }}"}`, message(item(hostile()))))
    expect(own?.incident.title).toContain('"}],"x"')
    expect(found.text).toContain('"}],"x":[{"y":"\\ </script>')
    expect(found.text).not.toMatch(/[\u202e\u0007]/)
  })

  test('is no template', () => {
    expect(render('{{ items[0].title }}', message(item(hostile())), asText)).toContain('{{ host }}')
  })

  test('cannot forge JSON, whatever it is', () => {
    const body = '{"a": "{{ items[0].title }}", "b": {{ items[0].title | json }}, "c": "{{ message | markdown: 500 }}", "d": "{{ message | html: 500 }}"}'
    const Shape = z.strictObject({ a: z.string(), b: z.string(), c: z.string().max(500), d: z.string().max(500) })
    const notifier = template.create({ ...options, body })
    const outside = fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), fc.string({ unit: fc.constantFrom(...HOSTILE.split('')), maxLength: 80 }))
    fc.assert(
      fc.property(outside, (title) => {
        const { a, b } = Shape.parse(JSON.parse(notifier.request(message(item(full({ title, verdict: title }))), new Map()).body))
        expect(a).toBe(b)
      }),
    )
  })

  test('mentions nobody in Markdown, and is no markup in HTML', () => {
    const about = message(item(hostile()))
    const markdown = render('{{ message | markdown: 1900 }}', about, asText)
    const html = render('{{ message | html: 3800 }}', about, asText)
    expect(markdown).not.toMatch(/@everyone|<!channel>|<@U1>/)
    const outsideOfCode = markdown.replace(/```[\s\S]*?```|`[^`]*`/g, '')
    expect(Array.from(outsideOfCode.matchAll(/\]\((.*?)\)/g), (match) => match[1])).toEqual([
      expect.stringMatching(/^http:\/\/gpu-node-07:9839\//),
      expect.stringMatching(/^http:\/\/gpu-node-07:9839\//),
    ])
    expect(html).not.toMatch(/<(?!\/?(?:b|pre)>|a href="http:\/\/gpu-node-07:9839\/|\/a>)/)
    expect(markdown.length).toBeLessThanOrEqual(1900)
  })

  test('is escaped for other forms of body, too', () => {
    const about = message(item(full({ title: 'a&b=<c> "d"' })))
    expect(render('text={{ items[0].title }}&chat=1', about, { content_type: 'application/x-www-form-urlencoded' })).toBe(
      'text=a%26b%3D%3Cc%3E%20%22d%22&chat=1',
    )
    expect(render('<p>{{ items[0].title }}</p>', about, { content_type: 'text/html; charset=utf-8' })).toBe('<p>a&amp;b=&lt;c&gt; &quot;d&quot;</p>')
    expect(render('{{ items[0].title }}', about, asText)).toBe('a&b=<c> "d"')
  })

  test('reaches nothing behind the data', () => {
    for (const path of ['items[0].constructor.name', 'items[0].incident.__proto__.x', 'message.toString', 'items.constructor'])
      expect(render(`{{ ${path} }}`, message(item(full())), asText)).toBe('')
  })
})

describe('what a template is given', () => {
  const SOMETIMES_UNKNOWN = ['gpu', 'gpu_name', 'uuid', 'container', 'image', 'namespace', 'pod', 'process', 'pid', 'resolved_at', 'resolution']
  test.each(SOMETIMES_UNKNOWN)('is there in each message, though it may be null: %s', (field) => {
    expect(check(`{{ items[0].${field} }}`, asText)).toEqual([])
  })

  test('says of a group what is worst and still fires', () => {
    const body = '{"event": "{{ event }}", "severity": "{{ severity }}", "count": {{ count }}, "items": {{ items.size }}, "test": {{ test }}}'
    expect(json(body, message(item(bare()), item(full(), 'resolved')))).toEqual({ event: 'firing', severity: 'warning', count: 2, items: 2, test: false })
    expect(json(body, message(item(full(), 'resolved')))).toMatchObject({ event: 'resolved', severity: 'critical' })
  })

  test.each(['plain', 'markdown', 'html'])('is a whole message in words, as long as the receiver takes: %s', (form) => {
    for (const about of [message(item(full())), message(item(hostile())), storm(20), message(item(full({ verdict: '<&"@*_`'.repeat(400) })))])
      for (const most of [60, 200, 1_000, 4_000]) {
        const text = render(`{{ message | ${form}: ${most} }}`, about, asText)
        expect(text.length).toBeLessThanOrEqual(most)
        expect(text.length).toBeGreaterThan(5)
      }
    const text = render(`{{ message | ${form}: 4000 }}`, message(item(full())), asText)
    for (const part of ['CUDA out of memory', 'warpwatch-test', 'the card was full', 'python train.py --batch 8', '/runbooks/cuda'])
      expect(text.replaceAll('`', '')).toContain(part)
  })

  test('escapes and shortens one text alone', () => {
    const about = message(item(full({ title: '*a* '.repeat(100) })))
    expect(render('{{ items[0].title | markdown: 30 }}', about, asText).length).toBeLessThanOrEqual(30)
    expect(render('{{ items[0].title | plain: 10 }}', about, asText)).toBe('*a* *a* *…')
  })
})
