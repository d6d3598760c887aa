// The way of an incident to its receiver alone, for the crash test: incidents that fire and end, as fast as it can, until it is killed or kills itself.
import { writeSync } from 'node:fs'
import { createIncidentStore } from '../../agent/store/incidents.ts'
import { createOutbox } from '../../agent/store/outbox.ts'
import { summaryOf, type Incident } from '../../agent/model/incident.ts'
import { createDispatcher } from '../../alerts/dispatcher.ts'
import { createDelivery } from '../../alerts/delivery/delivery.ts'
import { createRouter } from '../../alerts/routing/router.ts'
import type { CrashStage } from './alerts-crash-stages.ts'

const [directory = '', url = '', first = '0', stage = 'none', times = '1'] = process.argv.slice(2)
const say = (text: string): void => void writeSync(2, `${text}\n`)
const tell = (text: string): void => void writeSync(1, `${text}\n`)
const log = { info: say, warn: say, error: say }

let left = Number(times)
/** Here this process ends when it is told to, at the wanted pass. */
function at(here: CrashStage): void {
  if (here !== stage || --left > 0) return
  process.kill(process.pid, 'SIGKILL')
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

const incidents = createIncidentStore({ directory, log })
const kept = createOutbox({ directory, log })
let recovering = true
const outbox: typeof kept = {
  ...kept,
  put(incident, plans, t) {
    at('before-put')
    // The outbox makes text of it within its transaction.
    const fatal = {
      ...incident,
      toJSON() {
        at('within-put')
        return incident
      },
    }
    kept.put(fatal, plans, t)
    at('after-put')
    if (recovering) at('recovering')
  },
  form(forming) {
    at('before-form')
    const formed = kept.form(forming)
    if (formed) at('after-form')
    return formed
  },
  delivered(name, key, t, thread) {
    at('answered')
    kept.delivered(name, key, t, thread)
    at('delivered')
  },
}
const options = { timeout_ms: 10_000, max_messages_per_minute: 0, expire_ms: 3_600_000, ca_file: '' }
const notifier = {
  most: 20,
  host: 'receiver',
  request: ({ key, items }: { readonly key: string; readonly items: readonly { readonly event: string; readonly incident: { readonly id: string } }[] }) => ({
    method: 'POST' as const,
    url,
    headers: { 'idempotency-key': key },
    body: JSON.stringify(items.map(({ event, incident: { id } }) => `${id}${event === 'firing' ? '+' : '-'}`)),
  }),
}
const delivery = createDelivery({
  outbox,
  notifiers: [{ name: 'ops', type: 'test', notifier, options }],
  host: 'gpu-01',
  reach: { local_url: 'http://127.0.0.1:9839' },
  log,
})
const route = { to: ['ops'], match: {}, groupBy: ['container' as const], waitMs: 3, quiet: [], resolved: true }
const dispatcher = createDispatcher({
  router: createRouter([route], [{ name: 'ops' }]),
  outbox,
  delivery,
  get: incidents.get,
  outgoing: ({ evidence, ...incident }) => ({ ...incident, evidence: { log_lines: evidence.log_lines } }),
})

const save = (incident: Incident): void => {
  const text = `${incident.id}${incident.status === 'firing' ? '+' : '-'}`
  tell(`saving ${text}`)
  incidents.save(incident)
  // From here on no kill may keep it from being told.
  tell(text)
  at('saved')
  dispatcher.changed(summaryOf(incident))
}
const fire = (n: number): Incident => ({
  id: `i${n}`,
  kind: 'cuda_oom',
  severity: 'critical',
  status: 'firing',
  title: 'Out of GPU memory',
  verdict: 'It asked for more than there was.',
  subject: { container: { name: `trainer-${n % 3}` } },
  facts: {},
  remedies: [],
  started_at: Date.now(),
  fired_at: Date.now(),
  last_seen_at: Date.now(),
  count: 1,
  consequences: [],
  evidence: { log_lines: [], series: [], processes: [] },
})
const end = (incident: Incident): Incident => ({ ...incident, status: 'resolved', resolved_at: Date.now() })

const open: Incident[] = [...incidents.unresolved()]
dispatcher.recover([...open.map(summaryOf), ...incidents.list({ limit: 50, status: 'resolved' })])
recovering = false
delivery.start()
tell('started')

let n = Number(first)
/** In the last run nothing new happens; what is left is reported. */
const draining = stage === 'drain'
function next(): void {
  const oldest = open.length > (draining ? 0 : 4) ? open.shift() : undefined
  if (oldest !== undefined) save(end(oldest))
  if (!draining) {
    const made = fire(n++)
    open.push(made)
    save(made)
  } else if (oldest === undefined && delivery.rows()[0]?.waiting === 0) return tell('drained')
  setTimeout(next, 2)
}
next()
