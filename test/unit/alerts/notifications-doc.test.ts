// docs/notifications.md: each example is loaded as it is and speaks to its receiver as that documents it; each name that templates are given is listed.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import * as z from 'zod'
import { judgeDetectors } from '../../../agent/cli/config/detector-settings.ts'
import { judgeNotifiers } from '../../../agent/cli/config/alert-settings.ts'
import { loadConfig } from '../../../agent/config/load.ts'
import type { Message } from '../../../agent/model/notification.ts'
import { buildNotifier } from '../../../alerts/build.ts'
import type { Notifier } from '../../../alerts/notifiers/definition.ts'
import { viewOf } from '../../../alerts/notifiers/template/view.ts'
import { bare, full, hostile, item, message, storm, withoutLinks } from './notifier-messages.ts'

const doc = readFileSync(join(import.meta.dirname, '../../../docs/notifications.md'), 'utf8')
/** Blocks inside of lists are indented. */
const blocks = Array.from(doc.matchAll(/^( *)```yaml\n([\s\S]*?)^ *```$/gm), ([, indent = '', text = '']) => text.replace(new RegExp(`^${indent}`, 'gm'), ''))
const examples = blocks.filter((text) => /^(?:notifiers|alerts):/m.test(text))

const URLS: Readonly<Record<string, string>> = {
  SMTP_URL: 'smtps://warpwatch:password@mail.example.com',
  TELEGRAM_TOKEN: '123456:ABC-DEF',
  SLACK_WEBHOOK: 'https://hooks.slack.com/services/T/B/X',
  NTFY_AUTHORIZATION: 'Bearer tk_1',
}
const KEY = 'k'.repeat(32)
const SECRETS: Readonly<Record<string, string>> = {
  PAGERDUTY_ROUTING_KEY: KEY,
  NTFY_TOPIC: 'our-topic',
  TELEGRAM_CHAT: '-100123',
  OPS_AUTHORIZATION: 'Bearer 1',
}
const valueOf = (name: string): string =>
  URLS[name] ?? SECRETS[name] ?? (/URL|WEBHOOK|WORKFLOW/.test(name) ? `https://${name.toLowerCase().replace('_', '-')}.example.com/x` : `${name}-value`)

const folder = mkdtempSync(join(tmpdir(), 'warpwatch-notifications-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function load(text: string) {
  const env = Object.fromEntries(Array.from(text.matchAll(/env: ([A-Z_]+)/g), ([, name = '']) => [name, valueOf(name)]))
  const local = text.replaceAll('/etc/warpwatch/', `${folder}/`)
  for (const [, path = ''] of local.matchAll(/file: (\S+)/g)) writeFileSync(path, 'https://from-a-file.example.com/x\n', { mode: 0o600 })
  writeFileSync(join(folder, 'example.yaml'), local)
  // Without it each example is asked for it.
  if (!/^ +base_url:/m.test(text)) env['WARPWATCH_ALERTS__BASE_URL'] = 'https://gpu-01.example.com'
  return loadConfig({ file: join(folder, 'example.yaml'), cwd: folder, env, judges: { detectors: judgeDetectors, notifiers: judgeNotifiers } })
}

const url = z.url({ protocol: /^https?$/ })
const bytes = (most: number) => z.string().refine((text) => Buffer.byteLength(text) <= most, `more than ${most} bytes`)
const text = (most: number) => z.string().min(1).max(most)
/** What the receivers' own documents ask for. */
const SHAPES: Readonly<Record<string, z.ZodType>> = {
  slack: z.looseObject({ text: text(4_000), blocks: z.array(z.looseObject({ type: z.string() })).max(50) }),
  'slack-bot': z.looseObject({ channel: z.literal('C0123456789'), text: text(4_000), blocks: z.array(z.looseObject({ type: z.string() })).max(50) }),
  team: z.looseObject({ text: text(4_000) }),
  mattermost: z.strictObject({ text: text(16_383) }),
  ops: z.looseObject({ version: z.literal(1), event: z.string(), incident: z.looseObject({}), host: z.string() }),
  night: z.looseObject({ version: z.literal(1) }),
  alertmanager: z.array(z.looseObject({ labels: z.record(z.string(), z.string().min(1)), generatorURL: z.optional(url) })),
  discord: z.strictObject({ content: text(2_000), allowed_mentions: z.strictObject({ parse: z.tuple([]) }), flags: z.literal(4) }),
  teams: z.strictObject({
    type: z.literal('message'),
    attachments: z.tuple([
      z.strictObject({
        contentType: z.literal('application/vnd.microsoft.card.adaptive'),
        contentUrl: z.null(),
        content: z.looseObject({
          type: z.literal('AdaptiveCard'),
          version: z.string(),
          body: z
            .array(
              z.strictObject({
                type: z.literal('RichTextBlock'),
                spacing: z.string(),
                inlines: z.array(z.looseObject({ type: z.literal('TextRun'), text: text(4_001) })),
              }),
            )
            .min(1),
          actions: z.array(z.strictObject({ type: z.literal('Action.OpenUrl'), title: z.string(), url })),
        }),
      }),
    ]),
  }),
  ntfy: z.strictObject({
    topic: z.literal('our-topic'),
    title: text(250),
    message: bytes(4_096),
    priority: z.int().min(1).max(5),
    tags: z.array(z.string().min(1)),
    click: z.optional(url),
  }),
  pagerduty: z.strictObject({
    routing_key: z.literal(KEY),
    event_action: z.enum(['trigger', 'resolve']),
    dedup_key: text(255),
    payload: z.strictObject({
      summary: text(1_024),
      source: text(255),
      severity: z.enum(['critical', 'error', 'warning', 'info']),
      timestamp: z.iso.datetime(),
      class: z.string(),
      group: z.string(),
      custom_details: z.looseObject({ why: z.string(), gpu: z.nullable(z.int()), container: z.nullable(z.string()) }),
    }),
    client: z.string(),
    client_url: z.optional(url),
    links: z.optional(z.array(z.strictObject({ href: url, text: z.string() }))),
  }),
  phones: bytes(4_096),
  mail: text(16_000),
  chat: z.looseObject({ chat_id: z.literal('-1001234567890'), text: text(4_096), parse_mode: z.literal('HTML') }),
  telegram: z.strictObject({
    chat_id: z.literal('-100123'),
    text: text(4_096),
    parse_mode: z.literal('HTML'),
    link_preview_options: z.strictObject({ is_disabled: z.literal(true) }),
  }),
}
const messages = (most: number): readonly Message[] => [
  message(item(full())),
  message(item(bare())),
  message(item(full(), 'resolved')),
  message(item(hostile())),
  withoutLinks(message(item(full()))),
  storm(most),
  // As long as incidents come.
  message(
    ...Array.from({ length: most }, (_, i) =>
      item(
        full({
          id: `${i}`.padStart(16, '0'),
          title: `Fault ${i} ${'ä'.repeat(200)}`,
          verdict: 'why and why, '.repeat(120),
          remedies: Array.from({ length: 3 }, () => ({ text: 'do this '.repeat(40), command: 'run '.repeat(80) })),
        }),
      ),
    ),
  ),
]

describe('examples', () => {
  test('stand there', () => expect(examples.length).toBeGreaterThan(12))

  test.each(examples.map((example) => [/name: ([\w-]+)/.exec(example)?.[1] ?? example.split('\n')[0] ?? '', example] as const))('%s', async (_, example) => {
    const { config, warnings } = await load(example)
    expect(warnings).toEqual([])
    const given = z.looseObject({ notifiers: z.optional(z.array(z.looseObject({ name: z.string() }))) }).parse(parse(example)).notifiers ?? []
    expect(config.notifiers.map(({ name }) => name)).toEqual(given.map(({ name }) => name))
    for (const notifier of config.notifiers) {
      const shape = SHAPES[notifier.name]
      if (shape === undefined) throw new Error(`no shape for ${notifier.name} in this test`)
      const built = (await buildNotifier(notifier)).notifier
      for (const about of messages(built.most)) {
        const { body, headers } = built.request(about, new Map())
        shape.parse(headers['Content-Type']?.startsWith('text/plain') === true ? body : JSON.parse(body))
        expect(notifier.name !== 'teams' || Buffer.byteLength(body) <= 28 * 1_024, `${Buffer.byteLength(body)} bytes`).toBe(true)
      }
    }
  })

  const notifierNamed = async (name: string): Promise<Notifier> => {
    const { config } = await load(examples.find((example) => example.includes(`name: ${name}\n`)) ?? '')
    const [found] = config.notifiers
    if (found === undefined) throw new Error(`no example for ${name}`)
    return (await buildNotifier(found)).notifier
  }
  const sent = async (name: string, about: Message) =>
    z.record(z.string(), z.unknown()).parse(JSON.parse((await notifierNamed(name)).request(about, new Map()).body))

  test('PagerDuty’s alert ends by the key by which it began', async () => {
    const [begin, end] = [await sent('pagerduty', message(item(full()))), await sent('pagerduty', message(item(full(), 'resolved')))]
    expect([begin['event_action'], end['event_action']]).toEqual(['trigger', 'resolve'])
    expect(begin['dedup_key']).toBe(end['dedup_key'])
  })

  test('ntfy wakes nobody when it is over', async () => {
    expect((await sent('ntfy', message(item(full()))))['priority']).toBe(5)
    expect((await sent('ntfy', message(item(full(), 'resolved'))))['priority']).toBe(2)
  })

  test('Discord mentions nobody', async () => {
    expect((await sent('discord', message(item(hostile()))))['content']).not.toMatch(/@everyone|@here|<@/)
  })

  test('Teams shows the message line by line', async () => {
    const body = JSON.stringify(await sent('teams', message(item(full()))))
    for (const part of ['CUDA out of memory', 'the card was full', 'python train.py --batch 8']) expect(body).toContain(part)
    expect(body.match(/RichTextBlock/g)?.length).toBeGreaterThan(5)
  })
})

describe('what a template is given', () => {
  /** Names in the first column of the tables under "Templates". */
  const tables = doc
    .slice(doc.indexOf('## Templates'), doc.indexOf('## Routes'))
    .split(/\n\n/)
    .filter((part) => part.startsWith('| name |'))
    .map((part) => Array.from(part.matchAll(/^\| (`.*?) \|/gm), ([, names = '']) => Array.from(names.matchAll(/`(\w+)`/g), ([, name = '']) => name)).flat())
  const Items = z.looseObject({ items: z.array(z.record(z.string(), z.unknown())) })
  let view: z.infer<typeof Items>
  beforeAll(() => {
    view = Items.parse(viewOf(message(item(full())), {}))
  })

  test('is listed, and nothing else', () => {
    expect(tables[0]?.toSorted()).toEqual(Object.keys(view).toSorted())
    expect(tables[1]?.toSorted()).toEqual(Object.keys(view.items[0] ?? {}).toSorted())
  })
})
