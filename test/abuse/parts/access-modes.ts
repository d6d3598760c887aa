// The ways in which an operator opens the port, each with a built agent that has something to hide: a GPU, an incident, a silence, a notifier.
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { createOpenApi } from '../../../agent/http/api/openapi.ts'
import { fakeUuid, hostOf } from '../../fakes/nvml/scenario.ts'
import { startAgent, type RunningAgent } from '../../setup/agent.ts'
import { poll } from '../../setup/poll.ts'
import { createSender, portOf, type Got } from './requests.ts'

export const TOKEN = 'right-token-4f1d'
/** Text that no answer to a stranger may hold. */
export const MARKERS: readonly string[] = [fakeUuid(0), `"hostname":"${hostname()}"`]

export type Mode = { readonly name: string; readonly listen: string; readonly token: boolean; readonly insecure: boolean }
export const MODES: readonly Mode[] = [
  { name: 'loopback', listen: '127.0.0.1:0', token: false, insecure: false },
  { name: 'loopback with token', listen: '127.0.0.1:0', token: true, insecure: false },
  { name: 'open with token', listen: '0.0.0.0:0', token: true, insecure: false },
  { name: 'open and insecure', listen: '0.0.0.0:0', token: false, insecure: true },
]

export type Opened = {
  readonly mode: Mode
  readonly agent: RunningAgent
  readonly port: number
  readonly incident: string
  readonly silence: string
  /** A GET with everything right. */
  readonly read: (path: string) => Promise<Got>
  /** A change with everything right. */
  readonly write: (method: string, path: string, body: string) => Promise<Got>
  readonly close: () => Promise<void>
}

const OOM =
  'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.25 GiB of which 1.00 GiB is free. Including non-PyTorch memory, this process has 78.25 GiB memory in use. Of the allocated memory 70.00 GiB is allocated by PyTorch, and 1.00 GiB is reserved by PyTorch but unallocated.\n'

export async function open(mode: Mode): Promise<Opened> {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-abuse-'))
  const log = join(folder, 'job.log')
  writeFileSync(log, '')
  const agent = await startAgent({
    scenario: hostOf(1),
    args: ['run', '--listen', mode.listen],
    config:
      'notifiers:\n  - {name: team, type: webhook, url: "http://127.0.0.1:9/"}\nhosts:\n  - {name: other, url: "http://127.0.0.1:9", token: "of-the-other"}\n',
    env: {
      WARPWATCH_LOGS__FILES: log,
      ...(mode.token ? { WARPWATCH_HTTP__TOKEN: TOKEN } : {}),
      ...(mode.insecure ? { WARPWATCH_HTTP__INSECURE: 'true' } : {}),
    },
  })
  const port = portOf(agent.url)
  const { send, close } = createSender(port)
  const right = { Host: `127.0.0.1:${port}`, ...(mode.token ? { Authorization: `Bearer ${TOKEN}` } : {}) }
  const read = (target: string): Promise<Got> => send({ method: 'GET', target, headers: right })
  const write = (method: string, target: string, body: string): Promise<Got> =>
    send({ method, target, headers: { ...right, 'Content-Type': 'application/json' }, body })
  appendFileSync(log, OOM)
  const incident = await poll(async () => /"id":"([0-9a-f]{16})","kind":"cuda_oom"/.exec((await read('/api/v1/incidents')).text)?.[1], {
    what: () => `an incident; the agent said: ${agent.stderr()}`,
    deadlineMs: 30_000,
  })
  await poll(async () => (await read('/api/v1/gpus')).text.includes(fakeUuid(0)), { what: 'the GPU', deadlineMs: 30_000 })
  // Nobody may change anything where strangers can connect without a token: there is nothing to be undone then.
  const silence = mode.insecure
    ? 'none'
    : (/"id":"([^"]+)"/.exec((await write('POST', '/api/v1/silences', JSON.stringify({ kind: 'xid', for_ms: 3_600_000, reason: 'abuse' }))).text)?.[1] ?? '')
  return {
    mode,
    agent,
    port,
    incident,
    silence,
    read,
    write,
    async close() {
      close()
      await agent[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Every path of the agent's own description, with ids that exist, and those that it does not describe. */
export function pathsOf({ incident, silence }: Pick<Opened, 'incident' | 'silence'>): readonly string[] {
  const described = Object.keys(z.object({ paths: z.record(z.string(), z.unknown()) }).parse(createOpenApi()).paths)
  const filled = described.map((path) =>
    path
      .replace('/silences/{id}', `/silences/${silence}`)
      .replace('/containers/{id}', `/containers/${'a'.repeat(64)}`)
      .replace('{id}', incident)
      .replace('/hosts/{name}', '/hosts/other')
      .replace('{path}', 'gpus')
      .replace('{name}', 'team')
      .replace('{kind}', 'xid'),
  )
  const others = ['/', '/ws', '/api/v1/openapi.json', `/hosts/other/api/v1/containers/${'a'.repeat(64)}/log`, '/hosts/other/ws']
  return [...filled.map((path) => (path === '/api/v1/series' ? `${path}?metric=gpu_power_watts` : path)), ...others]
}
