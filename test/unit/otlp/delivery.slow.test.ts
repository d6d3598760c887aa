// The way to a receiver that answers well, badly, late or not at all, over HTTP and gRPC: what arrives, what is tried again and when, what is counted.
import { status } from '@grpc/grpc-js'
import { describe, expect, onTestFinished, test } from 'vitest'
import { selfSigned } from '../../setup/certificate.ts'
import { otlpReceiver, type OtlpReceiver, type ReceiverOptions, type Reply } from '../../setup/otlp-receiver.ts'
import { poll } from '../../setup/poll.ts'
import { rawServer } from '../../setup/web-server.ts'
import { driven, incident, SECRET, type Driven } from './driven.ts'

const PROTOCOLS = ['http/protobuf', 'grpc'] as const
type Protocol = (typeof PROTOCOLS)[number]

async function receiver(options: ReceiverOptions): Promise<OtlpReceiver> {
  const made = await otlpReceiver(options)
  onTestFinished(made.close)
  return made
}
const busy = (protocol: Protocol, retryAfterS?: number): Reply =>
  protocol === 'grpc'
    ? {
        code: retryAfterS === undefined ? status.UNAVAILABLE : status.RESOURCE_EXHAUSTED,
        details: 'too much',
        ...(retryAfterS === undefined ? {} : { retryAfterS }),
      }
    : { status: retryAfterS === undefined ? 503 : 429, ...(retryAfterS === undefined ? {} : { headers: { 'retry-after': String(retryAfterS) } }) }
const refuses = (protocol: Protocol): Reply =>
  protocol === 'grpc' ? { code: status.INVALID_ARGUMENT, details: `no such tenant ${SECRET}` } : { status: 401, body: SECRET }
/** Waits for the count that a request comes to. */
const counted = async ({ sink }: Driven, what: 'delivered' | 'retry' | 'rejected', count: number): Promise<void> =>
  void (await poll(() => sink.counts().metrics[what] >= count, {
    what: () => `${count} ${what}; counts are ${JSON.stringify(sink.counts())}`,
    deadlineMs: 15_000,
  }))

describe.each(PROTOCOLS)('over %s', (protocol) => {
  test('requests carry the headers, compressed, to the right place, on one connection', async () => {
    const to = await receiver({ protocol })
    // Long enough for a busy machine: an interval without an export would count as dropped.
    const { sink } = await driven(to, { interval_ms: 5_000 })
    sink.incident(incident('a'))
    await to.taken(2)
    await poll(() => to.logs.length === 1, { what: 'the incident' })
    const places = new Set(to.requests.map(({ path }) => path))
    expect(places).toEqual(
      new Set(
        protocol === 'grpc'
          ? ['opentelemetry.proto.collector.metrics.v1.MetricsService/Export', 'opentelemetry.proto.collector.logs.v1.LogsService/Export']
          : ['POST /v1/metrics', 'POST /v1/logs'],
      ),
    )
    const [first] = to.requests
    expect(first?.headers).toMatchObject({ authorization: `Bearer ${SECRET}` })
    expect(String(first?.headers['user-agent'])).toMatch(/^warpwatch\/\d/)
    expect(first?.headers).toMatchObject(protocol === 'grpc' ? {} : { 'content-encoding': 'gzip', 'content-type': 'application/x-protobuf' })
    expect(sink.dropped()).toBe(0)
  })

  test('a receiver that is busy is asked again, with what is then; nothing is lost', async () => {
    const to = await receiver({ protocol })
    to.reply(busy(protocol))
    const run = await driven(to)
    run.sink.incident(incident('a'))
    await counted(run, 'retry', 2)
    to.reply('take')
    await to.taken(2)
    await poll(() => to.logs.length > 0, { what: 'the incident' })
    expect(to.logs.flatMap(({ records }) => records.map(({ attributes }) => attributes['warpwatch.incident.id']))).toEqual(['a'])
    // The first that arrives is a first point: its start is its time.
    const energy = to.metrics.map(({ metrics }) => metrics.find(({ name }) => name === 'hw.energy')?.points[0])
    expect(energy[0]?.start).toBe(energy[0]?.time)
    expect(energy[1]?.start).toBe(energy[0]?.start)
    expect(run.lines.map((line) => line.replace(/: .*/, ''))).toEqual(
      expect.arrayContaining([`warn metrics do not reach ${new URL(to.endpoint).host}`, `info metrics reach ${new URL(to.endpoint).host} again`]),
    )
    expect(run.lines.filter((line) => line.startsWith('warn'))).toHaveLength(2) // once for each signal
    expect(run.lines.join('\n')).not.toContain(SECRET)
  })

  test('one that says when is left alone until then', async () => {
    const to = await receiver({ protocol })
    to.reply(busy(protocol, 3))
    await driven(to, { incidents: false })
    await to.requested(1)
    to.reply('take')
    await to.taken(1)
    const [first, second] = to.requests
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(2_990)
  })

  test('what it does not want is not sent again, and counted', async () => {
    const to = await receiver({ protocol })
    to.reply(refuses(protocol))
    const run = await driven(to, { interval_ms: 3_600_000 })
    run.sink.incident(incident('a'))
    await poll(() => run.sink.counts().incidents.rejected === 1 && run.sink.counts().metrics.rejected === 1, { what: 'both refusals' })
    to.reply('take')
    run.sink.incident(incident('b'))
    await poll(() => to.logs.length === 1, { what: 'the next incident' })
    expect(to.requests).toHaveLength(3)
    expect(run.sink.dropped()).toBe(2)
    expect(run.lines.join('\n')).not.toContain(SECRET)
    expect(run.lines[0]).toMatch(protocol === 'grpc' ? /gRPC status 3 INVALID_ARGUMENT/ : /HTTP status 401/)
  })

  test('a partial success is delivered; what was refused is counted and told once', async () => {
    const to = await receiver({ protocol })
    to.reply({ rejected: 2, words: `no more than 5 series for ${SECRET}` })
    const run = await driven(to, { incidents: false })
    await counted(run, 'delivered', 3)
    expect(run.sink.counts().metrics).toMatchObject({ refused: 2 * run.sink.counts().metrics.delivered, retry: 0, rejected: 0 })
    expect(run.lines).toHaveLength(1)
    expect(run.lines[0]).toContain('2 refused out of a request that was taken: no more than 5 series for')
    expect(run.lines[0]).not.toContain(SECRET)
  })

  test('one that never answers is given up in time, and works again later', async () => {
    const to = await receiver({ protocol })
    to.reply('hang')
    const run = await driven(to, { timeout_ms: 300, incidents: false })
    await counted(run, 'retry', 1)
    expect(run.lines[0]).toMatch(protocol === 'grpc' ? /DEADLINE_EXCEEDED/ : /no answer within 300 ms/)
    to.reply('take')
    await to.taken(1)
  })

  test('one that is not there is tried with pauses; exports that are missed are counted, and it works once it is there', async () => {
    const gone = await otlpReceiver({ protocol })
    await gone.close()
    const run = await driven(gone)
    run.sink.incident(incident('a'))
    await counted(run, 'retry', 2)
    expect(run.sink.counts().metrics.retry).toBeLessThan(5)
    expect(run.sink.dropped()).toBeGreaterThan(3)
    const port = Number(new URL(gone.endpoint).port)
    const back = await receiver({ protocol, port })
    await back.taken(1)
    await poll(() => back.logs.length === 1, { what: 'the incident', deadlineMs: 15_000 })
  })

  const certificate = selfSigned('IP:127.0.0.1')
  test.skipIf(certificate === undefined)('only a certificate that is believed is spoken to', async () => {
    if (certificate === undefined) return
    onTestFinished(certificate.remove)
    const to = await receiver({ protocol, tls: certificate })
    const doubting = await driven(to, { incidents: false })
    await counted(doubting, 'retry', 1)
    expect(to.requests).toEqual([])
    expect(doubting.lines[0]).toMatch(/self-signed certificate|SELF_SIGNED/i)
    await driven(to, { ca_file: certificate.certPath, incidents: false })
    await to.taken(1)
  })

  test('stopping sends the incidents that wait, and does not wait for a receiver that hangs', async () => {
    const to = await receiver({ protocol })
    const run = await driven(to, { metrics: false })
    run.sink.incident(incident('a'))
    await run.stop()
    expect(to.logs).toHaveLength(1)
    to.reply('hang')
    const stuck = await driven(to, { metrics: false, timeout_ms: 600_000 })
    stuck.sink.incident(incident('b'))
    await to.requested(2)
    // Its own ten minutes would outlast the test.
    await stuck.stop()
  })
})

test('a server that drips its answer is given up in time', async () => {
  const raw = await rawServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n')
    const drops = setInterval(() => socket.write('x'), 50)
    socket.on('close', () => clearInterval(drops))
  })
  onTestFinished(raw.close)
  const run = await driven({ endpoint: raw.url, protocol: 'http/protobuf' }, { timeout_ms: 400, incidents: false })
  await counted(run, 'retry', 1)
  expect(run.lines[0]).toContain('no whole answer within 400 ms')
})

test('no redirect is followed', async () => {
  const elsewhere = await receiver({})
  const to = await receiver({})
  to.reply({ status: 307, headers: { location: `${elsewhere.endpoint}/v1/metrics` } })
  const run = await driven(to, { incidents: false })
  await counted(run, 'rejected', 2)
  expect(elsewhere.requests).toEqual([])
})

test('a header that gRPC cannot send is told without its value; a file of certificates that is not there with its name', async () => {
  const to = { endpoint: 'http://127.0.0.1:4317', protocol: 'grpc' } as const
  const error: unknown = await driven(to, { headers: { 'x-key': `${SECRET}\u00ff` } }).catch((caught: unknown) => caught)
  expect(String(error)).toContain('otlp.headers')
  expect(String(error)).not.toContain(SECRET)
  await expect(driven(to, { ca_file: '/no/such.pem' })).rejects.toThrow(/otlp\.ca_file: cannot read the CA certificates: ENOENT/)
})
