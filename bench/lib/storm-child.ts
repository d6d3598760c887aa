// The agent's alerts alone in a process, fed a storm: each incident is saved and told as the agent does it. Says what it cost when asked to stop.
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import * as z from 'zod'
import { createAlerts } from '../../alerts/service.ts'
import { sampleIncident } from '../../alerts/sample.ts'
import { settingsFor, isLoaded } from '../../agent/cli/config/settings.ts'
import { summaryOf, type Incident } from '../../agent/model/incident.ts'
import { createIncidentStore } from '../../agent/store/incidents.ts'

const SLICE_MS = 100
const SETTLE_MS = 2_000
const MIB = 1024 ** 2

const { url, incidents, seconds, perMinute } = z
  .object({ url: z.string(), incidents: z.int(), seconds: z.number(), perMinute: z.int() })
  .parse(JSON.parse(process.argv[2] ?? '{}'))
const directory = mkdtempSync(join(tmpdir(), 'warpwatch-storm-'))
const notifiers = JSON.stringify([{ name: 'bench', type: 'webhook', url, max_messages_per_minute: perMinute }])
const loaded = await settingsFor(
  { flags: new Map(), positionals: [] },
  { out: () => {}, err: () => {}, cwd: directory, env: { WARPWATCH_NOTIFIERS: notifiers, WARPWATCH_DATA_DIR: directory } },
)
if (!isLoaded(loaded)) throw new Error(JSON.stringify(loaded))
const log = { info: () => {}, warn: console.error, error: console.error }
const store = createIncidentStore({ directory, log })
const alerts = await createAlerts({
  config: loaded.config,
  url: 'http://127.0.0.1:9839',
  incident: store.get,
  log,
  ready: () => true,
  firing: () => [],
  waste: (from, to) => ({ host: loaded.config.host_name, from, to, rows: [] }),
})
alerts.start([])

/** Each on a subject of its own, as no incident joins another here. */
function incident(number: number, t: number): Incident {
  const made = sampleIncident({ kind: 'cuda_oom', t })
  return { ...made, id: number.toString(16).padStart(16, '0'), subject: { ...made.subject, container: { name: `job-${number}` } } }
}

await delay(SETTLE_MS)
globalThis.gc?.()
const rest = process.memoryUsage.rss()
let highest = rest
const watch = setInterval(() => {
  highest = Math.max(highest, process.memoryUsage.rss())
  alerts.tick(Date.now())
}, 1_000)
const stopped = once(process, 'message')
const cpu = process.threadCpuUsage()
const begun = performance.now()
for (let reported = 0; reported < incidents;) {
  const due = Math.min(incidents, Math.ceil((incidents * (performance.now() - begun + SLICE_MS)) / (seconds * 1_000)))
  for (; reported < due; reported++) {
    const found = incident(reported, Date.now())
    store.save(found)
    alerts.incident(summaryOf(found))
  }
  await delay(SLICE_MS)
}
await stopped
const { user, system } = process.threadCpuUsage(cpu)
clearInterval(watch)
process.send?.({ cpuMsEach: (user + system) / 1_000 / incidents, grownMiB: (highest - rest) / MIB })
await alerts.stop()
store.close()
rmSync(directory, { recursive: true, force: true })
process.disconnect()
