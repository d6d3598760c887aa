// `notifiers` in the configuration: against the types that there are, secrets from elsewhere, and secrets that are shown nowhere.
import { describe, expect, test } from 'vitest'
import { printable, printYaml } from '../../../agent/config/print.ts'
import { nearest } from '../../../agent/lib/nearest.ts'
import * as registry from '../../../alerts/notifiers/index.ts'
import { load, problems } from './configured.ts'

const TYPES = Object.values<{ readonly type: string }>(registry).map(({ type }) => type)
const SLACK = 'https://hooks.slack.com/services/T000/B000/s3cret'
const HOOK = '{name: hook, type: webhook, url: "https://ops.example.com/in/s3cret"}'
/** With links, so that there is no warning about them. */
const after = (entry: string): string => `notifiers:\n  - ${HOOK}\n  - ${entry}\nalerts: {base_url: "https://gpu-01.example.com"}\n`

describe('a notifier', () => {
  test('has what was set, and the defaults of its type and of all', async () => {
    const { config, warnings } = await load(after(`{name: team, type: slack, url: "${SLACK}", timeout_ms: 500}`))
    expect(config.notifiers.map(({ name, type }) => [name, type])).toEqual([
      ['hook', 'webhook'],
      ['team', 'slack'],
    ])
    expect(config.notifiers[0]?.options).toMatchObject({ url: 'https://ops.example.com/in/s3cret', secret: '', headers: {}, timeout_ms: 10_000 })
    expect(config.notifiers[1]?.options).toMatchObject({ url: SLACK, timeout_ms: 500 })
    expect(warnings).toEqual([])
    expect((await load('notifiers:\n')).config.notifiers).toEqual([])
  })

  test('can have its texts from the environment and from files', async () => {
    const entry = '{name: team, type: webhook, url: {env: HOOK_URL}, secret: {file: hook.key}, headers: {X-Team: gpu, X-Key: {file: open.key}}}'
    const given = { env: { HOOK_URL: SLACK }, files: { 'hook.key': 'k3y\n', 'open.key': 'p@ss\r\n' } }
    const { config, warnings } = await load(after(entry), given)
    expect(config.notifiers[1]?.options).toMatchObject({ url: SLACK, secret: 'k3y', headers: { 'X-Team': 'gpu', 'X-Key': 'p@ss' } })
    // Of a secret that others can read, but not of one that only its owner can.
    expect(warnings).toEqual([{ where: 'warpwatch.yaml:3', text: 'notifiers[1].headers.X-Key: every user of this machine can read the secret in open.key' }])
  })

  test('can be set as a whole in a variable', async () => {
    const { config } = await load(after('7'), { env: { WARPWATCH_NOTIFIERS: `[${HOOK}]` } })
    expect(config.notifiers.map(({ name }) => name)).toEqual(['hook'])
  })

  test('may bring its template from a file that all can read', async () => {
    const entry = '{name: t, type: template, url: "https://ntfy.example.com/x", content_type: text/plain, body: {file: open.liquid}}'
    const { config, warnings } = await load(after(entry), { files: { 'open.liquid': 'Hello {{ host }}\n' } })
    expect(config.notifiers[1]?.options['body']).toBe('Hello {{ host }}')
    expect(warnings).toEqual([])
  })
})

describe('what is wrong', () => {
  test.each([
    ['{type: webhook, url: "http://a/"}', 'notifiers[1].name: missing: give a name of at most 63 letters, digits and _ . -, a letter or digit first'],
    ['{name: hook, type: webhook, url: "http://a/"}', 'notifiers[1].name: another notifier is also called "hook"; choose another name'],
    ['{name: a}', `notifiers[1].type: missing: give one of ${TYPES.join(', ')}`],
    ['{name: a, type: slak}', 'notifiers[1].type: unknown type "slak"; the nearest valid one is slack'],
    ['{name: a, type: webhok}', 'notifiers[1].type: unknown type "webhok"; the nearest valid one is webhook'],
    ['{name: a, type: constructor}', `notifiers[1].type: unknown type "constructor"; the nearest valid one is ${nearest('constructor', TYPES) ?? ''}`],
    ['{name: a, type: webhook}', 'notifiers[1].url: missing: give a URL such as https://ops.example.com/warpwatch'],
    ['{name: a, type: webhook, url: "http://a/", sekret: s3cret}', 'notifiers[1].sekret: unknown key; the nearest valid one is secret'],
    [
      '{name: a, type: webhook, url: "ftp://ann:s3cret@a/"}',
      'notifiers[1].url: must be a URL such as https://ops.example.com/warpwatch, not a value of another kind (hidden)',
    ],
    ['{name: a, type: webhook, url: "http://a/", secret: [s3cret]}', 'notifiers[1].secret: must be text, not a value of another kind (hidden)'],
    ['{name: a, type: webhook, url: "http://a/", headers: {Host: s3cret}}', 'notifiers[1].headers: Host is set by Warpwatch itself: leave it out'],
    ['{name: a, type: webhook, url: {env: NOWHERE}}', 'notifiers[1].url: the variable NOWHERE is not set in the environment'],
    ['{name: a, type: webhook, url: {env: EMPTY}}', 'notifiers[1].url: the variable EMPTY is empty in the environment'],
    ['{name: a, type: webhook, url: {file: nowhere}}', 'notifiers[1].url: nowhere cannot be read: ENOENT'],
    ['{name: a, type: webhook, url: {file: /}}', 'notifiers[1].url: / is no regular file'],
    ['{name: a, type: webhook, url: {file: /dev/zero}}', 'notifiers[1].url: /dev/zero is no regular file'],
    ['{name: a, type: webhook, url: {file: long}}', 'notifiers[1].url: long is too large: 65537 bytes, at most 65536 are read'],
    ['{name: a, type: webhook, url: {file: blank}}', 'notifiers[1].url: blank is empty: write the text into it'],
    ['{name: a, type: webhook, url: "http://a/", headers: {X: {env: NOWHERE}}}', 'notifiers[1].headers.X: the variable NOWHERE is not set in the environment'],
    [
      '{name: a, type: webhook, url: {env: SECRET}}',
      'notifiers[1].url: must be a URL such as https://ops.example.com/warpwatch, not a value of another kind (hidden)',
    ],
    [
      '{name: {env: SECRET}, type: webhook, url: "http://a/"}',
      'notifiers[1].name: must be a name of at most 63 letters, digits and _ . -, a letter or digit first, not a value of another kind (hidden)',
    ],
    [
      '{name: a, type: webhook, url: {env: A, file: B}}',
      'notifiers[1].url: must be a URL such as https://ops.example.com/warpwatch, not a value of another kind (hidden)',
    ],
    ['https://ann:s3cret@a/', 'notifiers[1]: must be a group of keys with name, type and the options of the type, not another value (hidden)'],
  ])('%s', async (entry, expected) => {
    const given = { env: { EMPTY: '', SECRET: 's3cret !' }, files: { long: 'x'.repeat(65_537), blank: '\n' } }
    expect(await problems(after(entry), given)).toEqual([`warpwatch.yaml:3: ${expected}`])
  })

  test('a host where no webhook of Slack is, and a template that does not parse', async () => {
    const [slack] = await problems(after('{name: a, type: slack, url: "https://hooks.slack.com.evil.example/services/s3cret"}'))
    expect(slack).toMatch(
      /^warpwatch\.yaml:3: notifiers\[1\]\.url: must be a URL at https:\/\/hooks\.slack\.com .*, not https:\/\/hooks\.slack\.com\.evil\.example$/,
    )
    const [template] = await problems('notifiers:\n  - name: a\n    type: template\n    url: http://a/\n    body: |\n      {"text": {{ host }\n')
    expect(template).toMatch(/^warpwatch\.yaml:5: notifiers\[0\]\.body: /)
  })

  test('each has its line, beside what else is wrong; routes to a notifier that is wrong are not told of', async () => {
    const yaml = `notifiers:\n  - name: a\n    type: webhook\n    url: ftp://a/\n  - name: b\n    typ: slack\nroutes:\n  - to: a\nhttp:\n  lisen: x\n`
    const places = (await problems(yaml)).map((line) => /^\S+ \S+/.exec(line)?.[0] ?? line)
    expect(places.toSorted()).toEqual(['warpwatch.yaml:10: unknown', 'warpwatch.yaml:4: notifiers[0].url:', 'warpwatch.yaml:5: notifiers[1].type:'])
  })

  test('a value in the place of the list, or too many', async () => {
    expect(await problems(`notifiers: ${SLACK}\n`)).toEqual([
      'warpwatch.yaml:1: notifiers: must be a list of notifiers, at most 32, not something else (hidden)',
    ])
    const many = Array.from({ length: 33 }, (_, n) => `  - {name: n${n}, type: webhook, url: "http://a/"}\n`).join('')
    expect(await problems(`notifiers:\n${many}`)).toEqual(['warpwatch.yaml:1: notifiers: must be a list of notifiers, at most 32, not 33'])
  })
})

describe('printing', () => {
  test('shows of a secret the host alone, and of what stands elsewhere where it stands', async () => {
    const entry = `{name: team, type: webhook, url: "${SLACK}", secret: s3cret, headers: {Authorization: "Bearer s3cret", X: {env: KEY}}}`
    const { config, origins } = await load(after(entry), { env: { KEY: 's3cret' } })
    expect(printYaml(config, origins) + JSON.stringify(printable(config))).not.toContain('s3cret')
    expect(printable(config)['notifiers']).toEqual([
      { name: 'hook', type: 'webhook', url: 'https://ops.example.com/(hidden)' },
      { name: 'team', type: 'webhook', url: 'https://hooks.slack.com/(hidden)', secret: '(hidden)', headers: { Authorization: '(hidden)', X: { env: 'KEY' } } },
    ])
  })

  test('of secrets that all stand elsewhere can be read back', async () => {
    const given = { env: { HOOK_URL: SLACK } }
    const yaml =
      'notifiers:\n  - {name: team, type: slack, url: {env: HOOK_URL}}\nroutes:\n  - to: [team]\n    match: {kind: "cuda_*", gpu: 0}\n    quiet: [{from: "22:00", to: "7:00", days: [sat, sun], zone: Europe/Berlin}]\n    repeat: never\n'
    const { config, origins } = await load(yaml, given)
    expect((await load(printYaml(config, origins), given)).config).toEqual(config)
  })
})

test('secrets of sections may stand elsewhere, too', async () => {
  const yaml = 'http:\n  token: {file: token}\nalerts:\n  heartbeat_url: {env: BEAT}\n'
  const { config, origins } = await load(yaml, { env: { BEAT: 'https://hc.example/s3cret' }, files: { token: 't0ken\n' } })
  expect([config.http.token, config.alerts.heartbeat_url]).toEqual(['t0ken', 'https://hc.example/s3cret'])
  expect(printYaml(config, origins)).not.toMatch(/s3cret|t0ken/)
  expect((await problems(yaml)).toSorted()).toEqual([
    'warpwatch.yaml:2: http.token: token cannot be read: ENOENT',
    'warpwatch.yaml:4: alerts.heartbeat_url: the variable BEAT is not set in the environment',
  ])
  expect(await problems('alerts:\n  heartbeat_url: hc.example/s3cret\n')).toEqual([
    'warpwatch.yaml:2: alerts.heartbeat_url: must be a URL such as https://hc-ping.com/UUID, or nothing, not a value of another kind (hidden)',
  ])
})
