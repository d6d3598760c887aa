// Metrics and incidents to receivers of their own: each gets its signal at its own path, with its own headers, and nothing of the other.
import { expect, onTestFinished, test } from 'vitest'
import { otlpReceiver, type OtlpReceiver } from '../../setup/otlp-receiver.ts'
import { poll } from '../../setup/poll.ts'
import { driven, incident } from './driven.ts'

async function receiver(protocol: 'http/protobuf' | 'grpc'): Promise<OtlpReceiver> {
  const made = await otlpReceiver({ protocol })
  onTestFinished(made.close)
  return made
}

test('each signal goes to its own endpoint, with its own protocol and headers', async () => {
  const [metrics, logs] = [await receiver('http/protobuf'), await receiver('grpc')]
  const { sink, lines } = await driven(
    { endpoint: '', protocol: 'http/protobuf' },
    {
      metrics_endpoint: `${metrics.endpoint}/own/metrics?tenant=a`,
      metrics_headers: { 'x-of': 'metrics' },
      logs_endpoint: logs.endpoint,
      logs_protocol: 'grpc',
      logs_headers: { 'x-of': 'logs' },
    },
  )
  sink.incident(incident('a'))
  await metrics.taken(1)
  await poll(() => logs.logs.length === 1, { what: () => `the incident; ${lines.join('\n')}` })
  expect(new Set(metrics.requests.map(({ path, headers }) => `${path} ${String(headers['x-of'])} ${String(headers['authorization'])}`))).toEqual(
    new Set(['POST /own/metrics?tenant=a metrics undefined']),
  )
  expect(logs.requests.map(({ headers }) => [headers['x-of'], headers['authorization']])).toEqual([['logs', undefined]])
  expect([metrics.logs, logs.metrics, lines]).toEqual([[], [], []])
})

test('a signal without an endpoint is not sent, and not counted as lost', async () => {
  const metrics = await receiver('http/protobuf')
  const { sink, lines } = await driven({ endpoint: '', protocol: 'http/protobuf' }, { metrics_endpoint: `${metrics.endpoint}/v1/metrics` })
  sink.incident(incident('a'))
  await metrics.taken(3)
  expect(metrics.requests.every(({ path }) => path === 'POST /v1/metrics')).toBe(true)
  expect(sink.counts().incidents).toEqual({ delivered: 0, retry: 0, rejected: 0, refused: 0 })
  expect(lines).toEqual([])
})
