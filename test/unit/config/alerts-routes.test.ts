// `routes` and `alerts` in the configuration: what may be there, and what is reported of what may not.
import { hostname } from 'node:os'
import { describe, expect, test } from 'vitest'
import { printable } from '../../../agent/config/print.ts'
import { load, problems } from './configured.ts'

const NOTIFIERS = 'notifiers:\n  - {name: team, type: webhook, url: "http://a/"}\n  - {name: pager, type: webhook, url: "http://b/"}\n'
const routes = (...entries: readonly string[]): string => `${NOTIFIERS}routes:\n${entries.map((entry) => `  - ${entry}\n`).join('')}`

test('a route has its defaults', async () => {
  const all =
    '{to: team, match: {severity: critical, gpu: 0, container: ["a-*", b]}, group_by: [container, kind], wait: 5s, repeat: 0, resolved: false, quiet: [{from: "9:05", to: "24:00", days: [mon, sun], zone: Asia/Tokyo, except: warning}]}'
  expect((await load(routes('{to: [team, pager]}', all))).config.routes).toEqual([
    { to: ['team', 'pager'], match: {}, groupBy: [], waitMs: 200, repeatMs: 14_400_000, quiet: [], resolved: true },
    {
      to: ['team'],
      match: { severity: ['critical'], gpu: ['0'], container: ['a-*', 'b'] },
      groupBy: ['container', 'kind'],
      waitMs: 5_000,
      quiet: [{ from: 545, to: 1_440, days: [1, 0], zone: 'Asia/Tokyo', except: 'warning' }],
      resolved: false,
    },
  ])
  expect((await load('routes:\n')).config.routes).toEqual([])
})

test('and is printed as it may be written', async () => {
  const { config } = await load(routes('{to: team, repeat: 90m, quiet: [{from: "22:00", to: "07:30"}]}'))
  expect(JSON.parse(JSON.stringify(printable(config)['routes']))).toEqual([
    { to: ['team'], match: {}, group_by: [], wait: '200ms', repeat: '90m', quiet: [{ from: '22:00', to: '07:30' }], resolved: true },
  ])
})

describe('what is wrong', () => {
  const PATTERNS = 'must be a text or a list of up to 64, not'
  test.each([
    ['{match: {kind: xid}}', '.to: missing: give the name of a notifier, or a list of them'],
    ['{to: []}', '.to: must be the name of a notifier, or a list of them, not the list []'],
    ['{to: [team, paper]}', '.to: unknown notifier "paper"; the nearest one is pager'],
    ['{to: team, matches: {}}', '.matches: unknown key; the nearest valid one is match'],
    ['{to: team, match: xid}', '.match: must be labels with their values, not "xid" (text)'],
    ['{to: team, match: {severty: critical}}', '.match.severty: unknown label "severty"; the nearest valid one is severity'],
    ['{to: team, match: {constructor: x}}', '.match.constructor: unknown label "constructor"; the nearest valid one is container'],
    ['{to: team, match: {severity: crit}}', '.match.severity: must be one of info, warning, critical, or a pattern with *, not "crit" (text)'],
    ['{to: team, match: {kind: [xid, cuda_om]}}', '.match.kind: unknown kind "cuda_om"; the nearest valid one is cuda_oom'],
    [
      '{to: team, match: {outcome: [failed, oom_killed]}}',
      '.match.outcome: unknown outcome "oom_killed"; there are completed, failed, killed, cancelled, out_of_memory, time_limit, preempted, lost_gpu, unknown',
    ],
    [
      '{to: team, match: {outcome: failed, severity: critical}}',
      '.match.severity: is a label of incidents: a route with outcome is about runs that ended, and asks for outcome, job, user, container, image, namespace',
    ],
    ['{to: team, match: {job: a}}', '.match.job: is a label of runs: add outcome, such as outcome: [failed, out_of_memory], or outcome: "*" for every end'],
    ['{to: team, group_by: [outcome]}', '.group_by[0]: unknown label "outcome"; the nearest valid one is gpu_name'],
    ['{to: team, match: {container: []}}', `.match.container: ${PATTERNS} the list []`],
    ['{to: team, match: {container: {a: b}}}', `.match.container: ${PATTERNS} a group of keys`],
    [`{to: team, match: {container: ${'x'.repeat(257)}}}`, '.match.container: must be at most 256 characters, not 257'],
    ['{to: team, group_by: [kind, contaner]}', '.group_by[1]: unknown label "contaner"; the nearest valid one is container'],
    ['{to: team, wait: 2h}', '.wait: must be a time such as 90s, 5m or 2h, at most 1h, not "2h" (text)'],
    ['{to: team, wait: never}', '.wait: must be a time such as 90s, 5m or 2h, at most 1h, not "never" (text)'],
    ['{to: team, repeat: 5s}', '.repeat: must be a time such as 90s, 5m or 2h, from 1m to 30d, or never, not "5s" (text)'],
    ['{to: team, quiet: {from: "1:00", to: "2:00"}}', '.quiet: must be a list of quiet hours, at most 16, not a group of keys'],
    ['{to: team, quiet: [{from: "1:00"}]}', '.quiet[0].to: missing: give a time of day such as "22:00"'],
    ['{to: team, quiet: [{from: "24:01", to: "2:00"}]}', '.quiet[0].from: must be a time of day such as "22:00", not "24:01" (text)'],
    ['{to: team, quiet: [{from: 1320, to: "2:00"}]}', '.quiet[0].from: must be a time of day such as "22:00", not 1320 (number)'],
    [
      '{to: team, quiet: [{from: "1:00", to: "2:00", days: [Monday]}]}',
      '.quiet[0].days: must be a list of sun, mon, tue, wed, thu, fri, sat, not the list ["Monday"]',
    ],
    [
      '{to: team, quiet: [{from: "1:00", to: "2:00", zone: Europe/Berln}]}',
      '.quiet[0].zone: unknown time zone "Europe/Berln"; the nearest valid one is Europe/Berlin',
    ],
    ['{to: team, quiet: [{from: "1:00", to: "2:00", except: urgent}]}', '.quiet[0].except: must be one of info, warning, critical, not "urgent" (text)'],
    [
      '{to: team, quiet: [{from: "1:00", to: "0:30"}, {from: "0:30", to: "1:00"}]}',
      '.quiet: the quiet hours cover the whole week, so nothing would ever be sent: leave some time free, or match only what is to be sent',
    ],
  ])('%s', async (entry, expected) => {
    expect(await problems(routes('{to: team}', entry))).toEqual([`warpwatch.yaml:6: routes[1]${expected}`])
  })

  test('more routes than a person writes, and routes without any notifier', async () => {
    expect(await problems(routes(...Array.from({ length: 129 }, () => '{to: team}')))).toEqual([
      'warpwatch.yaml:4: routes: must be a list of routes, at most 128, not 129',
    ])
    expect(await problems('routes: [{to: team}]\n')).toEqual(['warpwatch.yaml:1: routes[0].to: unknown notifier "team"; there are none'])
  })

  test('each problem has its line', async () => {
    expect((await problems(`${NOTIFIERS}routes:\n  - to: team\n    quiet:\n      - from: "1:00"\n        to: 25:00\n    wait: x\n`)).toSorted()).toEqual([
      'warpwatch.yaml:8: routes[0].quiet[0].to: must be a time of day such as "22:00", not "25:00" (text)',
      'warpwatch.yaml:9: routes[0].wait: must be a time such as 90s, 5m or 2h, at most 1h, not "x" (text)',
    ])
  })
})

test('a notifier that no route names is told of, unless there are no routes', async () => {
  expect((await load(routes('{to: team}'))).warnings).toEqual([
    { where: 'warpwatch.yaml:3', text: 'notifiers[1]: no route names pager, so it gets no notifications' },
    expect.objectContaining({ where: 'warpwatch.yaml:1', text: expect.stringMatching(/^alerts\.base_url is not set/) }),
  ])
  expect((await load(`${NOTIFIERS}alerts: {base_url: "https://gpu-01.example.com"}\n`)).warnings).toEqual([])
})

describe('a notifier without alerts.base_url', () => {
  const warned = async (yaml: string) => (await load(yaml)).warnings
  test.each([
    ['host_name: gpu-01\n', /have no links.*ssh.*such as https:\/\/gpu-01\.example\.com$/],
    ['host_name: gpu-01\nhttp: {listen: "127.0.0.1:0"}\n', /no links/],
    ['host_name: gpu-01\nhttp: {listen: ":80", insecure: true}\n', /links in messages begin with http:\/\/gpu-01:80, a guess/],
  ])('%j is asked for one', async (yaml, text) => {
    expect(await warned(`${NOTIFIERS}${yaml}`)).toEqual([{ where: 'warpwatch.yaml:1', text: expect.stringMatching(text) }])
  })
  test('is not where links are right, and nobody is asked where no notifier is', async () => {
    expect(await warned(`${NOTIFIERS}http: {listen: "10.1.2.3:82", insecure: true}\n`)).toEqual([])
    expect(await warned(`${NOTIFIERS}alerts: {base_url: "http://127.0.0.1:9839"}\n`)).toEqual([])
    expect(await warned('host_name: gpu-01\n')).toEqual([])
  })
})

describe('where links point', () => {
  test.each([
    // Loopback is the reader's own machine to a reader elsewhere.
    ['', ''],
    ['http: {listen: "0.0.0.0:80", insecure: true}\nhost_name: gpu-01\n', 'http://gpu-01:80'],
    ['http: {listen: ":81", insecure: true}\nhost_name: a b\n', `http://${hostname()}:81`],
    ['http: {listen: "10.1.2.3:82", insecure: true}\n', 'http://10.1.2.3:82'],
    ['http: {listen: "[::1]:83"}\n', ''],
    ['http: {listen: "localhost:83"}\n', ''],
    ['alerts: {base_url: "http://127.0.0.1:9839"}\n', 'http://127.0.0.1:9839'],
    // Only known when it is taken.
    ['http: {listen: "127.0.0.1:0"}\n', ''],
    ['alerts: {base_url: "https://gpu.example.com/w/"}\n', 'https://gpu.example.com/w'],
  ])('%j', async (yaml, expected) => expect((await load(yaml)).config.alerts.base_url).toBe(expected))

  test('times of the heartbeat', async () => {
    expect((await load('', { env: { WARPWATCH_ALERTS__HEARTBEAT_INTERVAL: '30s' } })).config.alerts.heartbeat_interval).toBe(30_000)
    expect(await problems('alerts:\n  heartbeat_interval: 1s\n')).toEqual([
      'warpwatch.yaml:2: alerts.heartbeat_interval: must be a time such as 90s, 5m or 2h, from 10s to 1d, not "1s" (text)',
    ])
  })
})

test('routes about runs leave incidents as they are, and Alertmanager takes no runs', async () => {
  const about = '{to: team, match: {outcome: [failed, "*"], job: "train-*"}}'
  const { config, warnings } = await load(routes(about))
  expect(config.routes).toMatchObject([{ match: { outcome: ['failed', '*'], job: ['train-*'] } }])
  expect(warnings.filter(({ text }) => text.includes('no route names'))).toEqual([])
  expect(await problems('notifiers: [{name: am, type: alertmanager, url: "http://a/"}]\nroutes:\n  - {to: am, match: {outcome: failed}}\n')).toEqual([
    'warpwatch.yaml:3: routes[0].to: am is of type alertmanager, which takes incidents only; a route with outcome is about runs that ended: name a notifier of another type',
  ])
})
