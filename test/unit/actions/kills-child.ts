// Handles incidents with a real action until it is killed; each run of the action adds the incident to a file.
import { writeSync } from 'node:fs'
import { createActions } from '../../../agent/actions/service.ts'
import { createActionStore } from '../../../agent/store/actions.ts'
import { incident } from '../jobs/incident.ts'

const [directory = '', record = '', first = '0'] = process.argv.slice(2)
const quiet = { info() {}, warn() {}, error() {} }
const store = createActionStore({ directory, log: quiet })
const actions = createActions({
  actions: [
    {
      name: 'note',
      match: { kind: ['gpu_lost'] },
      command: ['/bin/sh', '-c', 'echo "$1" >> "$2"', 'note', '{incident}', record],
      dryRun: false,
      cooldownMs: 0,
      perHour: 1_000_000,
      timeoutMs: 5_000,
      env: [],
    },
  ],
  store,
  host: 'gpu-01',
  env: process.env,
  signal: () => ({ done: false, text: '' }),
  log: quiet,
})
const at = Date.now()
const one = (n: number) =>
  incident({ id: n.toString(16).padStart(16, '0'), kind: 'gpu_lost', title: 'lost', subject: { host: { name: 'gpu-01' } }, started_at: at, last_seen_at: at })
// As after a start: the last ones fire still.
actions.recover(
  Array.from({ length: 5 }, (_, back) => Number(first) - back)
    .filter((n) => n >= 0)
    .map(one),
)
for (let n = Number(first) + 1; ; n++) {
  actions.incident(one(n))
  writeSync(1, `${n}\n`)
  await actions.settled()
}
