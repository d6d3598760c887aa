// The summary of waste from the agent's own ledger to a receiver: of yesterday, with the figures and the user's prices, and the same on the command line.
// Long: about 60 s.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import * as z from 'zod'
import { HOUR_MS, NO_USE } from '../../agent/model/ledger.ts'
import { createLedgerStore } from '../../agent/store/ledger.ts'
import { startAgent } from '../setup/agent.ts'
import { startReceiver } from '../setup/receiver.ts'
import { runCli } from '../unit/cli/run-cli.ts'

const directory = mkdtempSync(join(tmpdir(), 'warpwatch-alerts-waste-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))
const summary = z.looseObject({
  event: z.literal('waste'),
  text: z.string(),
  host: z.string(),
  key: z.string(),
  waste: z.looseObject({ period: z.literal('daily'), date: z.iso.date(), rows: z.array(z.looseObject({ user: z.string(), price: z.number() })) }),
})

test('yesterday is told with its figures; the command line tells the same, with an agent and without', async () => {
  const data = join(directory, 'data')
  // Ada held a GPU all of yesterday, by UTC, and ran nothing on it.
  const today = Math.floor(Date.now() / (24 * HOUR_MS)) * 24
  const ledger = createLedgerStore({ directory: data, log: { info() {}, warn() {}, error() {} } })
  const use = { ...NO_USE, heldMs: HOUR_MS, idleMs: HOUR_MS, joules: 216_000 }
  const rows = Array.from({ length: 24 }, (_, hour) => ({
    hour: today - 24 + hour,
    owner: { user: 'ada', job: 'notebook-1', job_id: '0123456789abcdef' },
    card: { uuid: 'GPU-0', gpu: '0' },
    use,
  }))
  expect(ledger.write(rows, [])).toBe(true)
  ledger.close()

  const receiver = await startReceiver({ honoursKeys: true })
  const start = () =>
    startAgent({
      dataDir: data,
      env: { TZ: 'UTC', WARPWATCH_HOST_NAME: 'gpu-01' },
      config: `
logs: { kernel: false }
gpu: { source: "off" }
costs: { gpu_hour: 1.5, currency: EUR }
alerts: { summary_at: "00:00" }
notifiers: [{ name: ops, type: webhook, url: "${receiver.url}/ops" }]
routes: [{ to: ops, match: { waste: daily } }]
`,
    })
  const agent = await start()
  // It is due for a minute before it is sent.
  await receiver.until(() => receiver.taken.length > 0)
  const sent = summary.parse(JSON.parse(receiver.taken[0]?.body ?? ''))
  expect(sent).toMatchObject({
    host: 'gpu-01',
    waste: {
      date: new Date((today - 24) * HOUR_MS).toISOString().slice(0, 10),
      rows: [{ user: 'ada', gpu_hours_held: 24, gpu_hours_idle: 24, gpu_hours_queueable: 24, price: 36 }],
    },
  })
  expect(sent.text).toMatch(/^gpu-01, .*: 24\.0 GPU hours idle or lost \(36\.00 EUR\)$/)
  const cli = await runCli(['jobs', '--waste', '--since', '2d', '--listen', agent.listen])
  expect(cli.stdout).toMatch(/^ada +24\.0 +24\.0 +24\.0 +0 +36\.00 EUR$/m)

  await agent.kill()
  const offline = await runCli(['jobs', '--waste', '--since', '2d', '--csv', '--data-dir', data, '--listen', '127.0.0.1:1'])
  expect(offline.stdout).toMatch(/^ada,24,24,24,0,/m)
  await receiver.close()
})
