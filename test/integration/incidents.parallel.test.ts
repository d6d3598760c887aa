// Real crashes in real containers, and real kernel records, through the whole agent: each is one incident with kind, container, facts and evidence.
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { WebSocket } from 'ws'
import { incident, incidentSummary } from '../../agent/http/api/incident-schemas.ts'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { dockerMissing, startDocker, type TestDocker } from '../setup/docker.ts'
import { poll } from '../setup/poll.ts'

const missing = dockerMissing ?? (existsSync('/dev/kmsg') ? undefined : 'needs /dev/kmsg')
const OOM =
  'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 23.50 GiB of which 1.20 GiB is free. ' +
  'Including non-PyTorch memory, this process has 22.25 GiB memory in use. Of the allocated memory 21.00 GiB is allocated by PyTorch, and 850.00 MiB is reserved by PyTorch but unallocated.'
/** The kernel takes ten records in five seconds from a program, unless told otherwise. */
const LIMIT = '/proc/sys/kernel/printk_devkmsg'
const sh = (script: string): readonly string[] => ['sh', '-c', script]
const MIB = 1_048_576

describe.skipIf(missing !== undefined)(`incidents of real crashes${missing === undefined ? '' : ` (${missing})`}`, () => {
  let docker: TestDocker
  let agent: RunningAgent
  let dataDir = ''
  let limitBefore: string | undefined
  const start = async (): Promise<RunningAgent> =>
    startAgent({ dataDir, env: { WARPWATCH_CONTAINERS__ENGINES: docker.socketPath, WARPWATCH_LOGS__KERNEL: 'true', WARPWATCH_GPU__SOURCE: 'off' } })
  beforeAll(async () => {
    docker = await startDocker()
    dataDir = mkdtempSync(join(tmpdir(), 'warpwatch-incidents-'))
    agent = await start()
    // From here on the engine's events and logs are followed.
    const ready = await docker.run({ name: 'ready', command: sh('sleep 600') })
    await poll(async () => (await agent.get('/api/v1/containers')).text.includes('"ready"'), { what: 'the agent to see a container' })
    await docker.call('DELETE', `/containers/${ready}?force=1`)
  })
  afterAll(async () => {
    await agent?.terminate()
    await docker?.close()
    if (limitBefore !== undefined) writeFileSync(LIMIT, `${limitBefore}\n`)
    rmSync(dataDir, { recursive: true, force: true })
  })

  const list = async () => z.array(incidentSummary).parse(await agent.json('/api/v1/incidents?limit=1000'))
  const of = async (container: string) => (await list()).filter(({ subject }) => subject.container?.name === container)
  /** The only incident of a container, whole, once it is as it should be. */
  const only = async (container: string, asItShould: (found: z.infer<typeof incidentSummary>) => boolean = () => true) => {
    let last = ''
    const id = await poll(
      async () => {
        const found = await of(container)
        last = JSON.stringify(found)
        return found.find(asItShould)?.id
      },
      { what: () => `an incident of ${container}; its incidents: ${last.slice(0, 3_000)}`, deadlineMs: 15_000 },
    )
    expect(await of(container)).toHaveLength(1)
    return incident.parse(await agent.json(`/api/v1/incidents/${id}`))
  }

  test('a PyTorch OOM, printed just before the end', async () => {
    await docker.run({
      name: 'oom',
      command: sh(`echo starting >&2; echo '${OOM}' >&2; exit 1`),
      env: ['PYTORCH_CUDA_ALLOC_CONF=x:1', 'HF_TOKEN=hf_nobodymayseethistokenatall'],
      host: { ShmSize: 32 * MIB },
    })
    const settled = async (id: string) => incident.parse(await agent.json(`/api/v1/incidents/${id}`)).evidence.container !== undefined
    const { id } = await only('oom', ({ facts }) => facts['exit_code'] === 1)
    await poll(() => settled(id), { what: 'the settings of the container' })
    const found = await only('oom')
    expect(found).toMatchObject({ kind: 'cuda_oom', severity: 'critical', status: 'firing', count: 1, facts: { exit_code: 1, total_bytes: 23.5 * 2 ** 30 } })
    expect(found.evidence.log_lines.map(({ text }) => text).join('\n')).toContain('CUDA out of memory')
    expect(found.evidence.log_lines.map(({ text }) => text).join('\n')).toContain('starting')
    expect(found.evidence.container).toMatchObject({ shm_size_bytes: 32 * MIB, env: { PYTORCH_CUDA_ALLOC_CONF: 'x:1' } })
    expect(JSON.stringify(found)).not.toContain('nobodymayseethis')
  })

  test('killed by its own limit: kernel, engine and counter tell of one kill', async () => {
    await docker.run({ name: 'limited', command: sh('exec dd if=/dev/zero of=/dev/null bs=200M count=100'), host: { Memory: 48 * MIB, MemorySwap: 48 * MIB } })
    const found = await only('limited', ({ facts }) => facts['exit_code'] === 137 && facts['pid'] !== undefined)
    expect(found).toMatchObject({ kind: 'host_oom_kill', count: 1, facts: { process: 'dd', exit_code: 137 } })
    expect(found.evidence.container?.memory_limit_bytes).toBe(48 * MIB)
    expect(found.evidence.log_lines.some(({ stream }) => stream === 'kernel')).toBe(true)
  })

  test('a child killed while its container lives on', async () => {
    const id = await docker.run({
      name: 'parent',
      command: sh('dd if=/dev/zero of=/dev/null bs=200M count=100; sleep 600'),
      host: { Memory: 48 * MIB, MemorySwap: 48 * MIB },
    })
    const found = await only('parent', ({ facts }) => facts['pid'] !== undefined)
    expect(found).toMatchObject({ kind: 'host_oom_kill', count: 1, facts: { process: 'dd' } })
    expect(found.facts['exit_code']).toBeUndefined()
    expect((await docker.call('GET', `/containers/${id}/json`)).body).toContain('"Running":true')
  })

  test('each reaches the stream with its container; how soon is printed', async () => {
    const socket = new WebSocket(`${agent.url.replace('http', 'ws')}/ws`)
    const seen = new Map<string, number>()
    socket.on('message', (data: Buffer) => {
      const text = data.toString()
      if (!text.startsWith('{"type":"incident"')) return
      const { incident: reported } = z.object({ incident: incidentSummary }).parse(JSON.parse(text))
      const name = reported.subject.container?.name ?? ''
      if (name.startsWith('quick-') && !seen.has(name)) seen.set(name, Date.now() - reported.started_at)
    })
    const names = Array.from({ length: 8 }, (_, n) => `quick-${n}`)
    for (const name of names) await docker.run({ name, command: sh(`echo '${OOM}'; sleep 600`) })
    await poll(() => names.every((name) => seen.has(name)), { what: () => `all, came ${[...seen.keys()].join(', ')}` })
    const delays = names.map((name) => seen.get(name) ?? Number.NaN).sort((a, b) => a - b)
    console.log(`line to stream, ms: median ${delays[4]}, worst ${delays.at(-1)}`)
    expect([...seen.keys()].sort()).toEqual(names)
    socket.terminate()
  })

  test('a thousand Xids in the kernel log are one incident with their count', async () => {
    limitBefore = readFileSync(LIMIT, 'utf8').trim()
    writeFileSync(LIMIT, 'on\n')
    const kmsg = openSync('/dev/kmsg', 'w')
    // The kernel remembers earlier runs of this test: each has a card of its own.
    const domain = (0x1000 + (Date.now() % 0xe000)).toString(16)
    const ask = async () => (await list()).filter(({ kind, facts }) => kind === 'xid' && String(facts['pci_bus_id']).includes(`${domain}:a7:00`))
    let counted = 0
    const reaches = (count: number) =>
      poll(
        async () => {
          const [first] = await ask()
          counted = first?.count ?? 0
          return counted === count ? first : undefined
        },
        { what: () => `${count} Xids, came ${counted}` },
      )
    // The kernel's ring holds a thousand records or so: a reader that a busy machine keeps waiting would lose some.
    for (let written = 0; written < 1_000;) {
      if (written > 0) await reaches(written)
      for (let n = 0; n < 250; n++, written++)
        writeSync(kmsg, `NVRM: Xid (PCI:${domain}:a7:00): 63, Row Remapper: New row marked for remapping, reset gpu to activate.\n`)
    }
    closeSync(kmsg)
    const found = await reaches(1_000)
    expect(await ask()).toHaveLength(1)
    expect(found).toMatchObject({ kind: 'xid', facts: { xid: 63 }, status: 'firing' })
    expect(found.remedies.length).toBeGreaterThan(0)
    const page = await agent.metrics()
    expect(page.value('warpwatch_incidents_total', { kind: 'xid' })).toBeGreaterThanOrEqual(1)
    expect(page.value('warpwatch_incident_last_timestamp_seconds', { kind: 'xid' })).toBeCloseTo(found.last_seen_at / 1_000, 0)
  })

  test('one that dies while the agent is down is told of when it is back, and what fired before still fires', async () => {
    const before = await list()
    await agent.terminate()
    const id = await docker.run({ name: 'alone', command: sh(`echo '${OOM}'; exit 1`) })
    await poll(async () => (await docker.call('GET', `/containers/${id}/json`)).body.includes('"Status":"exited"'), { what: 'its end' })
    agent = await start()
    const found = await only('alone')
    expect(found).toMatchObject({ kind: 'cuda_oom', status: 'firing' })
    const after = await list()
    for (const old of before) expect(after.find((one) => one.id === old.id)).toMatchObject({ status: 'firing', count: old.count })
    expect(after).toHaveLength(before.length + 1)
    const report = await agent.get(`/api/v1/incidents/${found.id}/report`)
    expect(report.text).toContain('# alone ran out of memory on GPU 0')
  })
})
