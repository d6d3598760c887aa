// The built agent and SIGHUP: it reads its configuration again, loses nothing by it, and never ends of it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import * as z from 'zod'
import { compiler } from '../fakes/nvml/build.ts'
import { hostOf } from '../fakes/nvml/scenario.ts'
import { get, SHORT_PAST, startAgent, type RunningAgent } from '../setup/agent.ts'
import { poll } from '../setup/poll.ts'
import { startReceiver } from '../setup/receiver.ts'

const home = mkdtempSync(join(tmpdir(), 'warpwatch-hup-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))
let files = 0
function configFile(text: string) {
  const path = join(home, `${++files}.yaml`)
  const write = (next: string): void => writeFileSync(path, next)
  write(text)
  return { path, write }
}
const started = (path: string) => startAgent({ args: ['run', '--simulate', '--config', path] })
const hangup = (agent: RunningAgent): void => void process.kill(agent.pid, 'SIGHUP')
const says = async (agent: RunningAgent, text: string | RegExp): Promise<unknown> =>
  poll(() => (typeof text === 'string' ? agent.stderr().includes(text) : text.test(agent.stderr())), {
    what: () => `${text} in: ${agent.stderr()}`,
    deadlineMs: 15_000,
  })
const reloaded = z.object({ changed: z.array(z.string()), needs_restart: z.array(z.string()) })
const refusedMessage = z.object({ error: z.object({ code: z.string(), message: z.string() }) })
const post = async (agent: RunningAgent, headers: Readonly<Record<string, string>> = {}) => {
  const answer = await fetch(`${agent.url}/-/reload`, { method: 'POST', headers })
  return { status: answer.status, body: await answer.json() }
}

test('what can be reloaded holds at once, a wrong configuration changes nothing, and the stream goes on', async () => {
  const receiver = await startReceiver()
  const file = configFile('metrics: {dcgm: classic}\n')
  await using agent = await started(file.path)
  const stream = new WebSocket(`${agent.url.replace('http', 'ws')}/ws`)
  const frames: number[] = []
  stream.on('message', (data: Buffer) => {
    const message = z.looseObject({ type: z.string(), t: z.number().optional() }).parse(JSON.parse(data.toString()))
    if (message.type === 'frame' && message.t !== undefined) frames.push(message.t)
  })
  await once(stream, 'message')
  const page = async (): Promise<string> => (await agent.get('/metrics')).text
  await poll(async () => (await page()).includes('DCGM_FI_DEV_FB_USED'), { what: 'the first readings under the names of DCGM' })

  const hook = `{name: ops, type: webhook, url: "${receiver.url}/hook"}`
  const hot = '{name: warm, metric: gpu_temperature_celsius, comparison: ">", value: 1, for: 0s, severity: warning}'
  file.write(`metrics: {dcgm: "off"}\nnotifiers: [${hook}]\ndetectors: {custom: [${hot}]}\nhistory: {minute_days: 9}\n`)
  hangup(agent)
  await says(agent, /needs a restart: history\.minute_days/)
  expect(agent.stderr()).toMatch(/: metrics\.dcgm, notifiers, detectors changed$/m)
  expect(await page()).not.toContain('DCGM_FI')
  // The new threshold fires, and the new notifier is notified of it.
  await receiver.until(() => receiver.requests.some(({ body }) => body.includes('"warm')))

  file.write('metrics: {dcgm: nothing}\nlogs: 7\n')
  const refused = await post(agent)
  expect(refused.status).toBe(422)
  const { message } = refusedMessage.parse(refused.body).error
  expect(message).toMatch(/:1: metrics\.dcgm: must be one of /)
  expect(message).toMatch(/:2: logs: must have keys/)
  await says(agent, 'the configuration was not reloaded, the old one stays in force')
  const metric = async (name: string) => (await agent.metrics()).value(`warpwatch_config_last_reload_${name}`)
  await poll(async () => (await metric('successful')) === 0, { what: 'a reload that failed in the metrics' })
  const before = (await metric('success_timestamp_seconds')) ?? 0
  file.write('metrics: {dcgm: "4.9"}\n')
  expect(reloaded.parse((await post(agent)).body)).toEqual({ changed: ['metrics.dcgm', 'notifiers', 'detectors'], needs_restart: [] })
  expect(await page()).toContain('DCGM_FI_SYSTEM_DRIVER_VERSION')
  await poll(async () => (await metric('successful')) === 1, { what: 'a reload that went well in the metrics' })
  expect((await metric('success_timestamp_seconds')) ?? 0).toBeGreaterThan(before)
  expect(stream.readyState).toBe(WebSocket.OPEN)
  // It goes on after all of that, and time never went back.
  const seen = frames.length
  await poll(() => frames.length > seen, { what: 'another frame' })
  expect(frames).toEqual([...new Set(frames)].toSorted((x, y) => x - y))
  stream.close()
  await receiver.close()
})

test('the token can be changed, and others are refused from then on', async () => {
  const file = configFile('http: {token: old-token}\n')
  await using agent = await started(file.path)
  expect((await post(agent)).status).toBe(401)
  file.write('http: {token: new-token}\n')
  expect((await post(agent, { authorization: 'Bearer old-token' })).status).toBe(200)
  expect((await post(agent, { authorization: 'Bearer old-token' })).status).toBe(401)
  expect((await agent.get('/metrics', { authorization: 'Bearer new-token' })).status).toBe(200)
  expect(agent.stderr()).not.toMatch(/new-token|old-token/)
})

test('a storm of SIGHUP is a few reloads; log level and format change with them', async () => {
  const file = configFile('log: {level: info}\n')
  await using agent = await started(file.path)
  file.write('log: {level: debug, format: json}\n')
  for (let n = 0; n < 300; n++) hangup(agent)
  await says(agent, 'log.level, log.format changed')
  expect((await post(agent)).status).toBe(200)
  // All of the storm may have come before the level changed.
  hangup(agent)
  await says(agent, /^\{.*"level":"debug"/m)
  // What follows the last line end is on its way.
  const lines = agent
    .stderr()
    .split('\n')
    .slice(0, -1)
    .filter((line) => line.startsWith('{'))
  const said = lines.map((line) => z.strictObject({ time: z.string(), level: z.string(), part: z.string(), message: z.string() }).parse(JSON.parse(line)))
  expect(said.filter(({ level }) => level === 'debug').length).toBeGreaterThan(0)
  expect(said.filter(({ message }) => message.startsWith('configuration reloaded')).length).toBeLessThan(300)
  expect((await agent.terminate()).code).toBe(0)
})

test('without a configuration file there is nothing to read, and nothing ends', async () => {
  await using agent = await startAgent({ args: ['run', '--simulate'] })
  hangup(agent)
  await says(agent, 'configuration reloaded: nothing changed')
  expect((await agent.get('/healthz')).status).toBe(200)
})

describe('SIGHUP does not end it', () => {
  const MAIN = join(import.meta.dirname, '../../dist/main.js')
  const args = (): string[] => [MAIN, 'run', '--simulate', '--listen', '127.0.0.1:0', '--data-dir', mkdtempSync(join(home, 'data-'))]
  const urlIn = (text: string): string | undefined => /^Dashboard +(http:\S+)\/$/m.exec(text)?.[1]
  const alive = async (url: string): Promise<boolean> => (await get(`${url}/healthz`)).status === 200

  test('while it starts: the reload follows when it runs', async () => {
    const child = spawn(process.execPath, args(), { cwd: home, stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
    // SIGHUP is bit 0 of the caught signals (proc(5)).
    const caught = (): boolean => (Number.parseInt(/^SigCgt:\t\w*(\w)$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? '0', 16) & 1) === 1
    await poll(caught, { what: 'the signal to be caught', everyMs: 1 })
    const early = urlIn(said) === undefined
    child.kill('SIGHUP')
    await poll(() => said.includes('configuration reloaded'), { what: () => `the reload in: ${said}`, deadlineMs: 20_000 })
    expect([early, await alive(urlIn(said) ?? '')]).toEqual([true, true])
    child.kill('SIGTERM')
    await once(child, 'close')
  })

  test('when nobody reads its log any more', async () => {
    const child = spawn(process.execPath, args(), { cwd: home, env: { ...process.env, ...SHORT_PAST }, stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
    const url = await poll(() => urlIn(said), { what: () => `its address in: ${said}`, deadlineMs: 20_000 })
    child.stderr.destroy()
    child.stdout.destroy()
    for (let n = 0; n < 3; n++) {
      child.kill('SIGHUP')
      expect((await fetch(`${url}/-/reload`, { method: 'POST' })).status).toBe(200)
    }
    expect([child.exitCode, child.signalCode, await alive(url)]).toEqual([null, null, true])
    child.kill('SIGTERM')
    expect((await once(child, 'close'))[0]).toBe(0)
  })

  const python = '/usr/bin/python3'
  test.skipIf(!existsSync(python))('when its terminal closes (needs python3 for one)', async () => {
    // Reads until the agent has told its address, then lets the terminal go: the kernel sends SIGHUP, and each write gives EIO.
    const program = `
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0: os.execv(sys.argv[1], sys.argv[1:])
text = b''
while b'History' not in text: text += os.read(terminal, 4096)
sys.stdout.write(str(pid) + '\\n' + text.decode())
sys.stdout.flush()
os.close(terminal)
sys.stdin.read()
`
    const parent = spawn(python, ['-c', program, process.execPath, ...args()], { cwd: home, stdio: ['pipe', 'pipe', 'inherit'] })
    let said = ''
    parent.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
    const url = await poll(() => urlIn(said.replaceAll('\r', '')), { what: () => `its address in: ${said}`, deadlineMs: 20_000 })
    const pid = Number(said.split('\n')[0])
    // It reloads by itself, and goes on: a later one is answered.
    for (let n = 0; n < 3; n++) expect((await fetch(`${url}/-/reload`, { method: 'POST' })).status).toBe(200)
    expect(await alive(url)).toBe(true)
    process.kill(pid, 'SIGTERM')
    await poll(() => /^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8')), { what: 'its end' })
    parent.stdin.end()
    await once(parent, 'close')
  })
})

const noFake = compiler === undefined ? 'needs a C compiler for the fake NVML' : undefined
test.skipIf(noFake !== undefined)(
  `what a terminal sends to all its programs does not reach the sampler${noFake === undefined ? '' : `; ${noFake}`}`,
  async () => {
    await using agent = await startAgent({ scenario: hostOf(2), env: { WARPWATCH_LOG__LEVEL: 'debug' } })
    const children = (): string => readFileSync(`/proc/${agent.pid}/task/${agent.pid}/children`, 'utf8').trim()
    const sampler = await poll(() => (children() === '' ? undefined : children()), { what: 'the sampler' })
    const groupOf = (pid: string | number): string => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[2] ?? ''
    expect(groupOf(sampler)).not.toBe(groupOf(agent.pid))
    await says(agent, /debug gpu: NVML .*, 2 GPUs; functions missing: /)
  },
)
