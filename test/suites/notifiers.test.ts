// The contract of every notifier of the registry: what it declares, and that any message becomes a sound request that tells no secret.
import { validateHeaderName, validateHeaderValue } from 'node:http'
import { beforeAll, describe, expect, test } from 'vitest'
import { buildNotifier } from '../../alerts/build.ts'
import { commonOptions } from '../../alerts/notifiers/common.ts'
import type { Notifier, NotifierDefinition, OutgoingRequest } from '../../alerts/notifiers/definition.ts'
import * as registry from '../../alerts/notifiers/index.ts'
import type { Fields } from '../../agent/config/field.ts'
import type { Message } from '../../agent/model/notification.ts'
import { bare, full, hostile, item, message, storm, T } from '../unit/alerts/notifier-messages.ts'

const definitions: readonly NotifierDefinition[] = Object.values<NotifierDefinition>(registry)
const each = definitions.map((definition) => [definition.type, definition] as const)

const URL_SECRET = 'https://hooks.slack.com/services/PATH-MARKER?token=QUERY-MARKER'
/** A configuration of each type, in which everything secret holds MARKER; a new type is entered here. */
const OPTIONS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  alertmanager: { url: URL_SECRET, token: 'TOKEN-MARKER', heartbeat: true },
  email: { url: 'smtps://user:PASSWORD-MARKER@hooks.slack.com', from: 'warpwatch@example.com', to: ['ops@example.com'] },
  ntfy: { url: URL_SECRET, token: 'TOKEN-MARKER' },
  slack: { url: URL_SECRET },
  telegram: { token: '123:TOKEN-MARKER', chat: '-100123', api: 'https://hooks.slack.com' },
  template: {
    url: URL_SECRET,
    headers: { Authorization: 'Bearer HEADER-MARKER' },
    secrets: { key: 'MAP-MARKER' },
    body: '{"text": "{{ message | markdown: 1900 }}"}',
  },
  webhook: { url: URL_SECRET, secret: 'HMAC-MARKER', headers: { Authorization: 'Bearer HEADER-MARKER' } },
}
const MESSAGES: readonly (readonly [string, Message])[] = [
  ['one incident', message(item(full()))],
  ['an incident of the host', message(item(bare()))],
  ['the end of one', message(item(full(), 'resolved'))],
  ['one that began and ended', message(item(full()), item(full(), 'resolved'))],
  ['text from outside', message(item(hostile()))],
  ['a test', message({ ...item(full()), reason: 'test' })],
  ['the first after an outage', { ...message(item(full())), expired: { count: 7, from: T - 90_000, to: T } }],
]
const defaultsOf = (fields: Fields): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.default]))
const optionsOf = ({ type, options }: NotifierDefinition): Readonly<Record<string, unknown>> => ({ ...defaultsOf(options), ...OPTIONS[type] })

const built = new Map<string, Notifier>()
const notifierOf = (type: string): Notifier => {
  const notifier = built.get(type)
  if (notifier === undefined) throw new Error(`no options for ${type} in this test`)
  return notifier
}
beforeAll(async () => {
  const without = definitions.filter(({ type }) => !(type in OPTIONS)).map(({ type }) => type)
  if (without.length > 0) throw new Error(`no options for ${without.join(', ')}: add a line to OPTIONS of this test, with MARKER in each secret`)
  for (const definition of definitions) {
    const options = { ...defaultsOf(commonOptions), name: 'team', type: definition.type, ...optionsOf(definition) }
    built.set(definition.type, (await buildNotifier({ name: 'team', type: definition.type, options, shown: {} })).notifier)
  }
})

function problemsOf({ method, url, headers, body }: OutgoingRequest): readonly string[] {
  for (const [name, value] of Object.entries(headers)) {
    validateHeaderName(name)
    validateHeaderValue(name, value)
  }
  const names = Object.keys(headers).map((name) => name.toLowerCase())
  if (headers['Content-Type']?.startsWith('application/json') === true) JSON.parse(body)
  return [
    ...(['POST', 'PUT'].includes(method) ? [] : [`method ${method}`]),
    ...(new URL(url).hostname === new URL(URL_SECRET).hostname ? [] : [`another host: ${new URL(url).host}`]),
    ...(new Set(names).size === names.length ? [] : [`a header twice: ${names.join(', ')}`]),
    ...(headers['Content-Type'] === undefined ? ['no Content-Type'] : []),
    ...(body.length > 2_000_000 ? [`a body of ${body.length} characters`] : []),
    ...(/MARKER/.test(body) ? ['a secret in the body'] : []),
    ...(/[\u202a-\u202e\u2066-\u2069]/.test(body) ? ['text that runs backwards'] : []),
    ...(body.isWellFormed() ? [] : ['half a character']),
  ]
}

describe('declarations', () => {
  test.each(each)('%s', (type, definition) => {
    const { summary, options, required } = definition
    expect(type).toMatch(/^[a-z][a-z0-9_-]*$/)
    expect(summary).toMatch(/^\S.*[^.]$/)
    expect(Object.keys(options).filter((name) => !/^[a-z][a-z0-9_]*$/.test(name) || name in commonOptions)).toEqual([])
    expect(required.filter((name) => !(name in options))).toEqual([])
    const wrong = Object.entries(options).flatMap(([name, { description, expected, schema, default: value }]) => [
      ...(/\S/.test(description) ? [] : [`${name} without a description`]),
      ...(/[.,]$/.test(expected) ? [`${name}: expected ${expected}`] : []),
      ...(required.includes(name) || schema.safeParse(value).success ? [] : [`the default of ${name}`]),
    ])
    expect(wrong).toEqual([])
    expect(definition.check?.(optionsOf(definition)) ?? []).toEqual([])
  })

  test('what holds MARKER is declared as secret', () => {
    const open = definitions.flatMap(({ type, options }) =>
      Object.entries(OPTIONS[type] ?? {}).flatMap(([name, value]) =>
        JSON.stringify(value).includes('MARKER') && options[name]?.secret !== true ? [`${type}.${name}`] : [],
      ),
    )
    expect(open).toEqual([])
  })

  test('no type is declared twice', () => expect(new Set(definitions.map(({ type }) => type)).size).toBe(definitions.length))
})

describe.each(each)('%s', (type) => {
  test.each(MESSAGES)('makes a sound request of %s', (_, about) => {
    expect(problemsOf(notifierOf(type).request(about, new Map()))).toEqual([])
  })

  test('makes one of as many as it takes', () => {
    const { most, request } = notifierOf(type)
    expect(most).toBeGreaterThan(0)
    const about = storm(most)
    expect(problemsOf(request(about, new Map([[about.items[0]?.incident.id ?? '', '1.2']])))).toEqual([])
  })

  test('says the same at each try, and changes nothing of the message', () => {
    const about = message(item(full()), item(bare(), 'resolved'))
    const before = structuredClone(about)
    expect(notifierOf(type).request(about, new Map())).toEqual(notifierOf(type).request(about, new Map()))
    expect(about).toEqual(before)
  })

  test('names the incident, its container and why it failed', () => {
    const { body } = notifierOf(type).request(message(item(full())), new Map())
    for (const word of ['CUDA out of memory', 'warpwatch-test', 'the card was full']) expect(body).toContain(word)
  })

  test('shows people the host alone', () => expect(notifierOf(type).host).toBe('hooks.slack.com'))

  test('sends its heartbeat where it sends all else', () => {
    const { heartbeat } = notifierOf(type)
    const request = heartbeat?.({ t: T, host: 'gpu-node-07', base_url: 'http://gpu-node-07:9839', local_url: 'http://127.0.0.1:9839' })
    expect(request === undefined ? [] : problemsOf(request)).toEqual([])
    expect(heartbeat !== undefined).toBe(type === 'alertmanager')
  })
})
