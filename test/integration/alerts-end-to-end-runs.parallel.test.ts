// Runs under `warpwatch exec` that end: by a route, or because the command line asked for it, once, also when the agent is killed before the message went out.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { poll } from '../setup/poll.ts'
import { startReceiver, type Receiver } from '../setup/receiver.ts'

const MAIN = join(import.meta.dirname, '../../dist/main.js')
const finished = z.looseObject({
  event: z.literal('finished'),
  text: z.string(),
  run: z.looseObject({ job: z.string(), run: z.int(), outcome: z.string(), exit_code: z.int() }),
  others: z.optional(z.array(z.looseObject({ job: z.string() }))),
})

const directory = mkdtempSync(join(tmpdir(), 'warpwatch-alerts-runs-'))
let receiver: Receiver
let agent: RunningAgent
const start = (): Promise<RunningAgent> =>
  startAgent({
    dataDir: join(directory, 'data'),
    config: `
logs: { kernel: false }
gpu: { source: "off" }
notifiers:
  - { name: ops, type: webhook, url: "${receiver.url}/ops" }
  - { name: am, type: alertmanager, url: "${receiver.url}" }
routes: [{ to: ops, match: { outcome: failed, job: "train-*" } }]
`,
  })
type Ended = { readonly code: number | null; readonly err: string }
async function exec(flags: readonly string[], command: readonly string[], listen = new URL(agent.url).host): Promise<Ended> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('WARPWATCH_')))
  const child = spawn(process.execPath, [MAIN, 'exec', '--listen', listen, ...flags, '--', ...command], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env,
    cwd: directory,
  })
  let err = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  const { promise, resolve } = Promise.withResolvers<Ended>()
  child.once('close', (code) => resolve({ code, err }))
  return promise
}
const came = () => receiver.taken.map(({ body }) => finished.parse(JSON.parse(body)))
const jobs = (): readonly string[] => came().flatMap(({ run, others = [] }) => [run.job, ...others.map(({ job }) => job)])
const line = ({ err }: Ended): string | undefined => err.split('\n').find((one) => one.includes('--notify'))

beforeAll(async () => {
  receiver = await startReceiver({ honoursKeys: true })
  agent = await start()
})
afterAll(async () => {
  await agent?.[Symbol.asyncDispose]()
  await receiver?.close()
  rmSync(directory, { recursive: true, force: true })
})

test('a run is told of by its route or on request, once, over kill -9; what is not sent is said on stderr, and the exit code is the command’s', async () => {
  const ends = [
    await exec(['--name', 'train-1'], ['sh', '-c', 'exit 3']),
    await exec(['--name', 'train-2'], ['true']),
    await exec(['--name', 'night', '--notify', 'ops'], ['true']),
    await exec(['--name', 'x', '--notify', 'opz'], ['sh', '-c', 'exit 4']),
    await exec(['--name', 'x', '--notify', 'am'], ['true']),
    await exec(['--name', 'x', '--notify', 'ops'], ['sh', '-c', 'exit 5'], '127.0.0.1:1'),
  ]
  // Before the first message is due: it waits for what explains the end.
  await agent.kill()
  expect(ends.map(({ code }) => code)).toEqual([3, 0, 0, 4, 0, 5])
  expect(ends.map(line)).toEqual([
    undefined,
    undefined,
    undefined,
    'warpwatch: exec: --notify opz: not sent: no notifier is called opz; there are ops',
    'warpwatch: exec: --notify am: not sent: the notifier am is of type alertmanager, which takes incidents only',
    'warpwatch: exec: --notify ops: not sent: no agent took it at http://127.0.0.1:1; see: warpwatch doctor',
  ])
  agent = await start()
  await exec(['--name', 'train-last'], ['sh', '-c', 'exit 6'])
  await poll(() => jobs().includes('train-last') && jobs().length >= 3, {
    what: () => `three runs; came ${JSON.stringify(jobs())}; the log: ${agent.stderr()}`,
    deadlineMs: 40_000,
  })
  expect(jobs().toSorted()).toEqual(['night', 'train-1', 'train-last'])
  expect(came().find(({ run }) => run.job === 'train-1')).toMatchObject({ run: { run: 1, outcome: 'failed', exit_code: 3 } })
})
