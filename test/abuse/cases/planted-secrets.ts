// Secrets are planted in everything that the agent reads and is configured with, then looked for in everything that it says, sends and keeps.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { WebSocket } from 'ws'
import * as z from 'zod'
import { mixedHost } from '../../setup/agent-scenes.ts'
import { runToEnd, startAgent, type RunningAgent } from '../../setup/agent.ts'
import { dockerMissing, startDocker } from '../../setup/docker.ts'
import { otlpReceiver } from '../../setup/otlp-receiver.ts'
import { poll } from '../../setup/poll.ts'
import { startReceiver } from '../../setup/receiver.ts'
import type { AbuseCase } from '../abuse-case.ts'
import { foundIn, plant, plantOne, type Planted } from '../secrets/planted.ts'

/** Stands beside the secrets and is none: where it is not found, the search proves nothing. */
const VISIBLE = 'epoch seven of nine'
const OOM =
  'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 23.50 GiB of which 1.20 GiB is free. ' +
  'Including non-PyTorch memory, this process has 22.25 GiB memory in use. Of the allocated memory 21.00 GiB is allocated by PyTorch, and 850.00 MiB is reserved by PyTorch but unallocated.'
const logOf = (planted: readonly Planted[]): string =>
  [
    VISIBLE,
    ...planted.map(({ line }) => line),
    `Traceback (most recent call last):`,
    `  File "/srv/train.py", line 3, in <module>`,
    `    run("${VISIBLE}")`,
    OOM,
    '',
  ].join('\n')

const incidentList = z.array(z.object({ id: z.string(), kind: z.string() }))
const apiDescription = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })

type Output = { readonly name: string; readonly text: string }

/** Frames of the live stream, from the first to the one after the incident. */
async function streamOf(
  url: string,
  token: string,
  until: (text: string) => boolean,
): Promise<{ readonly text: () => string; readonly whole: Promise<void>; readonly close: () => void }> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, ['warpwatch', token])
  let text = ''
  const whole = new Promise<void>((resolve, reject) => {
    socket.on('error', reject)
    socket.on('message', (data: Buffer) => {
      text += data.toString()
      if (until(text)) resolve()
    })
  })
  await new Promise((resolve) => socket.once('open', resolve))
  return { text: () => text, whole, close: () => socket.close() }
}

/** Every path of the API's own description that a GET reads without an id, and those of the incidents. */
async function pagesOf(get: (path: string) => Promise<string>): Promise<readonly Output[]> {
  const description = apiDescription.parse(JSON.parse(await get('/api/v1/openapi.json')))
  const paths = Object.entries(description.paths).filter(([path, methods]) => 'get' in methods && !path.includes('{'))
  const ids = incidentList.parse(JSON.parse(await get('/api/v1/incidents'))).map(({ id }) => id)
  const all = [
    '/metrics',
    '/healthz',
    '/readyz',
    ...paths.map(([path]) => path),
    ...ids.flatMap((id) => [`/api/v1/incidents/${id}`, `/api/v1/incidents/${id}/report`]),
  ]
  return Promise.all(all.map(async (path) => ({ name: path, text: await get(path) })))
}

const filesIn = (folder: string): readonly Output[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => ({ name: `file ${entry.name}`, text: readFileSync(join(entry.parentPath, entry.name), 'latin1') }))

async function observe({ engine, folder }: { readonly engine: Awaited<ReturnType<typeof startDocker>> | undefined; readonly folder: string }) {
  await using stack = new AsyncDisposableStack()
  const receiver = stack.adopt(await startReceiver(), (own) => own.close())
  const collector = stack.use(await otlpReceiver())
  const inLog = plant('log file', 1)
  const inContainer = plant('container', 2)
  const own = {
    token: plantOne('http.token', 1),
    hook: plantOne('path of a webhook', 2),
    signing: plantOne('secret of a webhook', 3),
    header: plantOne('header of a webhook', 4),
    otlp: plantOne('header of OTLP', 5),
    target: plantOne('header of a target', 6),
    userinfo: plantOne('password in a target', 7),
    environment: plantOne("variable of the agent's own", 8),
    query: plantOne('query of the heartbeat', 9),
  }
  const planted = [...inLog, ...(engine === undefined ? [] : inContainer), ...Object.values(own)]
  const recording = join(folder, 'run.jsonl')
  const dataDir = join(folder, 'data')
  const host = new URL(receiver.url).host
  const config = `
logs: { files: ["${folder}/*.log"], kernel: false }
otlp: { endpoint: "${collector.endpoint}", headers: { x-key: "${own.otlp.value}" }, interval_ms: 1000 }
alerts: { heartbeat_url: "${receiver.url}/beat?key=${own.query.value}", heartbeat_interval: 10s }
notifiers:
  - { name: hook, type: webhook, url: "${receiver.url}/${own.hook.value}", secret: "${own.signing.value}", headers: { X-Key: "${own.header.value}" } }
  - { name: chat, type: slack, url: "${receiver.url}/chat/${own.hook.value}", compatible: true }
targets:
  - { name: llm, url: "http://ann:${own.userinfo.value}@${host}/health", headers: { Authorization: "Bearer ${own.target.value}" } }
`
  const env = {
    WARPWATCH_HTTP__TOKEN: own.token.value,
    HF_TOKEN: own.environment.value,
    ...(engine === undefined ? {} : { WARPWATCH_CONTAINERS__ENGINES: JSON.stringify([engine.socketPath]) }),
  }
  const started: RunningAgent = await startAgent({ config, env, dataDir, scenario: mixedHost(), args: ['run', '--record', recording] })
  const agent = stack.use(started)
  const get = async (path: string): Promise<string> => (await agent.get(path, { authorization: `Bearer ${own.token.value}` })).text
  const kinds = async (): Promise<readonly string[]> => incidentList.parse(JSON.parse(await get('/api/v1/incidents'))).map(({ kind }) => kind)
  const stream = await streamOf(agent.url, own.token.value, (text) => text.includes('"type":"incident"') && text.includes('cuda_oom'))
  stack.defer(() => stream.close())

  writeFileSync(join(folder, 'job.log'), logOf(inLog))
  const wanted = engine === undefined ? 1 : 2
  await engine?.run({
    name: 'trainer',
    command: [
      'sh',
      '-c',
      `# ${inContainer
        .map(({ line }) => line)
        .join(' ')
        .replaceAll("'", '')}\nprintenv() { :; }; cat <<'X'\n${logOf(inContainer)}X\nsleep 300`,
    ],
    env: inContainer.map(({ line }, nth) => `CUDA_PLANTED_${nth}=${line}`).concat(inContainer.map(({ value }, nth) => `VLLM_API_KEY_${nth}=${value}`)),
    labels: { owner: 'ann' },
  })
  await poll(async () => (await kinds()).filter((kind) => kind === 'cuda_oom').length >= wanted, {
    what: () => `${wanted} incidents of cuda_oom; the log: ${agent.stderr().slice(-500)}`,
    deadlineMs: 60_000,
  })
  await stream.whole
  await receiver.until(() => receiver.taken.filter(({ path }) => path.includes(own.hook.value)).length >= 2)
  await poll(() => collector.logs.length > 0 && collector.metrics.length > 0, { what: 'metrics and incidents at the collector', deadlineMs: 60_000 })

  const pages = await pagesOf(get)
  const id = incidentList.parse(JSON.parse(await get('/api/v1/incidents')))[0]?.id ?? ''
  const commandEnv = { ...env, WARPWATCH_DATA_DIR: dataDir, WARPWATCH_HTTP__LISTEN: new URL(agent.url).host }
  const bundle = join(folder, 'bundle.tar.gz')
  const command = async (...args: readonly string[]): Promise<Output> => {
    const { stdout, stderr } = await runToEnd({ args, config, env: commandEnv })
    return { name: args.slice(0, 2).join(' '), text: stdout + stderr }
  }
  const log = join(folder, 'job.log')
  const commands = [
    await command('config'),
    await command('config', '--json'),
    await command('explain', log),
    await command('explain', '--json', log),
    await command('incidents'),
    await command('incidents', id, '--markdown'),
    await command('incidents', id, '--json'),
    await command('doctor', '--json', '--bundle', bundle),
  ]
  await agent.terminate()
  const replayed = await command('replay', recording, '--json')
  const outputs: readonly Output[] = [
    ...pages,
    ...commands,
    replayed,
    { name: 'live stream', text: stream.text() },
    { name: 'bodies of notifications', text: receiver.requests.map(({ body }) => body).join('\n') },
    { name: 'OTLP', text: JSON.stringify([collector.metrics, collector.logs], (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)) },
    { name: 'recording', text: readFileSync(recording, 'utf8') },
    { name: 'bundle', text: gunzipSync(readFileSync(bundle)).toString('utf8') },
    { name: "the agent's own log", text: agent.stderr() },
    ...filesIn(dataDir),
  ]
  const used = JSON.stringify([receiver.requests, collector.requests])
  return { outputs, planted, used, own }
}

export const plantedSecrets: AbuseCase = {
  id: 'planted-secrets',
  area: 'secrets',
  fault: 'secrets in logs, environments and command lines of containers, and in every secret setting',
  promised: 'no page, frame, report, notification, export, recording, bundle, log or file of the agent holds one',
  hasShortForm: true,
  besideOthers: true,
  unavailable: () => undefined,
  async run({ short }) {
    const folder = mkdtempSync(join(tmpdir(), 'warpwatch-planted-'))
    const engine = short || dockerMissing !== undefined ? undefined : await startDocker()
    try {
      const { outputs, planted, used, own } = await observe({ engine, folder })
      const reported = outputs.filter(({ text }) => text.includes(VISIBLE)).map(({ name }) => name)
      const blind = ['recording', 'incidents', 'live stream', 'bodies of notifications'].filter(
        (name) => !outputs.some((output) => output.name.startsWith(name) && output.text.length > 100),
      )
      const unused = [own.hook, own.header, own.otlp, own.target, own.query].filter(({ value }) => !used.includes(value)).map(({ name }) => name)
      if (blind.length > 0 || unused.length > 0 || !reported.includes('recording') || reported.length < 4)
        throw new Error(
          `nothing is proved: empty ${blind.join(', ') || 'none'}, unused ${unused.join(', ') || 'none'}, the words beside the secrets only in ${reported.join(', ')}`,
        )
      if (engine !== undefined && !outputs.some(({ text }) => text.includes('CUDA_PLANTED_0')))
        throw new Error("nothing is proved: the container's variables are shown nowhere")
      const leaks = outputs.flatMap(({ name, text }) => foundIn(text, planted).map((secret) => `${secret} in ${name}`))
      const where = engine === undefined ? (short ? '' : `, without a container (${dockerMissing ?? ''})`) : ', a container among the sources'
      return {
        held: leaks.length === 0,
        observed: `${leaks.length === 0 ? `${planted.length} secrets, 0 found in ${outputs.length} outputs` : leaks.join('; ')}${where}`,
      }
    } finally {
      await engine?.close()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}
