// Links lead people to the dashboard or are left out: without alerts.base_url no notifier's message has a link to the reader's own machine.
import { describe, expect, test } from 'vitest'
import type { Message } from '../../../agent/model/notification.ts'
import { directionsOf, linksOf } from '../../../alerts/messages/links.ts'
import { htmlText, markdownText, plainText } from '../../../alerts/messages/render.ts'
import { alertmanager } from '../../../alerts/notifiers/alertmanager.ts'
import { slack } from '../../../alerts/notifiers/slack.ts'
import { messageBlocks } from '../../../alerts/notifiers/slack/blocks.ts'
import { viewOf } from '../../../alerts/notifiers/template/view.ts'
import { webhook } from '../../../alerts/notifiers/webhook.ts'
import { bare, full, item, message, storm, withoutLinks } from './notifier-messages.ts'

const ID = full().id
const SSH = 'ssh -L 9839:127.0.0.1:9839 gpu-node-07'
const local = withoutLinks(message(item(full())))
const slackOptions = { url: 'https://hooks.slack.com/services/T/B/X', token: '', channel: '', api: 'https://slack.com/api', compatible: false }
const alertOptions = { url: 'http://alertmanager:9093', username: '', password: '', token: '', labels: {}, heartbeat: true }
const LINK = /(?:https?:)?\/\/(?:127\.|localhost|\[::1\]|0\.0\.0\.0|\[::\])/

describe('without alerts.base_url', () => {
  test('text says the host, the tunnel and what to open', () => {
    const said = plainText(local)
    expect(said).toContain(
      `Dashboard: on gpu-node-07 only. From your machine:\n  ${SSH}\n  http://127.0.0.1:9839/#/incidents/${ID}\nOr on gpu-node-07: warpwatch incidents ${ID}`,
    )
    expect(said).not.toMatch(/Open incident|Runbook/)
  })

  test.each([
    ['Markdown', markdownText(local), /```\n[^`]*```/g],
    ['HTML', htmlText(local), /<pre>[^<]*<\/pre>/g],
    [
      "Slack's blocks",
      messageBlocks(local)
        .flatMap((block) => (block.type === 'section' ? [block.text.text] : []))
        .join('\n'),
      /```\n[^`]*```/g,
    ],
  ])('%s has the local address as code only, which nothing makes a link of', (_, said, code) => {
    expect(said.match(code)?.some((block) => block.includes(SSH) && block.includes(`http://127.0.0.1:9839/#/incidents/${ID}`))).toBe(true)
    expect(said.replace(code, '')).not.toMatch(LINK)
    expect(said).not.toMatch(/<a |\]\(|<http/)
  })

  const bodies: readonly (readonly [string, (about: Message) => string])[] = [
    ['webhook', (about) => webhook.create({ url: 'http://ops/', secret: '', headers: {} }).request(about, new Map()).body],
    ['alertmanager', (about) => alertmanager.create(alertOptions).request(about, new Map()).body],
    ['the fields of a template', (about) => JSON.stringify({ ...viewOf(about, {}), message: undefined }).replaceAll(/"message":\{.*?\}\]?,"count":1\}/g, '')],
  ]
  test.each(bodies)('%s says it in words', (_, bodyOf) => {
    for (const about of [local, withoutLinks(message(item(bare()))), withoutLinks(message(item(full(), 'resolved')))]) {
      const body = bodyOf(about)
      expect(body).toContain(`from your machine: ${SSH}`)
      expect(body).not.toMatch(/"url":"|"runbook":"|runbook_url|generatorURL|"http:\/\/127/)
      expect(body.replaceAll(/"local_url":"[^"]*"/g, '')).not.toMatch(LINK)
    }
  })

  test('the heartbeat has no link', () => {
    const body = alertmanager.create(alertOptions).heartbeat?.({ t: 0, host: 'gpu-01', local_url: 'http://127.0.0.1:9839' }).body
    expect(body).toContain('Warpwatch watches gpu-01')
    expect(body).not.toMatch(/generatorURL|127\.0\.0\.1/)
  })

  test("a storm keeps Slack's limits", () => {
    expect(JSON.stringify(messageBlocks(withoutLinks(storm(200)))).length).toBeLessThanOrEqual(10_000)
    expect(slack.create(slackOptions).request(withoutLinks(storm(200)), new Map()).body).toContain(SSH)
  })
})

describe('what to type', () => {
  const lines = (local_url: string, host = 'gpu-01') => directionsOf({ id: 'ab' }, { local_url, host })?.lines
  test('holds the port and the address on which the agent listens', () => {
    expect(lines('http://[::1]:8000')).toEqual(['ssh -L 8000:[::1]:8000 gpu-01', 'http://[::1]:8000/#/incidents/ab'])
    expect(lines('http://localhost:9839')).toEqual(['ssh -L 9839:localhost:9839 gpu-01', 'http://localhost:9839/#/incidents/ab'])
  })
  test.each(['-oProxyCommand=x', 'a; rm', 'GPU host 1', ''])('takes no name from the configuration that a shell or ssh would read otherwise: %j', (host) => {
    expect(lines('http://127.0.0.1:9839', host)?.[0]).toBe('ssh -L 9839:127.0.0.1:9839 HOST')
  })
  test('is not there where a link is', () => {
    const reach = { base_url: 'https://gpu.example.com', local_url: 'http://127.0.0.1:9839' }
    expect(directionsOf({ id: 'ab' }, { ...reach, host: 'gpu-01' })).toBeUndefined()
    expect(linksOf({ id: 'ab', kind: 'xid' }, reach).map(({ url }) => url)).toEqual([
      'https://gpu.example.com/#/incidents/ab',
      'https://gpu.example.com/runbooks/xid',
    ])
    expect(linksOf({ id: 'ab', kind: 'xid' }, { local_url: reach.local_url })).toEqual([])
  })
})
