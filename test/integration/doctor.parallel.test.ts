// The doctor over real containers of a real engine: twenty that want a GPU, one that is named, and the same report from the API of the built agent.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { findContainers } from '../../agent/doctor/parts/containers.ts'
import { findEngines } from '../../agent/doctor/parts/engine-facts.ts'
import { createHostFiles } from '../../agent/doctor/parts/host-files.ts'
import { doctorReport } from '../../agent/http/api/doctor-schemas.ts'
import { startAgent } from '../setup/agent.ts'
import { dockerMissing, startDocker, type TestDocker } from '../setup/docker.ts'
import { poll } from '../setup/poll.ts'
import { runCli } from '../unit/cli/run-cli.ts'

const COUNT = 20
/** What a CUDA image sets, on the runtime that this engine has: the GPU was forgotten. */
const CUDA = ['CUDA_VERSION=12.4.1', 'NVIDIA_VISIBLE_DEVICES=all', 'NVIDIA_DRIVER_CAPABILITIES=compute,utility']

describe.skipIf(dockerMissing !== undefined)('twenty containers', () => {
  let docker: TestDocker
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-doctor-'))
  beforeAll(async () => {
    docker = await startDocker()
    for (let at = 0; at < COUNT; at++)
      await docker.run({
        name: `cuda-${at}`,
        command: ['sh', '-c', 'mkdir -p /tmp; sleep 100000'],
        env: CUDA,
        host: { ShmSize: 64 * 2 ** 20, Memory: 256 * 2 ** 20 },
      })
    await docker.run({ name: 'plain', command: ['sleep', '100000'] })
  })
  afterAll(async () => {
    await docker.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const env = () => ({ WARPWATCH_CONTAINERS__ENGINES: JSON.stringify([docker.socketPath]), WARPWATCH_HTTP__LISTEN: '127.0.0.1:1', WARPWATCH_DATA_DIR: folder })

  test('are found with their settings, and their files are theirs', async () => {
    const engines = await findEngines([docker.socketPath], {})
    onTestFinished(engines.close)
    const found = await findContainers(engines, createHostFiles(), undefined)
    expect(found.map(({ name }) => name).sort()).toEqual(Array.from({ length: COUNT }, (_, at) => `cuda-${at}`).sort())
    const [first] = found
    expect(first).toMatchObject({ wantsGpu: 'image', shmSizeBytes: 64 * 2 ** 20, memoryLimitBytes: 256 * 2 ** 20, state: 'running', image: 'warpwatch-test:1' })
    expect(first?.pid).toBe(await docker.inspectPid(first?.id ?? ''))
  })

  test('are all looked at in one run, which complains of no check that it cannot make', async () => {
    const look = async () => {
      const { stdout, code } = await runCli(['doctor', '--json'], { env: env() })
      const report = doctorReport.parse(JSON.parse(stdout))
      return { code, report, said: report.checks.flatMap(({ findings }) => findings.map(({ summary }) => summary)) }
    }
    // A check has two seconds, which a busy machine may need for other things: then it is looked at again.
    const { code, report, said } = await poll(
      async () => {
        const found = await look()
        return found.said.every((summary) => !summary.includes('no answer within')) && found
      },
      { what: 'a report in which every check has an answer' },
    )
    expect(code).toBe(report.counts.fail > 0 ? 1 : 0)
    expect(report.checks.filter(({ group, status }) => group === 'host' && status === 'fail')).toEqual([])
    expect(said.filter((summary) => /undefined|is not a function/.test(summary))).toEqual([])
    // Each container is told of by name, where any check of containers has something to say.
    const subjects = new Set(
      report.checks.filter(({ group }) => group === 'container').flatMap(({ findings }) => findings.flatMap(({ subject }) => subject ?? [])),
    )
    expect([...subjects].filter((subject) => subject.startsWith('cuda-'))).toHaveLength(COUNT)
    expect([...subjects].filter((subject) => subject.startsWith('plain'))).toEqual([])
  })

  test('one that is named is looked at alone, whatever it asked for', async () => {
    const { stdout } = await runCli(['doctor', '--json', '--only', 'container', '--container', 'plain'], { env: env() })
    const subjects = doctorReport.parse(JSON.parse(stdout)).checks.flatMap(({ findings }) => findings.flatMap(({ subject }) => subject ?? []))
    expect(new Set(subjects)).toEqual(new Set(subjects.filter((subject) => subject.startsWith('plain'))))
  })

  test('the agent gives the same over its API, to several readers from one run', async () => {
    await using agent = await startAgent({ env: { WARPWATCH_CONTAINERS__ENGINES: JSON.stringify([docker.socketPath]) } })
    const answers = await Promise.all(Array.from({ length: 5 }, async () => await agent.json('/api/v1/doctor')))
    const reports = answers.map((answer) => doctorReport.parse(answer))
    expect(new Set(reports.map(({ t }) => t)).size).toBe(1)
    const [report] = reports
    expect(report?.checks.find(({ id }) => id === 'own-permissions')?.findings).toContainEqual(
      expect.objectContaining({ subject: 'container engine', status: 'pass' }),
    )
  })
})
