// `warpwatch incidents` and `replay` as their users run them.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { summaryOf } from '../../../agent/model/incident.ts'
import { eventLine, metaLine } from '../../../agent/sinks/recording/line.ts'
import { createIncidentStore } from '../../../agent/store/incidents.ts'
import { INCIDENT } from '../http/incident-fixture.ts'
import { runServer } from '../http/running.ts'
import { box, happened, line, oomText, secondOf, T, xidText } from '../incidents/scene.ts'
import { runCli } from './run-cli.ts'

const log = { info: () => {}, warn: () => {}, error: (text: string) => expect.fail(text) }
function place(): string {
  const directory = mkdtempSync(join(tmpdir(), 'warpwatch-cli-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}
function filled(): string {
  const directory = place()
  const store = createIncidentStore({ directory, log })
  store.save(INCIDENT)
  store.save({ ...INCIDENT, id: 'fedcba9876543210', kind: 'xid', started_at: INCIDENT.started_at + 5, title: 'evil \u001b[31m title' })
  store.close()
  return directory
}
/** A port where nobody listens: that of a server that has just been closed. */
async function freePort(): Promise<string> {
  const running = await runServer()
  const { host } = new URL(running.url)
  await running.server.close()
  return host
}

describe('incidents, when no agent runs', () => {
  test('lists from the store, newest first, and says so', async () => {
    const args = ['incidents', '--data-dir', filled(), '--listen', await freePort()]
    const { code, stdout } = await runCli(args)
    expect(code).toBe(0)
    expect(stdout.indexOf('fedcba9876543210')).toBeLessThan(stdout.indexOf(INCIDENT.id))
    expect(stdout).toContain('(no agent runs)')
    expect(stdout).not.toContain('/runbooks/')
    expect(stdout).toContain('PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True')
    expect(stdout).not.toContain('\u001b')
    const only = await runCli([...args, '--kind', 'cuda_oom', '--json'])
    expect(JSON.parse(only.stdout)).toEqual([summaryOf(INCIDENT)])
  })

  test('tells one whole', async () => {
    const args = ['incidents', INCIDENT.id, '--data-dir', filled(), '--listen', await freePort()]
    expect(JSON.parse((await runCli([...args, '--json'])).stdout)).toEqual(INCIDENT)
    expect((await runCli([...args, '--markdown'])).stdout).toMatch(/^# Out of GPU memory\n/)
    const { stdout } = await runCli(args)
    expect(stdout).toMatch(/^CRITICAL {2}Out of GPU memory\n/)
    for (const shown of [
      'What to do\n  1. Let segments grow\n     PYTORCH_CUDA_ALLOC_CONF=',
      'container trainer',
      '  > CUDA out of memory',
      'Timed out in trainer',
      '--markdown',
    ])
      expect(stdout).toContain(shown)
    // No terminal: neither colours nor Markdown.
    expect(stdout).not.toMatch(/\u001b|^#|\*\*/m)
  })

  test('has none where there is no store', async () => {
    expect(await runCli(['incidents', '--json', '--data-dir', place(), '--listen', await freePort()])).toMatchObject({ code: 0, stdout: '[]\n' })
  })

  test.each([
    [['0000000000000000'], 'No incident "0000000000000000"'],
    [['--markdown'], '--markdown: the id of an incident is missing'],
    [['--status', 'open'], '--status: must be one of pending, firing, resolved, not "open"'],
    [['--kind', 'cuda_om'], '--kind: must be a kind of incident such as cuda_oom, not "cuda_om"'],
    [['--limit', '0'], '--limit: must be a whole number from 1 to 1000, not "0"'],
  ])('%j is wrong usage', async (args, problem) => {
    const { code, stderr } = await runCli(['incidents', ...args, '--data-dir', filled(), '--listen', await freePort()])
    expect(code).toBe(2)
    expect(stderr).toContain(problem)
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })
})

describe('incidents, of a running agent', () => {
  const token = 'secret-token-of-the-test'
  test('come over its API, with its token', async () => {
    await using running = await runServer({ http: { token, listen: '127.0.0.1:0' } })
    const args = ['incidents', '--listen', new URL(running.url).host, '--data-dir', place()]
    const env = { WARPWATCH_HTTP__TOKEN: token }
    const list = await runCli(args, { env })
    expect(list.stdout).toContain(`from the agent at ${running.url}`)
    expect(list.stdout).toContain(`${running.url}/runbooks/KIND`)
    expect(JSON.parse((await runCli([...args, INCIDENT.id, '--json'], { env })).stdout)).toEqual(INCIDENT)
    const refused = await runCli(args, { env: { WARPWATCH_HTTP__TOKEN: 'another' } })
    expect([refused.code, refused.stdout]).toEqual([2, ''])
    expect(refused.stderr).toContain('answered with status 401')
  })
})

describe('replay', () => {
  test('judges, each time to the byte the same', async () => {
    const trainer = box('trainer', [2], { pids: [77] })
    const events = [
      ...Array.from({ length: 60 }, (_, n) => secondOf(T + n * 1_000, [trainer])).flat(),
      line(T + 59_100, trainer, oomText()),
      happened(T + 59_300, 'die', trainer, 1),
      line(T + 59_400, 'kernel', xidText(4, 79)),
      ...Array.from({ length: 40 }, (_, n) => secondOf(T + 60_000 + n * 1_000, [])).flat(),
    ]
    const file = join(place(), 'recording.jsonl')
    writeFileSync(file, metaLine('gpu-01') + events.map(eventLine).join(''))
    const [first, second] = [await runCli(['replay', file, '--json']), await runCli(['replay', file, '--json'])]
    expect([first.code, first.stderr]).toEqual([0, ''])
    expect(second.stdout).toBe(first.stdout)
    const judged: unknown = JSON.parse(first.stdout)
    expect(judged).toMatchObject({
      incidents: [
        { kind: 'cuda_oom', status: 'firing', subject: { container: { name: 'trainer' }, gpu: { index: 2 } }, facts: { exit_code: 1 }, started_at: T + 59_100 },
        { kind: 'xid', facts: { xid: 79 }, subject: { gpu: { index: 4 } }, started_at: T + 59_400 },
      ],
      forecasts: [],
    })
    expect((await runCli(['replay', file])).stdout).toMatch(/Incidents 2\n.*cuda_oom.*\n.*xid/)
  })
})
