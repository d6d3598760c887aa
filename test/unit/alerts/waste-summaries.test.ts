// Summaries of waste: which day or week is due when, who gets whose rows, once over restarts and clocks that jump, and what each type of receiver is sent.
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Route } from '../../../agent/model/alert-settings.ts'
import type { WasteReport, WasteRow, WasteSummary } from '../../../agent/model/ledger.ts'
import type { WasteMessage } from '../../../agent/model/notification.ts'
import { routeDefaults } from '../../../agent/config/sections/routes.ts'
import { createOutbox, type Outbox } from '../../../agent/store/outbox.ts'
import { buildNotifier, type BuiltNotifier } from '../../../alerts/build.ts'
import { plainWaste, wasteHeadline } from '../../../alerts/messages/waste-text.ts'
import { lastSpan } from '../../../alerts/routing/waste.ts'
import { createWasteSummaries } from '../../../alerts/waste-summaries.ts'
import { DAY, folder, HOUR, kept } from '../../setup/alert-scene.ts'

const before = process.env['TZ']
beforeEach(() => void (process.env['TZ'] = 'Europe/Berlin'))
afterEach(() => {
  if (before === undefined) delete process.env['TZ']
  else process.env['TZ'] = before
})

const at = (text: string): number => Date.parse(text)
const EIGHT = 8 * 60

test.each([
  ['daily', '2026-11-26T08:00:00+01:00', '2026-11-25', '2026-11-25T00:00:00+01:00', 24],
  ['daily', '2026-11-26T07:59:59+01:00', '2026-11-24', '2026-11-24T00:00:00+01:00', 24],
  // The clock goes back and ahead an hour on that day.
  ['daily', '2026-10-26T09:00:00+01:00', '2026-10-25', '2026-10-25T00:00:00+02:00', 25],
  ['daily', '2026-03-30T09:00:00+02:00', '2026-03-29', '2026-03-29T00:00:00+01:00', 23],
  // The 23rd of November 2026 is a Monday.
  ['weekly', '2026-11-23T08:00:00+01:00', '2026-11-16', '2026-11-16T00:00:00+01:00', 7 * 24],
  ['weekly', '2026-11-23T07:00:00+01:00', '2026-11-09', '2026-11-09T00:00:00+01:00', 7 * 24],
  ['weekly', '2026-11-29T23:59:00+01:00', '2026-11-16', '2026-11-16T00:00:00+01:00', 7 * 24],
] as const)('%s at %s is about %s', (period, t, date, from, hours) => {
  const span = lastSpan(period, at(t), EIGHT)
  expect(span).toMatchObject({ period, date, from: at(from) })
  expect((span.to - span.from) / HOUR).toBe(hours)
})

test('in a zone of half hours days meet, with 24 hours of the ledger each', () => {
  process.env['TZ'] = 'Asia/Kolkata'
  const [day, next] = [lastSpan('daily', at('2026-11-25T08:00:00+05:30'), EIGHT), lastSpan('daily', at('2026-11-26T08:00:00+05:30'), EIGHT)]
  expect([day.date, next.date, (day.to - day.from) / HOUR, day.to]).toEqual(['2026-11-24', '2026-11-25', 24, next.from])
})

const row = (user: string | undefined, more: Partial<WasteRow> = {}): WasteRow => ({
  ...(user === undefined ? {} : { user }),
  gpu_hours_held: 48,
  gpu_hours_idle: 30.2,
  gpu_hours_queueable: 24,
  gpu_hours_lost: 0,
  died: [],
  oversized: [],
  ...more,
})
const ADA = row('ada', {
  gpu_hours_lost: 3.1,
  oversized: [{ job: 'notebook-1', job_id: '0123456789abcdef', text: 'used 1 of 4 GPUs' }],
  died: [{ job: 'train-7', job_id: 'fedcba9876543210', runs: 3, gpu_hours_lost: 3.1 }],
  price: 59.94,
  currency: 'EUR',
})
const ROWS = [ADA, row('ben', { gpu_hours_held: 10, gpu_hours_idle: 9, gpu_hours_queueable: 0, price: 16.2, currency: 'EUR' }), row(undefined)]
const built = (type: string, options: object): Promise<BuiltNotifier> =>
  buildNotifier({
    name: type,
    type,
    shown: {},
    options: { name: type, type, timeout_ms: 1_000, max_messages_per_minute: 20, expire_ms: DAY, ca_file: '', ...options },
  })
const webhook = () => built('webhook', { url: 'http://ops/hook', secret: 's', headers: {} })
const alertmanager = () => built('alertmanager', { url: 'http://am/', username: '', password: '', token: '', labels: {}, heartbeat: false })
const route = (match: Route['match'], more: Partial<Route> = {}): Route => ({ ...routeDefaults, to: ['webhook', 'alertmanager'], match, ...more })

type Scene = { readonly outbox: Outbox; readonly asked: WasteSummary[]; readonly ticks: (t: number, count?: number) => void }
async function scene(routes: readonly Route[], directory = folder(), rows: readonly WasteRow[] = ROWS): Promise<Scene> {
  const outbox = createOutbox({ directory, log: kept().log })
  const asked: WasteSummary[] = []
  const waste = (from: number, to: number): WasteSummary => {
    const summary = { host: 'gpu-01', from, to, rows }
    asked.push(summary)
    return summary
  }
  const summaries = createWasteSummaries({
    routes,
    notifiers: [await webhook(), await alertmanager()],
    outbox,
    delivery: { wake: () => {} },
    waste,
    at: '08:00',
  })
  return {
    outbox,
    asked,
    ticks(t, count = 61) {
      for (let tick = 0; tick < count; tick++) summaries.tick(t + tick * 1_000)
    },
  }
}
const MORNING = at('2026-11-26T08:00:00+01:00')
const formed = ({ outbox }: Scene, key: string, now = MORNING + HOUR) =>
  outbox.form({ notifier: 'webhook', key, now, most: 9, anyGroup: false }) ? outbox.load(key)?.waste : undefined

test.each<[string, Route['match'], readonly (string | undefined)[] | undefined]>([
  ['everybody', { waste: ['daily'] }, ['ada', 'ben', undefined]],
  ['one user', { waste: ['*'], user: ['a*'] }, ['ada']],
  ['a user who wasted nothing', { waste: ['daily'], user: ['eve'] }, undefined],
  ['incidents', {}, undefined],
  ['runs', { outcome: ['*'] }, undefined],
])('a route about %s', async (_name, match, users) => {
  const it = await scene([route(match)])
  it.ticks(MORNING)
  expect(formed(it, 'k')?.[0]?.rows.map(({ user }) => user)).toEqual(users)
})

test('daily and weekly are messages of their own, and quiet hours hold them', async () => {
  const it = await scene([route({ waste: ['daily'] }, { quiet: [{ from: 0, to: 10 * 60, days: [0, 1, 2, 3, 4, 5, 6] }] }), route({ waste: ['weekly'] })])
  it.ticks(MORNING)
  expect(formed(it, 'k1')).toMatchObject([{ period: 'weekly', date: '2026-11-16' }])
  expect(formed(it, 'k2')).toBeUndefined()
  expect(formed(it, 'k2', MORNING + 2 * HOUR)).toMatchObject([{ period: 'daily', date: '2026-11-25', rows: [{ user: 'ada' }, {}, {}] }])
})

test('each day is sent once: over restarts, a clock set back and a week of trimming', async () => {
  const directory = folder()
  const routes = [route({ waste: ['daily'] })]
  const first = await scene(routes, directory)
  first.ticks(MORNING)
  first.ticks(MORNING + HOUR)
  expect(formed(first, 'k1')).toHaveLength(1)
  first.outbox.delivered('webhook', 'k1', MORNING, undefined)
  // A year ahead, and back: what was sent is not forgotten meanwhile.
  first.outbox.maintain(MORNING + 365 * DAY)
  first.outbox.close()
  const second = await scene(routes, directory)
  second.ticks(MORNING + 2 * HOUR)
  second.ticks(MORNING - 2 * HOUR)
  expect(formed(second, 'k2')).toMatchObject([{ date: '2026-11-24' }])
  second.outbox.delivered('webhook', 'k2', MORNING, undefined)
  second.ticks(MORNING)
  expect(formed(second, 'k3')).toBeUndefined()
  second.ticks(MORNING + DAY)
  expect(formed(second, 'k4', MORNING + DAY + HOUR)).toMatchObject([{ date: '2026-11-26' }])
})

test('a clock that is ahead for less than a minute sends nothing', async () => {
  const it = await scene([route({ waste: ['daily'] })])
  it.ticks(MORNING)
  it.ticks(MORNING + 400 * DAY, 59)
  it.ticks(MORNING + HOUR)
  expect(formed(it, 'k1')).toMatchObject([{ date: '2026-11-25' }])
  expect(formed(it, 'k2', MORNING + 401 * DAY)).toBeUndefined()
})

test('nobody is told of nothing', async () => {
  const it = await scene([route({ waste: ['daily'] })], folder(), [])
  it.ticks(MORNING)
  expect(it.asked).toHaveLength(1)
  expect(formed(it, 'k')).toBeUndefined()
})

const REPORT: WasteReport = { host: 'gpu-01', period: 'daily', date: '2026-11-25', from: MORNING - 32 * HOUR, to: MORNING - 8 * HOUR, rows: ROWS }
const message = (...waste: readonly WasteReport[]): WasteMessage => ({ key: 'key-1', t: MORNING, host: 'gpu-01', local_url: 'http://127.0.0.1:9839', waste })

test('without prices of the user nothing is priced', () => {
  const bare = { ...REPORT, rows: [row('ada')] }
  expect(wasteHeadline(bare)).toBe('gpu-01, Wed 25 Nov: 30.2 GPU hours idle or lost')
  expect(plainWaste(message(bare))).not.toMatch(/EUR|undefined|NaN|\d\.\d\d\b/)
})

test('where readers can open the dashboard it links to the page', () => {
  const weekly: WasteReport = { ...REPORT, period: 'weekly', date: '2026-11-16' }
  expect(plainWaste({ ...message(weekly), base_url: 'https://gpu-01.example.com' })).toContain(
    '; or https://gpu-01.example.com/#/waste?days=8. What to do: https://gpu-01.example.com/runbooks/waste_summary',
  )
  expect(plainWaste(message(weekly))).not.toContain('#/waste')
})

test('of several runs of one script the number of the Slurm job says which', () => {
  const slurm = ROWS.map((row) => ({ ...row, died: row.died.map((job) => ({ ...job, slurm_job: '4711' })) }))
  expect(plainWaste(message({ ...REPORT, rows: slurm }))).toContain('train-7 (Slurm job 4711): 3 runs ended badly')
})

const TYPES: Readonly<Record<string, object>> = {
  email: { url: 'smtp://mail.example.com', from: 'warpwatch@example.com', to: ['ops@example.com'] },
  ntfy: { url: 'https://ntfy.example.com/gpus', token: '' },
  slack: { url: 'https://hooks.slack.com/x', token: '', channel: '', api: 'https://slack.com/api', compatible: false },
  telegram: { token: '1:x', chat: '-100', api: 'https://api.telegram.org' },
  template: {
    url: 'http://t/',
    method: 'POST',
    headers: {},
    content_type: 'application/json',
    body: '{"event": "{{ event }}", "title": "{{ headline }}", "text": "{{ message | markdown: 1900 }}", "users": "{% for row in items[0].waste.rows %}{{ row.user }} {% endfor %}"}',
    secrets: {},
    max_items: 20,
  },
  webhook: { url: 'http://ops/hook', secret: 's', headers: {} },
}
test.each(Object.keys(TYPES))('%s as it is sent', async (type) => {
  const { notifier } = await built(type, TYPES[type] ?? {})
  const sent = notifier.waste?.(message(REPORT))
  if (sent === undefined) throw new Error(`${type} sends no summary`)
  const body = sent.headers['Content-Type']?.startsWith('application/json') === true ? JSON.stringify(JSON.parse(sent.body), null, 2) : sent.body
  const head = Object.entries(sent.headers).map(([name, value]) => `${name}: ${value}`)
  await expect(`${sent.method} ${sent.url}\n${head.join('\n')}\n\n${body}\n`).toMatchFileSnapshot(`../../golden/messages/waste/${type}.txt`)
})

test('what a job is called cannot become markup', async () => {
  const hostile = {
    ...REPORT,
    rows: [{ ...ADA, user: '<!channel>', oversized: [{ job: '<@U1> [a](http://evil.example)', job_id: '0'.repeat(16), text: '*x*' }] }],
  }
  const slack = (await built('slack', TYPES['slack'] ?? {})).notifier.waste?.(message(hostile)).body ?? ''
  for (const word of ['<!channel>', '<@U1>']) expect(slack).not.toContain(word)
  expect((await built('telegram', TYPES['telegram'] ?? {})).notifier.waste?.(message(hostile)).body).not.toContain('<!channel>')
  expect((await alertmanager()).notifier.waste).toBeUndefined()
})
