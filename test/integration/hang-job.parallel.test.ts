// `warpwatch hang JOB`: the processes of a job by its name, from the agent that runs beside it.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { describe, expect, test } from 'vitest'
import { startAgent } from '../setup/agent.ts'
import { poll } from '../setup/poll.ts'
import { findPythons } from '../setup/pythons.ts'
import { runCli, startCli } from '../unit/cli/run-cli.ts'

const available = process.platform === 'linux' && process.getuid?.() === 0
const python = available ? findPythons().at(-1)?.path : undefined
const jobs = z.array(z.looseObject({ job: z.string(), running: z.number() }))

describe.skipIf(python === undefined)('hang by the name of a job (needs root and Python 3)', () => {
  test('finds what runs below it; another name is refused with what to do', async () => {
    await using agent = await startAgent()
    const listen = ['--listen', new URL(agent.url).host]
    const program = join(mkdtempSync(join(tmpdir(), 'hang-job-')), 'nightly.py')
    writeFileSync(program, 'import threading\ndef hold():\n    lock = threading.Lock(); lock.acquire()\n    lock.acquire()\nhold()\n')
    const job = startCli(['exec', ...listen, '--name', 'nightly', '--', python ?? '', program])
    try {
      const runs = async () => jobs.parse(await agent.json('/api/v1/jobs')).some((row) => row.job === 'nightly' && row.running === 1)
      await poll(async () => ((await runs()) ? true : undefined), { what: () => `the job to run: ${job.stderr()}`, everyMs: 200 })
      const isNamed = async () => (await runCli(['hang', 'nightly', ...listen, '--seconds', '0.2'])).stdout.includes(`${program}:4 hold`)
      await poll(isNamed, { what: 'the line at which it stands', everyMs: 200 })
    } finally {
      job.child.kill('SIGTERM')
      await job.ended
    }
    const { code, stderr } = await runCli(['hang', 'weekly', ...listen])
    expect(stderr).toContain('"weekly" is no file or folder, no running job, and no container that holds a GPU. List them: warpwatch jobs')
    expect(code).toBe(2)
  })

  test('without an agent it is said that none runs', async () => {
    const { code, stderr } = await runCli(['hang', 'nightly', '--listen', '127.0.0.1:1'])
    expect(stderr).toMatch(/^warpwatch: hang: "nightly" is no file or folder; as the name of a job: http:\S+: no agent runs there/m)
    expect(code).toBe(2)
  })
})
