// The built agent that is started wrongly: each mistake is one clear line and an exit code, and what can go on goes on.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { afterAll, describe, expect, test } from 'vitest'
import * as schemas from '../../agent/http/api/schemas.ts'
import { compiler } from '../fakes/nvml/build.ts'
import { hostOf } from '../fakes/nvml/scenario.ts'
import { runToEnd, startAgent, type AgentOptions, type RunningAgent } from '../setup/agent.ts'
import { ageOf, powerOf } from '../setup/agent-scenes.ts'
import { NOBODY, nobodyMissing } from '../setup/nobody.ts'
import { poll } from '../setup/poll.ts'

const asNobody = nobodyMissing === undefined ? '' : ` (${nobodyMissing})`
const home = mkdtempSync(join(tmpdir(), 'warpwatch-start-'))
chmodSync(home, 0o755)
afterAll(() => rmSync(home, { recursive: true, force: true }))

/** What the agent says before it ends: one line, no stack. */
async function refusal(options: AgentOptions): Promise<{ readonly code: number | null; readonly line: string }> {
  const { code, stderr, stdout } = await runToEnd(options)
  expect(stdout).toBe('')
  expect(stderr.trimEnd().split('\n'), `it said: ${stderr}`).toHaveLength(1)
  expect(stderr).not.toMatch(/ {4}at |node:internal/)
  return { code, line: stderr.trimEnd() }
}
const listening = async (server: Server, where: string | { readonly port: number; readonly host: string }): Promise<Server> => {
  server.listen(where)
  await once(server, 'listening')
  return server
}

describe('a start that cannot be', () => {
  test.each<readonly [string, AgentOptions, string]>([
    [
      'a mistyped key',
      { config: 'log:\n  level: info\nhttp:\n  listn: 127.0.0.1:1\n' },
      'warpwatch.yaml:4: unknown key http.listn; the nearest valid one is http.listen',
    ],
    ['a mistyped section', { config: 'gpus:\n  source: nvml\n' }, 'warpwatch.yaml:1: unknown key gpus; the nearest valid one is gpu'],
    ['a value out of range', { config: 'gpu:\n  peak_hz: 5000\n' }, 'warpwatch.yaml:2: gpu.peak_hz: must be a whole number from 0 to 100, not 5000'],
    [
      'a mistyped variable',
      { env: { WARPWATCH_HTTP__LISTN: 'x' } },
      'WARPWATCH_HTTP__LISTN: unknown key http.listn; the nearest valid one is WARPWATCH_HTTP__LISTEN',
    ],
    ['a mistyped flag', { args: ['run', '--lissten', 'x'] }, 'warpwatch: unknown flag --lissten; did you mean --listen?'],
    [
      'a configuration that is not there',
      { args: ['run', '--config', '/nonexistent/w.yaml'] },
      "the configuration file cannot be read: ENOENT: no such file or directory, open '/nonexistent/w.yaml'",
    ],
    [
      'an address open to others without a token',
      { args: ['run', '--listen', '0.0.0.0:0'] },
      '0.0.0.0:0 is open to other hosts: set http.token, or http.insecure: true',
    ],
  ])('%s: exit code 2', async (_, options, words) => {
    const { code, line } = await refusal(options)
    expect(line).toContain(words)
    expect(code).toBe(2)
  })

  test.skipIf(nobodyMissing !== undefined)(`a configuration that may not be read${asNobody}: exit code 2`, async () => {
    const file = join(home, 'secret.yaml')
    writeFileSync(file, 'log:\n  level: info\n', { mode: 0o600 })
    const { code, line } = await refusal({ args: ['run', '--config', file], uid: NOBODY })
    expect(line).toContain(`the configuration file cannot be read: EACCES: permission denied, open '${file}'`)
    expect(code).toBe(2)
  })

  test('a port in use: exit code 1, says how to find out by whom, and leaves the other one in peace', async () => {
    await using first = await startAgent()
    const { port } = new URL(first.url)
    const { code, line } = await refusal({ args: ['run', '--listen', `127.0.0.1:${port}`] })
    expect(line).toContain(`port ${port} is in use already`)
    expect(line).toContain(`ss -ltnp 'sport = :${port}'`)
    expect(code).toBe(1)
    expect((await first.get('/healthz')).status).toBe(200)
  })

  test('a data directory in use: exit code 1, names the process that has it, and leaves its history whole', async () => {
    const dataDir = join(home, 'shared')
    await using first = await startAgent({ dataDir })
    const { code, line } = await refusal({ dataDir })
    expect(line).toContain(`another Warpwatch (pid ${first.pid}) already writes to ${dataDir}`)
    expect(code).toBe(1)
    expect(first.stderr()).not.toContain(' error history')
  })

  test('a recording that cannot be written: exit code 1, names the flag', async () => {
    const { code, line } = await refusal({ args: ['run', '--record', join(home, 'none/r.jsonl')] })
    expect(line).toContain(`--record: the file cannot be written: ENOENT`)
    expect(code).toBe(1)
  })
})

/** History is in memory only and says so once; GPUs, API and the past since the start work all the same. */
async function goesOnInMemory(agent: RunningAgent): Promise<string> {
  const page = await poll(
    async () => {
      const now = await agent.metrics()
      return powerOf(now, 0) !== undefined && now.value('warpwatch_agent_history_degraded') !== undefined ? now : undefined
    },
    { what: () => `readings; the agent said: ${agent.stderr()}`, everyMs: 50 },
  )
  expect(page.value('warpwatch_agent_history_degraded')).toBe(1)
  const reported = agent
    .stderr()
    .split('\n')
    .filter((line) => line.includes(' error history: '))
  expect(reported).toHaveLength(1)
  const past = z.array(schemas.series).parse(await agent.json('/api/v1/series?metric=gpu_power_watts'))
  expect(past[0]?.max).toContain(500)
  return reported[0] ?? ''
}

describe.skipIf(compiler === undefined).concurrent('a data directory that cannot be written (needs a C compiler)', () => {
  const scenario = hostOf(1)
  test('a file in its place', async () => {
    writeFileSync(join(home, 'file'), 'x')
    await using agent = await startAgent({ scenario, dataDir: join(home, 'file') })
    expect(await goesOnInMemory(agent)).toMatch(/history cannot be written to \S+\/file and is kept in memory only \(EEXIST: file already exists/)
  })
  test.skipIf(!existsSync('/proc/self'))('one where nothing can be made', async () => {
    await using agent = await startAgent({ scenario, dataDir: '/proc/warpwatch/data' })
    expect(await goesOnInMemory(agent)).toMatch(/\/proc\/warpwatch\/data and is kept in memory only \(ENOENT: no such file or directory, mkdir/)
  })
  test.skipIf(nobodyMissing !== undefined)(`one of another user, read-only${asNobody}; written again when it may be`, async () => {
    const dataDir = join(home, 'readonly')
    mkdirSync(dataDir, { mode: 0o755 })
    await using agent = await startAgent({ scenario, dataDir, uid: NOBODY })
    expect(await goesOnInMemory(agent)).toMatch(
      /history cannot be written to \S+\/readonly and is kept in memory only \(SQLITE_CANTOPEN.*give write permission/,
    )
    chmodSync(dataDir, 0o777)
    // It is tried again every ten seconds.
    await poll(() => agent.stderr().includes(`history is written to ${dataDir} again`), {
      what: () => `history on disk; the agent said: ${agent.stderr()}`,
      deadlineMs: 25_000,
      everyMs: 50,
    })
    expect(existsSync(join(dataDir, 'history.db'))).toBe(true)
  })
})

describe.skipIf(compiler === undefined).concurrent('an engine that does not serve (needs a C compiler)', () => {
  const scenario = hostOf(1)
  const engineGap = (agent: RunningAgent, socket: string) =>
    poll(
      async () =>
        z
          .array(schemas.gap)
          .parse(await agent.json('/api/v1/gaps'))
          .find(({ labels }) => labels['engine'] === socket),
      {
        what: () => `a gap of ${socket}; the agent said: ${agent.stderr()}`,
        deadlineMs: 40_000,
        everyMs: 50,
      },
    )
  const restWorks = (agent: RunningAgent) =>
    poll(
      async () => {
        const now = await agent.metrics()
        return powerOf(now, 0) !== undefined && (ageOf(now, 0) ?? 99) < 2 && now.value('warpwatch_host_memory_total_bytes') !== undefined
      },
      { what: 'fresh readings of GPU and host', everyMs: 50 },
    )

  test.skipIf(nobodyMissing !== undefined)(`no permission on its socket${asNobody}`, async () => {
    const socket = join(home, 'forbidden.sock')
    const server = await listening(createServer(), socket)
    chmodSync(socket, 0o600)
    await using agent = await startAgent({ scenario, uid: NOBODY, dataDir: join(home, 'readonly'), env: { WARPWATCH_CONTAINERS__ENGINES: socket } })
    const gap = await engineGap(agent, socket)
    expect(gap).toMatchObject({ reason: 'no_permission', code: 13, source: 'containers' })
    expect(gap.detail).toContain('run the agent as a member of the group that owns the socket, or as root')
    expect(agent.stderr().match(/ warn {2}containers: container engine: .*no permission/g)).toHaveLength(1)
    await restWorks(agent)
    server.close()
  })

  test('one that takes requests and never answers', async () => {
    const socket = join(home, 'silent.sock')
    const server = await listening(
      createServer((connection) => connection.on('error', () => {})),
      socket,
    )
    await using agent = await startAgent({ scenario, env: { WARPWATCH_CONTAINERS__ENGINES: socket } })
    await restWorks(agent)
    const gap = await engineGap(agent, socket)
    expect(gap.reason).toBe('timeout')
    expect(gap.detail).toContain(socket)
    await restWorks(agent)
    server.close()
  })

  test('one whose answers are none', async () => {
    const socket = join(home, 'garbage.sock')
    const server = await listening(
      createServer((connection) => connection.on('error', () => {}).end('SSH-2.0-OpenSSH_9.2\r\n')),
      socket,
    )
    await using agent = await startAgent({ scenario, env: { WARPWATCH_CONTAINERS__ENGINES: socket } })
    const gap = await engineGap(agent, socket)
    expect(gap.detail).toContain(socket)
    await restWorks(agent)
    server.close()
  })
})

describe('a token', () => {
  test('on every address: 401 without it, 200 with it, health without', async () => {
    await using agent = await startAgent({ args: ['run', '--listen', '0.0.0.0:0'], env: { WARPWATCH_HTTP__TOKEN: 'open-sesame' } })
    const { port } = new URL(agent.url)
    expect(agent.stderr()).not.toContain('open-sesame')
    const asked = [
      agent.get('/metrics'),
      agent.get('/api/v1/gpus'),
      agent.get('/metrics', { authorization: 'Bearer wrong' }),
      agent.get('/api/v1/series?metric=x'),
    ]
    for (const { status, text } of await Promise.all(asked)) {
      expect(status).toBe(401)
      expect(schemas.error.parse(JSON.parse(text)).error.code).toBe('unauthorized')
    }
    const bearer = { authorization: 'Bearer open-sesame' }
    expect((await agent.get('/metrics', bearer)).status).toBe(200)
    expect((await agent.get('/api/v1/gpus', bearer)).status).toBe(200)
    expect((await agent.get('/healthz')).status).toBe(200)
    expect((await agent.get('/', { host: `gpu-01.example:${port}` })).status).toBe(200)
  })

  test('loopback needs none, and refuses to be reached under the name of another site', async () => {
    await using agent = await startAgent()
    expect((await agent.get('/metrics')).status).toBe(200)
    expect((await agent.get('/metrics', { host: 'evil.example' })).status).toBe(403)
  })
})
