// Jobs of a real Slurm: five ways to end, named as Slurm names them, with the time that each held its (fake) GPU, and the line in their output that the epilog of docs/slurm.md prints.
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as z from 'zod'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run as runSchema } from '../../agent/http/api/job-schemas.ts'
import { compiler } from '../fakes/nvml/build.ts'
import { h100, hostOf } from '../fakes/nvml/scenario.ts'
import { startAgent } from '../setup/agent.ts'
import { poll } from '../setup/poll.ts'
import { slurmMissing, startSlurm, type TestSlurm } from '../setup/slurm.ts'

const ENDS = {
  completed: { script: 'exit 0', outcome: 'completed', exit_code: 0 },
  failed: { script: 'exit 3', outcome: 'failed', exit_code: 3 },
  cancelled: { script: 'sleep 600', outcome: 'cancelled' },
  'time-limit': { script: 'sleep 600', outcome: 'time_limit' },
  'out-of-memory': { script: 'exec dd if=/dev/zero of=/dev/null bs=512M count=4', outcome: 'out_of_memory' },
} as const
const NAMES = Object.keys(ENDS)
const GIB = 2 ** 30
const jobsSchema = z.array(z.object({ job: z.string(), kind: z.string(), runs: z.number(), last: runSchema }))
const missing = slurmMissing ?? (compiler === undefined ? 'needs a C compiler' : undefined)

describe.skipIf(missing !== undefined)(`jobs of Slurm${missing === undefined ? '' : ` (${missing})`}`, () => {
  let slurm: TestSlurm | undefined
  let problem = ''
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-slurm-jobs-'))
  /** The script of docs/slurm.md as it is there, but for the port; how long it takes is beside it, and is no matter of a test. */
  const [epilog, documented] = [join(folder, 'epilog.sh'), join(folder, 'documented.sh')]
  writeFileSync(
    epilog,
    `#!/bin/sh
begun=$(date +%s%3N)
sh ${documented}
echo $(($(date +%s%3N) - begun)) > ${folder}/$SLURM_JOB_NAME.took
exit 0
`,
    { mode: 0o755 },
  )
  const writeDocumented = (listen: string): void => {
    const script = /^#!\/bin\/sh\n# \/etc\/slurm\/warpwatch-epilog\.sh[^]*?(?=^```)/m.exec(
      readFileSync(join(import.meta.dirname, '../../docs/slurm.md'), 'utf8'),
    )?.[0]
    if (script?.includes('127.0.0.1:9839') !== true) throw new Error(`expected a script that asks 127.0.0.1:9839 in docs/slurm.md, came ${script}`)
    writeFileSync(documented, script.replace('127.0.0.1:9839', listen))
  }
  beforeAll(async () => {
    slurm = await startSlurm({ epilog }).catch((error: unknown) => {
      problem = String(error)
      return undefined
    })
  })
  afterAll(async () => slurm?.close())

  test('completed, failed, cancelled, over its time limit, out of memory', async ({ skip, annotate }) => {
    if (slurm === undefined) {
      skip(`Slurm does not start here: ${problem}`)
      return
    }
    const { submit, run } = slurm
    const ids = await Promise.all(
      Object.entries(ENDS).map(([name, { script }]) =>
        submit(name, `echo $$ > ${folder}/${name}; while [ ! -e ${folder}/go ]; do sleep 0.1; done; ${script}`, [
          `--output=${folder}/${name}.out`,
          ...(name === 'time-limit' ? ['--time=5'] : []),
        ]),
      ),
    )
    const pidOf = (name: string): number => {
      try {
        return Number(readFileSync(join(folder, name), 'utf8'))
      } catch {
        return 0
      }
    }
    await poll(() => NAMES.every((name) => pidOf(name) > 0), { what: 'all jobs to run', deadlineMs: 60_000 })
    const gpus = NAMES.map((name, at) => h100(at, {}, [{ pid: pidOf(name), bytes: 4 * GIB }]))
    await using agent = await startAgent({ scenario: { ...hostOf(1), gpus }, env: slurm.env })
    writeDocumented(agent.listen)
    const jobs = async () => jobsSchema.parse(await agent.json('/api/v1/jobs')).filter(({ kind }) => kind === 'slurm')
    await poll(async () => (await jobs()).filter(({ last }) => last.gpus.some(({ held_seconds: s }) => s >= 2)).length === NAMES.length, {
      what: 'GPU time of all',
      deadlineMs: 30_000,
    })
    expect((await jobs()).every(({ last }) => last.outcome === undefined)).toBe(true)
    // The controller's word comes in the background.
    const limited = await poll(async () => (await jobs()).find(({ job, last }) => job === 'time-limit' && last.time_limit_seconds !== undefined), {
      what: 'what Slurm knows',
    })
    expect(limited.last).toMatchObject({ user: 'root', partition: 'main', time_limit_seconds: 300 })

    writeFileSync(join(folder, 'go'), '')
    await run('scancel', ids[NAMES.indexOf('cancelled')] ?? '')
    await run('scontrol', 'update', `JobId=${ids[NAMES.indexOf('time-limit')]}`, 'EndTime=now+1')
    const ended = await poll(async () => ((await jobs()).every(({ last }) => last.outcome !== undefined) ? jobs() : undefined), {
      what: 'all ends',
      everyMs: 200,
      deadlineMs: 90_000,
    })
    expect(Object.fromEntries(ended.map(({ job, runs, last: { outcome, exit_code } }) => [job, { runs, outcome, exit_code }]))).toEqual(
      Object.fromEntries(
        Object.entries(ENDS).map(([job, end]) => [job, { runs: 1, outcome: end.outcome, exit_code: 'exit_code' in end ? end.exit_code : undefined }]),
      ),
    )
    const reason = (name: string) => ended.find(({ job }) => job === name)?.last.reason
    expect(reason('time-limit')).toMatch(/^Slurm says: TIMEOUT, TimeLimit/)
    expect(reason('out-of-memory')).toMatch(/^Slurm says: OUT_OF_MEMORY, OutOfMemory/)
    for (const { job, last } of ended) {
      const { gpus: held, gpu_seconds: seconds, ended_at: endedAt = 0 } = last
      expect([job, held.length, last.slurm_job]).toEqual([job, 1, ids[NAMES.indexOf(job)]])
      // From the agent's first look to the job's end, within two samples at each side.
      const seenFor = held[0]?.held_seconds ?? 0
      expect(seenFor).toBeLessThanOrEqual((endedAt - last.started_at) / 1_000)
      expect(seconds.active + seconds.idle).toBeCloseTo(seenFor, 0)
      expect(seconds.lost > 0).toBe(!['completed', 'cancelled'].includes(job))
    }
    const outputs = ['completed', 'failed'].map((name) => join(folder, `${name}.out`))
    await poll(() => outputs.every((path) => readFileSync(path, 'utf8').endsWith('\n')), { what: 'what the epilogs print', deadlineMs: 60_000 })
    const took = ['completed', 'failed'].map((name) => join(folder, `${name}.took`))
    await poll(() => took.every((path) => existsSync(path)), { what: 'the epilogs to end' })
    for (const [at, path] of outputs.entries())
      await annotate(`${readFileSync(path, 'utf8').trim()} (the epilog took ${readFileSync(took[at] ?? '', 'utf8').trim()} ms)`)
    for (const path of outputs) expect(readFileSync(path, 'utf8')).toMatch(/^GPU use on \S+: used 1 GPU; peak 4 GiB of [\d.]+ GiB; \d+ % busy; .*\n$/)
    const id = ids[NAMES.indexOf('completed')] ?? ''
    const command = [join(import.meta.dirname, '../../dist/main.js'), 'jobs', `slurm:${id}`, '--line', '--listen', agent.listen]
    const { stdout } = await promisify(execFile)(process.execPath, command)
    expect(stdout).toBe(await (await fetch(`${agent.url}/api/v1/jobs/slurm:${id}/line`)).text())
    expect(stdout).toMatch(/^used 1 GPU; peak 4 GiB of .*; completed after /)
    // The one that ran until its limit held its GPU longer than the one that had done its work.
    const heldOf = (name: string) => ended.find(({ job }) => job === name)?.last.gpus[0]?.held_seconds ?? 0
    expect(heldOf('time-limit')).toBeGreaterThan(heldOf('completed'))
  })
})
