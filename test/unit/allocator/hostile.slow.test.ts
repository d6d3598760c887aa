// Those who do not keep to the protocol: nothing breaks, nothing is believed that cannot be, each refusal is counted, an honest probe goes on.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { MAX_CONNECTIONS, MAX_PER_PROCESS } from '../../../agent/sources/allocator/hub.ts'
import { parseMessage } from '../../../agent/sources/allocator/messages.ts'
import { poll } from '../../setup/poll.ts'
import {
  createDriver,
  GIB,
  gpuSays,
  helloOf,
  processSays,
  sampleOf,
  startListening,
  statsOf,
  trueClaim,
  UUID,
  UUID1,
  type Client,
  type Wire,
} from './harness.ts'
import { living } from './living.ts'

const PYTHON = '/usr/bin/python3'
/** Opens connections and keeps them. */
const FLOOD = `
import resource, socket, sys, time
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
kept = []
while True:
    one = socket.socket(socket.AF_UNIX)
    try:
        one.connect(sys.argv[1])
        kept.append(one)
    except OSError:
        time.sleep(0.001)
`
function listening() {
  const driver = createDriver()
  driver.say(gpuSays(0, 30 * GIB, 50 * GIB))
  return { driver, run: startListening(driver) }
}
type Run = ReturnType<typeof listening>['run']
const refused = (run: Run, reason: string, times = 1): Promise<boolean> =>
  poll(() => (run.refusals()[reason] ?? 0) >= times, { what: () => `${times} × ${reason}, came ${JSON.stringify(run.refusals())}` })
const ended = (client: Client): Promise<boolean> => poll(() => client.closed(), { what: 'the end of the connection' })
/** An honest probe is heard, whatever else is going on. Turned away beside what still waits of a flood, it comes again, as the real one does. */
async function honest(run: Run): Promise<Client> {
  const pid = living()
  const join = async (): Promise<Client> => {
    const client = await run.client()
    client.say(helloOf(pid))
    return client
  }
  let probe = await join()
  const say = async (): Promise<boolean> => {
    if (probe.closed()) probe = await join()
    probe.say(sampleOf({ 0: statsOf(1, 2, 0) }))
    return run.value('warpwatch_allocator_reserved_bytes', { pid: String(pid) }) === 2 * GIB
  }
  await poll(say, { what: 'an honest probe to be heard', everyMs: 250 })
  return probe
}

describe('who it claims to be', () => {
  test('another namespace, another start, another pid, none at all: not believed', async () => {
    await using run = listening().run
    const pid = living()
    const { pidns, start_ticks: ticks } = trueClaim(pid)
    const claims: readonly Wire[] = [{ pidns: pidns + 1 }, { start_ticks: ticks + 1 }, { pid: process.pid }, { pid: 4_000_000 }, { pid: 1 }]
    const clients: Client[] = []
    for (const wrong of claims) {
      const client = await run.client()
      client.say(helloOf(pid, wrong), sampleOf({ 0: statsOf(1, 2, 0) }))
      clients.push(client)
    }
    await poll(() => run.refusals()['not_owned'] === claims.length, {
      what: () => `all to be refused, came ${JSON.stringify(run.refusals())}`,
      deadlineMs: 19_000,
    })
    expect(clients.every(({ closed }) => closed())).toBe(true)
    expect(run.samples()).toEqual([])
  })

  test('a second hello may not name somebody else', async () => {
    await using run = listening().run
    const probe = await run.client()
    probe.say(helloOf(living()), helloOf(living()))
    await refused(run, 'not_owned')
    expect(await ended(probe)).toBe(true)
  })

  test('a GPU that is not of this host, that the driver does not list the process on, or twice the same: no row', async () => {
    const { driver, run } = listening()
    await using _ = run
    const pid = living()
    driver.say([...gpuSays(0, GIB, GIB), ...gpuSays(1, GIB, GIB), processSays(pid, 0, GIB)])
    const probe = await run.client()
    const devices = [
      { i: 0, uuid: 'GPU-ffffffff' },
      { i: 1, uuid: UUID1 },
      { i: 2, uuid: UUID },
      { i: 3, uuid: UUID },
    ]
    probe.say(helloOf(pid, { devices }), sampleOf({ 0: statsOf(1, 1, 0), 1: statsOf(2, 2, 0), 2: statsOf(3, 3, 0), 3: statsOf(4, 4, 0) }))
    await poll(() => run.gaps().length === 3, { what: 'the gaps' })
    expect(run.gaps().map(({ detail }) => detail)).toEqual([
      'the probe names GPU-ffffffff, which is no GPU of this host',
      `the probe names GPU ${UUID1}, the driver lists the process on ${UUID}`,
      `the probe says of two devices that they are GPU ${UUID}`,
    ])
    expect(run.samples().map(({ stats }) => stats.allocated_bytes)).toEqual([3 * GIB])
  })

  test('more connections for one process than any probe has', async () => {
    await using run = listening().run
    const pid = living()
    const clients: Client[] = []
    for (let n = 0; n < MAX_PER_PROCESS + 4; n++) {
      const client = await run.client()
      client.say(helloOf(pid))
      clients.push(client)
    }
    await refused(run, 'too_many_per_process', 4)
    await poll(() => clients.filter(({ closed }) => closed()).length === 4, { what: 'four to be closed' })
    const probe = await honest(run)
    expect(probe.closed()).toBe(false)
  })
})

describe('what it says', () => {
  const BAD: readonly (readonly [what: string, reason: string, line: string])[] = [
    ['no JSON', 'bad_json', 'GET / HTTP/1.1'],
    ['NaN', 'bad_json', '{"type":"hello","v":NaN}'],
    ['another first message', 'no_hello', JSON.stringify(sampleOf({}))],
    ['another version', 'bad_message', JSON.stringify({ ...helloOf(process.pid), v: 2 })],
    ['a list', 'bad_message', '[1,2]'],
    ['a pid that is none', 'bad_message', JSON.stringify({ ...helloOf(process.pid), pid: -1 })],
    ['a hello that is too long', 'line_too_long', 'x'.repeat(20_000)],
    ['bytes that are no UTF-8', 'bad_json', '\xff\xfe\x00'],
  ]
  test.each(BAD)('%s ends the connection', async (_, reason, line) => {
    await using run = listening().run
    const client = await run.client()
    client.raw(Buffer.from(`${line}\n`, 'latin1'))
    await refused(run, reason)
    expect(await ended(client)).toBe(true)
  })

  const FIGURES: readonly (readonly [string, Wire])[] = [
    ['negative', { allocated_bytes: [-1, 0] }],
    ['beyond all memory', { allocated_bytes: [2 ** 45, 2 ** 45] }],
    ['fractions', { allocated_bytes: [1.5, 2] }],
    ['text', { allocated_bytes: ['1', 2] }],
    ['no pair', { allocated_bytes: [1] }],
    ['no peak', { allocated_bytes: [1, null] }],
    ['an endless count', { num_ooms: 1e300 }],
    ['no number', { num_ooms: null }],
  ]
  test('figures that cannot be: the line is dropped, the next one counts', async () => {
    await using run = listening().run
    const probe = await run.client()
    probe.say(helloOf(living()))
    for (const [, wrong] of FIGURES) probe.say(sampleOf({ 0: statsOf(1, 2, 0, wrong) }))
    probe.say(sampleOf({ 0: { ...statsOf(1, 2, 0), limit: -1 } }))
    probe.raw('{"type":"sample","t":1,"devices":{"999":{}}}\n{"type":"sample","t":1,"devices":{"__proto__":{"stats":{}}}}\n{"type":"news"}\n')
    // The key __proto__ names no device and does no harm.
    await refused(run, 'bad_message', FIGURES.length + 3)
    expect(run.samples()).toEqual([])
    probe.say(sampleOf({ 0: statsOf(1, 2, 0) }))
    await poll(() => run.samples().length === 1, { what: 'the good one' })
    expect(probe.closed()).toBe(false)
  })

  test('only so many of them', async () => {
    await using run = listening().run
    const probe = await run.client()
    probe.say(helloOf(living()), ...Array.from({ length: 25 }, () => ({ type: 'news' })))
    expect(await ended(probe)).toBe(true)
    await refused(run, 'bad_message', 21)
  })

  test('deep and wide JSON is refused like any other', () => {
    expect(parseMessage(`${'['.repeat(30_000)}${']'.repeat(30_000)}`)).toEqual({ type: 'refused', why: 'bad_message' })
    expect(parseMessage(JSON.stringify({ type: 'hello', devices: Array.from({ length: 5_000 }, (_, i) => ({ i })) }))).toMatchObject({ why: 'bad_message' })
    expect(parseMessage(JSON.stringify({ type: 'toString' }))).toMatchObject({ why: 'bad_message' })
  })

  test('a line without an end: 64 KiB and no more', async () => {
    await using run = listening().run
    const probe = await run.client()
    probe.say(helloOf(living()))
    probe.raw('{"type":"sample","x":"')
    probe.raw('y'.repeat(70_000))
    await refused(run, 'line_too_long')
    expect(await ended(probe)).toBe(true)
  })
})

describe('how much it says', () => {
  test('a flood of lines is read slowly, and others are heard', async () => {
    await using run = listening().run
    const flooder = await run.client()
    const pid = living()
    const line = Buffer.from(`${JSON.stringify(sampleOf({ 0: statsOf(1, 2, 0) }))}\n`.repeat(200))
    flooder.say(helloOf(pid))
    let sending = true
    const flood = (): void => {
      if (!sending || flooder.closed()) return
      if (flooder.socket.write(line)) setImmediate(flood)
      else flooder.socket.once('drain', flood)
    }
    flood()
    await refused(run, 'too_fast')
    const probe = await honest(run)
    const before = run.samples().length
    const others = run.samples().filter((sample) => sample.pid !== pid).length
    await poll(() => run.samples().filter((sample) => sample.pid !== pid).length > others || (probe.say(sampleOf({ 0: statsOf(1, 2, 0) })), false), {
      what: 'the honest one to go on',
      everyMs: 300,
    })
    // Not told more often than twice a second, however much comes.
    expect(run.samples().length - before).toBeLessThan(20)
    sending = false
  })

  test('bytes that come one by one are stopped too', async () => {
    await using run = listening().run
    const dripper = await run.client()
    dripper.say(helloOf(living()))
    dripper.socket.setNoDelay(true)
    let sending = true
    const drip = (): void => {
      if (!sending || dripper.closed()) return
      dripper.raw('x')
      setImmediate(drip)
    }
    drip()
    await refused(run, 'too_fast')
    const probe = await honest(run)
    expect(probe.closed()).toBe(false)
    sending = false
  })

  test('who says nothing at all is let go of after five seconds', async () => {
    await using run = listening().run
    const silent = await run.client()
    const halfway = await run.client()
    halfway.raw('{"type":"hello"')
    await refused(run, 'no_hello', 2)
    expect((await ended(silent)) && (await ended(halfway))).toBe(true)
  })

  test.skipIf(!existsSync(PYTHON))('more connections than the agent keeps: the others are turned away, and afterwards it is as before', async () => {
    await using run = listening().run
    const probe = await honest(run)
    // A process of its own, as fast as it can, until it is ended: what this one does beside it must not slow it down.
    const flood = spawn(PYTHON, ['-c', FLOOD, run.path], { stdio: 'ignore' })
    onTestFinished(() => void flood.kill('SIGKILL'))
    await poll(() => (run.refusals()['connection_flood'] ?? 0) + (run.refusals()['too_many_connections'] ?? 0) > 0, { what: 'refusals' })
    expect(run.connections()).toBeLessThanOrEqual(MAX_CONNECTIONS)
    flood.kill('SIGKILL')
    await poll(() => run.connections() === 1, { what: 'only the honest one to be left' })
    expect(probe.closed()).toBe(false)
    await honest(run)
  })
})
