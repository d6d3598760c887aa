// OTLP through a proxy, over both protocols, with and without TLS: what arrives is whole, and the proxy's credentials stay between it and the agent.
import { describe, expect, onTestFinished, test } from 'vitest'
import { proxyRules } from '../../../agent/lib/proxy.ts'
import { selfSigned } from '../../setup/certificate.ts'
import { otlpReceiver } from '../../setup/otlp-receiver.ts'
import { poll } from '../../setup/poll.ts'
import { startProxy } from '../../setup/proxy-server.ts'
import { driven, incident } from './driven.ts'

const PASSWORD = 'pr0xy-s3cret'
const BASIC = `Basic ${Buffer.from(`agent:${PASSWORD}`).toString('base64')}`
const portOf = (endpoint: string): number => Number(new URL(endpoint).port)

describe.each(['http/protobuf', 'grpc'] as const)('over %s', (protocol) => {
  const certificate = selfSigned('DNS:collector.example')

  test.each([['without TLS', undefined], ...(certificate === undefined ? [] : [['with TLS', certificate] as const])] as const)(
    '%s metrics and incidents arrive through the proxy',
    async (_, tls) => {
      const to = await otlpReceiver({ protocol, ...(tls === undefined ? {} : { tls }) })
      onTestFinished(to.close)
      const between = await startProxy({ to: portOf(to.endpoint), authorization: BASIC })
      onTestFinished(between.close)
      const scheme = tls === undefined ? 'http' : 'https'
      const { sink, lines, stop } = await driven(
        { endpoint: `${scheme}://collector.example:4444`, protocol },
        { ca_file: tls?.certPath ?? '' },
        [],
        proxyRules({ proxy: `http://agent:${PASSWORD}@127.0.0.1:${between.port}`, no_proxy: [] }, {}),
      )
      sink.incident(incident('a'))
      await to.taken(2)
      await poll(() => to.logs.length === 1, { what: () => `the incident; ${lines.join('\n')}` })
      expect(to.metrics[0]?.metrics.map(({ name }) => name)).toContain('hw.energy')
      const tunnelled = protocol === 'grpc' || tls !== undefined
      expect(new Set(between.asked)).toEqual(
        new Set(
          tunnelled ? ['CONNECT collector.example:4444'] : ['POST http://collector.example:4444/v1/metrics', 'POST http://collector.example:4444/v1/logs'],
        ),
      )
      expect(new Set(between.credentials)).toEqual(new Set([BASIC]))
      // Through a tunnel the receiver never sees them.
      expect(to.requests.some(({ headers }) => 'proxy-authorization' in headers)).toBe(!tunnelled)
      expect(lines).toEqual([])
      await stop()
    },
  )

  test('a proxy that wants other credentials is said without ours', async () => {
    const between = await startProxy({ to: 1, authorization: 'Basic other' })
    onTestFinished(between.close)
    const proxyFor = proxyRules({ proxy: `http://agent:${PASSWORD}@127.0.0.1:${between.port}`, no_proxy: [] }, {})
    const { lines, sink, stop } = await driven({ endpoint: 'https://collector.example:4444', protocol }, { timeout_ms: 2_000 }, [], proxyFor)
    await poll(() => sink.counts().metrics.retry > 0, { what: 'a try', deadlineMs: 15_000 })
    expect(lines[0]).toMatch(/^warn metrics do not reach collector\.example:4444: /)
    expect(lines.join('\n')).not.toMatch(new RegExp(`${PASSWORD}|${BASIC.slice(6)}`))
    await stop()
  })
})
