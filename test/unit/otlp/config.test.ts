// `otlp` in the configuration, and OpenTelemetry's own variables, which count as a whole or not at all.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { loadConfig, type LoadedConfig, type LoadOptions } from '../../../agent/config/load.ts'
import { printable, printYaml } from '../../../agent/config/print.ts'
import { signalSettings } from '../../../agent/sinks/otlp/settings.ts'
import { ConfigError } from '../../../agent/config/problem.ts'

async function load(yaml: string, env: LoadOptions['env'] = {}): Promise<LoadedConfig> {
  const cwd = mkdtempSync(join(tmpdir(), 'warpwatch-otlp-'))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  writeFileSync(join(cwd, 'warpwatch.yaml'), yaml)
  writeFileSync(join(cwd, 'headers'), 'Authorization=Bearer%20from-file,X-Tenant=a\n', { mode: 0o600 })
  return loadConfig({ cwd, env })
}
async function problems(yaml: string, env: LoadOptions['env'] = {}): Promise<readonly string[]> {
  const error: unknown = await load(yaml, env).catch((caught: unknown) => caught)
  if (!(error instanceof ConfigError)) throw new Error('must be a ConfigError, not something else', { cause: error })
  return error.problems.map(({ where, text }) => `${where}: ${text}`)
}
const own = (signal: string) => ({
  [`${signal}_endpoint`]: '',
  [`${signal}_protocol`]: 'same',
  [`${signal}_headers`]: {},
  [`${signal}_compression`]: 'same',
  [`${signal}_timeout_ms`]: 0,
  [`${signal}_ca_file`]: '',
})
const UNSET = { ...own('metrics'), ...own('logs') }
const OTEL = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20secret,x=1' }

describe('what is set', () => {
  test('by default nothing is sent', async () => {
    const { config } = await load('')
    expect(config.otlp).toEqual({
      endpoint: '',
      protocol: 'http/protobuf',
      headers: {},
      compression: 'gzip',
      interval_ms: 60_000,
      timeout_ms: 10_000,
      ca_file: '',
      metrics: true,
      incidents: true,
      resource_attributes: {},
      ...UNSET,
    })
  })

  test('headers as a group, as text, from a file and from a variable; resource attributes alike', async () => {
    const otlp = async (yaml: string, env: LoadOptions['env'] = {}) => (await load(`otlp:\n  endpoint: http://c:4318\n${yaml}`, env)).config.otlp
    expect((await otlp('  headers: {Authorization: Bearer x, X-Tenant: 7}\n')).headers).toEqual({ Authorization: 'Bearer x', 'X-Tenant': '7' })
    expect((await otlp('  headers: Authorization=Bearer%20x\n')).headers).toEqual({ Authorization: 'Bearer x' })
    expect((await otlp('  headers: {file: headers}\n')).headers).toEqual({ Authorization: 'Bearer from-file', 'X-Tenant': 'a' })
    expect((await otlp('', { WARPWATCH_OTLP__HEADERS: '{Authorization: Bearer y}' })).headers).toEqual({ Authorization: 'Bearer y' })
    expect((await otlp('  resource_attributes:\n    deployment.environment.name: lab\n')).resource_attributes).toEqual({ 'deployment.environment.name': 'lab' })
  })

  test.each([
    [
      'endpoint: collector:4317',
      'warpwatch.yaml:2: otlp.endpoint: must be a URL such as http://collector:4318 (http/protobuf) or https://collector:4317 (grpc), not a value of another kind (hidden)',
    ],
    ['protocol: http/json', 'warpwatch.yaml:2: otlp.protocol: must be one of http/protobuf, grpc, not "http/json" (text)'],
    [
      'headers: {"bad name": x}',
      'warpwatch.yaml:2: otlp.headers: must be header names and their values, or NAME=VALUE,NAME=VALUE, not a value of another kind (hidden)',
    ],
    [
      'headers: just-a-token',
      'warpwatch.yaml:2: otlp.headers: must be header names and their values, or NAME=VALUE,NAME=VALUE, not a value of another kind (hidden)',
    ],
    ['interval_ms: 10', 'warpwatch.yaml:2: otlp.interval_ms: must be a whole number from 1000 to 3600000, not 10 (number)'],
    [
      'resource_attributes: {1x: y}',
      'warpwatch.yaml:2: otlp.resource_attributes: must be attribute names and their values, or NAME=VALUE,NAME=VALUE, not a group of keys',
    ],
    ['endpont: x', 'warpwatch.yaml:2: unknown key otlp.endpont; the nearest valid one is otlp.endpoint'],
  ])('%s is told with its place', async (line, expected) => {
    expect(await problems(`otlp:\n  ${line}\n`)).toEqual([expected])
  })

  test('is printed without its secrets, and as a file that can be read again', async () => {
    const loaded = await load(
      'otlp:\n  endpoint: https://user:pass@c:4318/otlp?key=k\n  headers: {Authorization: Bearer secret}\n  resource_attributes: {team: ml}\n',
    )
    expect(printable(loaded.config)).toMatchObject({
      otlp: { endpoint: 'https://(hidden)@c:4318/otlp?(hidden)', headers: { Authorization: '(hidden)' }, resource_attributes: { team: 'ml' } },
    })
    const yaml = printYaml(loaded.config, loaded.origins)
    expect(yaml).not.toMatch(/secret|pass|=k/)
    expect((await load(yaml)).config.otlp).toMatchObject({ resource_attributes: { team: 'ml' }, headers: { Authorization: '(hidden)' } })
  })
})

describe('the variables of OpenTelemetry', () => {
  test('say where to when nothing else does, and how', async () => {
    const { config, origins } = await load('', {
      ...OTEL,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_TIMEOUT: '2000',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'none',
      OTEL_EXPORTER_OTLP_CERTIFICATE: '/ca.pem',
      OTEL_METRIC_EXPORT_INTERVAL: '15000',
      OTEL_RESOURCE_ATTRIBUTES: 'team=ml,service.namespace=gpus',
    })
    expect(config.otlp).toEqual({
      endpoint: 'http://collector:4318',
      protocol: 'grpc',
      headers: { authorization: 'Bearer secret', x: '1' },
      compression: 'none',
      interval_ms: 15_000,
      timeout_ms: 2_000,
      ca_file: '/ca.pem',
      metrics: true,
      incidents: true,
      resource_attributes: { team: 'ml', 'service.namespace': 'gpus' },
      ...UNSET,
    })
    expect(origins.get('otlp.endpoint')).toBe('OTEL_EXPORTER_OTLP_ENDPOINT')
  })

  test('go behind each key that is set here', async () => {
    const { config } = await load('otlp:\n  headers: {x: "2"}\n', { ...OTEL, WARPWATCH_OTLP__PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' })
    expect(config.otlp).toMatchObject({ endpoint: 'http://collector:4318', protocol: 'grpc', headers: { x: '2' } })
  })

  test.each([
    ['another endpoint is set here: a token must not go there', 'otlp:\n  endpoint: http://own:4318\n', OTEL, 'http://own:4318'],
    ['it is switched off here', 'otlp:\n  endpoint: ""\n', OTEL, ''],
    ['they name no endpoint', '', { ...OTEL, OTEL_EXPORTER_OTLP_ENDPOINT: ' ', OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' }, ''],
    ['OpenTelemetry is switched off', '', { ...OTEL, OTEL_SDK_DISABLED: 'true' }, ''],
  ])('count for nothing where %s', async (_, yaml, env, endpoint) => {
    const { config } = await load(yaml, env)
    expect([config.otlp.endpoint, config.otlp.headers]).toEqual([endpoint, {}])
  })

  test('for one signal alone go before those of both', async () => {
    const { config } = await load('', {
      ...OTEL,
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'https://metrics.example/otlp/push?tenant=a',
      OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'authorization=Bearer%20own',
      OTEL_EXPORTER_OTLP_METRICS_TIMEOUT: '3000',
      OTEL_EXPORTER_OTLP_LOGS_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_LOGS_COMPRESSION: 'none',
      OTEL_EXPORTER_OTLP_LOGS_CERTIFICATE: '/logs.pem',
      OTEL_EXPORTER_OTLP_TIMEOUT: '9000',
    })
    expect(signalSettings(config.otlp, 'metrics')).toEqual({
      url: new URL('https://metrics.example/otlp/push?tenant=a'),
      protocol: 'http/protobuf',
      headers: { authorization: 'Bearer own' },
      compression: 'gzip',
      timeoutMs: 3_000,
      caFile: '',
      caKey: 'otlp.ca_file',
    })
    expect(signalSettings(config.otlp, 'logs')).toEqual({
      url: new URL('http://collector:4318/v1/logs'),
      protocol: 'grpc',
      headers: { authorization: 'Bearer secret', x: '1' },
      compression: 'none',
      timeoutMs: 9_000,
      caFile: '/logs.pem',
      caKey: 'otlp.logs_ca_file',
    })
  })

  test.each([
    // The common one gets the path of the signal, the own one is used as it is.
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://c:4318', 'http://c:4318/v1/metrics'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://c:4318/base/', 'http://c:4318/base/v1/metrics'],
    ['OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', 'http://c:4318', 'http://c:4318/'],
    ['OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', 'http://c:4318/v1/metrics', 'http://c:4318/v1/metrics'],
    ['OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', 'http://c:4318/a/', 'http://c:4318/a/'],
  ])('%s=%s sends metrics to %s', async (name, value, url) => {
    const { config } = await load('', { [name]: value })
    expect(signalSettings(config.otlp, 'metrics')?.url.href).toBe(url)
    expect(signalSettings(config.otlp, 'logs') === undefined).toBe(name.includes('METRICS'))
  })

  test('the name of the service goes before one among the attributes', async () => {
    const attributes = async (env: LoadOptions['env']) => (await load('', { ...OTEL, ...env })).config.otlp.resource_attributes
    expect(await attributes({ OTEL_SERVICE_NAME: 'gpu, lab=1', OTEL_RESOURCE_ATTRIBUTES: 'team=ml,service.name=other' })).toEqual({
      team: 'ml',
      'service.name': 'gpu, lab=1',
    })
    expect(await attributes({ OTEL_SERVICE_NAME: 'gpus' })).toEqual({ 'service.name': 'gpus' })
  })

  test.each(['endpoint', 'metrics_endpoint', 'logs_endpoint'])('do not count where otlp.%s is set here: a token must not go there', async (key) => {
    const { config } = await load(`otlp: {${key}: "http://own:4318"}\n`, { ...OTEL, OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'a=secret' })
    expect([config.otlp.headers, config.otlp.metrics_headers]).toEqual([{}, {}])
  })

  test('what is wrong in them is told with their name, without their value', async () => {
    expect(await problems('', { ...OTEL, OTEL_EXPORTER_OTLP_HEADERS: 'secret' })).toEqual([
      'OTEL_EXPORTER_OTLP_HEADERS: otlp.headers: must be header names and their values, or NAME=VALUE,NAME=VALUE, not a value of another kind (hidden)',
    ])
  })
})
