// Saves one incident after the other, as fast as it can, until it is killed; tells each that is safe.
import { writeSync } from 'node:fs'
import { createIncidentStore } from '../../../agent/store/incidents.ts'
import { INCIDENT } from '../http/incident-fixture.ts'

const [directory = '', first = '0'] = process.argv.slice(2)
const say = (text: string): void => void writeSync(2, `${text}\n`)
const store = createIncidentStore({ directory, log: { info: say, warn: say, error: say } })
for (let n = Number(first); ; n++) {
  store.save({ ...INCIDENT, id: n.toString(16).padStart(16, '0'), started_at: n, status: 'firing', count: n + 1 })
  writeSync(1, `${n}\n`)
}
