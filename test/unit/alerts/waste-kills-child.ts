// Sends summaries of waste through a real outbox until it is killed. Its clock begins where the last one ended, and jumps; each delivery is a line of stdout.
import { writeSync } from 'node:fs'
import { routeDefaults } from '../../../agent/config/sections/routes.ts'
import { createOutbox } from '../../../agent/store/outbox.ts'
import { buildNotifier } from '../../../alerts/build.ts'
import { createWasteSummaries } from '../../../alerts/waste-summaries.ts'

const [directory = '', start = '0'] = process.argv.slice(2)
const HOUR = 3_600_000
const quiet = { info() {}, warn() {}, error() {} }
const options = {
  name: 'team',
  type: 'webhook',
  url: 'http://ops/',
  secret: '',
  headers: {},
  timeout_ms: 1_000,
  max_messages_per_minute: 20,
  expire_ms: 24 * HOUR,
  ca_file: '',
}
const outbox = createOutbox({ directory, log: quiet })
const summaries = createWasteSummaries({
  routes: [{ ...routeDefaults, to: ['team'], match: { waste: ['daily', 'weekly'] } }],
  notifiers: [await buildNotifier({ name: 'team', type: 'webhook', options, shown: {} })],
  outbox,
  delivery: { wake: () => {} },
  waste: (from, to) => ({
    host: 'gpu-01',
    from,
    to,
    rows: [{ user: 'ada', gpu_hours_held: 9, gpu_hours_idle: 8, gpu_hours_queueable: 7, gpu_hours_lost: 0, died: [], oversized: [] }],
  }),
  at: '08:00',
})
/** As a sender that the kill hits before or after the receiver has answered: the same key again. */
const deliver = (t: number): void => {
  for (;;) {
    const key = outbox.open('team')[0] ?? `k${process.pid}-${process.hrtime.bigint()}`
    if (outbox.open('team').length === 0 && !outbox.form({ notifier: 'team', key, now: t, most: 9, anyGroup: false })) return
    for (const { period, date } of outbox.load(key)?.waste ?? []) writeSync(1, `sent ${key} ${period} ${date}\n`)
    outbox.delivered('team', key, t, undefined)
  }
}
let t = Number(start)
for (let step = 1; ; step++) {
  // Ahead by some hours, and every fifth time back by a day or two: no summary may come a second time.
  t += step % 5 === 0 ? -30 * HOUR : 7 * HOUR
  writeSync(1, `at ${t}\n`)
  for (let tick = 0; tick < 70; tick++) summaries.tick(t + tick * 1_000)
  outbox.maintain(t)
  deliver(t + 70_000)
}
