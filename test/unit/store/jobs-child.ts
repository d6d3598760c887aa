// Runs jobs as fast as it can until it is killed: each run is saved while it runs, then with its end; says each that is on disk.
import { writeSync } from 'node:fs'
import type { Run } from '../../../agent/model/job.ts'
import { createJobStore } from '../../../agent/store/jobs.ts'

const [directory = '', first = '0'] = process.argv.slice(2)
const say = (text: string): void => void writeSync(2, `${text}\n`)
const store = createJobStore({ directory, log: { info: say, warn: say, error: say } })
const runOf = (n: number, held: number): Run => ({
  job_id: n.toString(16).padStart(16, '0'),
  job: `job-${n}`,
  kind: 'session',
  run: 1,
  started_at: n,
  seen_at: n + held,
  gpus: [{ uuid: 'GPU-0', gpu: '0', share: 1, held_seconds: held }],
  gpu_seconds: { active: held, idle: 0, lost: 0 },
  incidents: [],
})
for (let n = Number(first); ; n++) {
  for (let held = 1; held <= 3; held++) {
    store.save([{ key: `s:${n}`, roots: [{ pid: n, startTicks: n }], row: runOf(n, held) }])
    writeSync(1, `${n} ${held} running\n`)
  }
  store.save([{ key: `s:${n}`, roots: [{ pid: n, startTicks: n }], row: { ...runOf(n, 3), outcome: 'failed', exit_code: 1, ended_at: n + 3 } }])
  writeSync(1, `${n} 3 failed\n`)
}
