// The configuration of each part of the stack, read by the program that it is for, laid out as the compose file mounts it; and the example application's page.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import * as z from 'zod'
import { loadConfig } from '../../agent/config/load.ts'
import { composeMissing, composeProject, MONITORING, mountsOf, root } from '../setup/compose.ts'
import { programPath } from '../setup/engine-client.ts'
import { poll } from '../setup/poll.ts'
import { webServer } from '../setup/web-server.ts'

const COMPOSE = join(root, 'deploy/compose')
const SHARED = '/run/warpwatch-token'
const NAMED = { WARPWATCH_HOST_NAME: 'gpu-01', WARPWATCH_LINK_HOST: 'gpu-01.example.com', WARPWATCH_PORT: '9840' }
const skipped = composeMissing === undefined ? '' : ` (${composeMissing})`
const readYaml = (path: string): unknown => parse(readFileSync(path, 'utf8'))

describe.skipIf(composeMissing !== undefined)(`configurations${skipped}`, () => {
  const { services } = composeMissing === undefined ? composeProject([MONITORING], NAMED) : { services: {} }
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-compose-'))
  const shared = join(folder, 'shared')
  beforeAll(() => {
    // The volume as the service that fills it leaves it.
    mkdirSync(shared)
    const { entrypoint, environment } = services['warpwatch-token'] ?? {}
    const [script = ''] = entrypoint?.slice(-1) ?? []
    const env = { ...environment, TOKEN: 'f00d', PATH: process.env['PATH'] }
    execFileSync('sh', ['-ceu', script.replaceAll('$$', '$').replace('/token', shared)], { env })
    // What the compose file mounts into a folder of /etc is there under the same name.
    for (const [name, service] of Object.entries(services))
      for (const { from, to } of mountsOf(service).filter((mount) => mount.to.startsWith('/etc/'))) {
        const place = join(folder, name, to)
        mkdirSync(dirname(place), { recursive: true })
        // The volume is another folder here.
        if (/\.ya?ml$/.test(from)) writeFileSync(place, readFileSync(from, 'utf8').replaceAll(SHARED, shared))
        else symlinkSync(from, place)
      }
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  const at = (service: string, flag: RegExp): string => {
    const path = services[service]?.command?.map((part) => flag.exec(part)?.[1]).find((found) => found !== undefined)
    if (path === undefined) throw new Error(`expected ${String(flag)} among the flags of ${service}, came ${String(services[service]?.command)}`)
    return join(folder, service, path)
  }
  const ask = (program: string, args: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' })
    return { status, text: stdout + stderr }
  }
  /** A service of this file at the port that it serves. */
  const serves = (url: string): boolean => {
    const { hostname, port } = new URL(url)
    return services[hostname]?.ports?.some((published) => published.split('/')[0]?.endsWith(`:${port}`)) === true
  }

  test('the agent: file and variables', async () => {
    const { environment } = services['warpwatch'] ?? {}
    const env = Object.fromEntries(Object.entries(environment ?? {}).map(([name, value]) => [name, value ?? undefined]))
    const { config, warnings } = await loadConfig({ file: join(folder, 'warpwatch/etc/warpwatch/warpwatch.yaml'), env, cwd: folder })
    expect(warnings).toEqual([])
    expect(config).toMatchObject({ host_name: 'gpu-01', http: { token: 'f00d', insecure: false }, simulate: { scenario: 'off' }, otlp: { endpoint: '' } })
    const targets = mountsOf(services['warpwatch']).map(({ to }) => to)
    expect(targets).toContain(config.host.proc_root)
    expect(targets).toContain(config.containers.cgroup_root)
    expect(services['warpwatch']?.ports?.map((port) => port.split(':').at(-1))).toEqual([`${config.http.listen.split(':')[1]}/tcp`])
  })

  test.skipIf(!existsSync('/usr/bin/promtool'))('Prometheus, with rules and targets (needs prometheus)', () => {
    const { status, text } = ask('/usr/bin/promtool', ['check', 'config', at('warpwatch-prometheus', /^--config\.file=(.*)/)])
    expect(text).toMatch(/SUCCESS: \d\d+ rules found/)
    expect(text).not.toMatch(/FAILED|level=warn/)
    expect(status).toBe(0)
  })

  test.skipIf(!existsSync('/usr/bin/amtool'))('Alertmanager (needs prometheus-alertmanager)', () => {
    expect(ask('/usr/bin/amtool', ['check-config', at('warpwatch-alertmanager', /^--config\.file=(.*)/)])).toMatchObject({ status: 0 })
  })

  test('Alertmanager tells nobody, and is otherwise the example', () => {
    const named = z.looseObject({ receivers: z.array(z.looseObject({ name: z.string() })) })
    const { receivers, ...rest } = named.parse(readYaml(join(COMPOSE, 'alertmanager.yml')))
    const { receivers: examples, ...example } = named.parse(readYaml(join(root, 'alerts/prometheus/alertmanager.example.yml')))
    expect(rest).toEqual(example)
    expect(receivers).toEqual(examples.map(({ name }) => ({ name })))
  })

  test.skipIf(!existsSync('/usr/bin/victoria-metrics'))('VictoriaMetrics and its rules (needs victoria-metrics)', () => {
    const file = at('warpwatch-victoriametrics', /^-promscrape\.config=(.*)/)
    expect(ask('/usr/bin/victoria-metrics', ['-dryRun', `-promscrape.config=${file}`])).toMatchObject({ status: 0 })
    writeFileSync(`${file}.wrong`, `${readFileSync(file, 'utf8')}\nrule_files: []\n`)
    expect(ask('/usr/bin/victoria-metrics', ['-dryRun', `-promscrape.config=${file}.wrong`]).status, 'a key of Prometheus alone').not.toBe(0)
    expect(ask('/usr/bin/vmalert', ['-dryRun', `-rule=${at('warpwatch-vmalert', /^-rule=(.*)/)}`])).toMatchObject({ status: 0 })
  })

  test("this host's agent is scraped under the name that links lead to", () => {
    const groups = z.array(z.strictObject({ targets: z.array(z.string()), labels: z.strictObject({ instance: z.string() }) }))
    const found = groups.parse(JSON.parse(readFileSync(join(shared, 'agent.json'), 'utf8')))
    expect(found).toEqual([{ targets: ['warpwatch:9839'], labels: { instance: 'gpu-01.example.com:9840' } }])
    expect(serves(`http://${found[0]?.targets[0]}`)).toBe(true)
    expect(services['warpwatch']?.environment?.['WARPWATCH_ALERTS__BASE_URL']).toBe('http://gpu-01.example.com:9840')
    expect(readFileSync(join(COMPOSE, 'prometheus.yml'), 'utf8')).toContain(`${SHARED}/agent.json`)
    const usual = composeProject([MONITORING], { WARPWATCH_HOST_NAME: 'gpu-01' }).services
    expect(usual['warpwatch-token']?.environment).toMatchObject({ ADDRESS: '127.0.0.1:9839' })
  })

  test('VictoriaMetrics scrapes what Prometheus scrapes', () => {
    const jobs = z.looseObject({ scrape_configs: z.array(z.looseObject({ job_name: z.string() })) })
    const own = (name: string) => jobs.parse(readYaml(join(COMPOSE, name))).scrape_configs.filter(({ job_name: job }) => job === 'warpwatch')
    expect(own('victoriametrics.yml')).toEqual(own('prometheus.yml'))
    expect(own('prometheus.yml')).toHaveLength(1)
  })

  test('whoever is named is a service of the file, at the port that it serves', () => {
    const reported = ['prometheus.yml', 'victoriametrics.yml'].flatMap(
      (name) => readFileSync(join(COMPOSE, name), 'utf8').match(/\bwarpwatch[\w-]*:\d+/g) ?? [],
    )
    const flags = Object.values(services).flatMap(({ command = [] }) => command.flatMap((part) => /=http:\/\/(warpwatch[\w-]*:\d+)/.exec(part)?.[1] ?? []))
    expect(reported.length + flags.length).toBeGreaterThan(5)
    expect([...reported, ...flags].filter((address) => !serves(`http://${address}`))).toEqual([])
  })

  test("Grafana's data sources and dashboards", () => {
    const mounts = mountsOf(services['warpwatch-grafana'])
    const provisioning = mounts.find(({ to }) => to === '/etc/grafana/provisioning')?.from ?? ''
    const files = (kind: string): unknown[] => readdirSync(join(provisioning, kind)).map((name) => readYaml(join(provisioning, kind, name)))
    const source = z.looseObject({ name: z.string(), uid: z.string(), type: z.literal('prometheus'), access: z.literal('proxy'), url: z.url() })
    const sources = files('datasources').flatMap((file) => z.strictObject({ apiVersion: z.literal(1), datasources: z.array(source) }).parse(file).datasources)
    expect(sources.length).toBeGreaterThan(0)
    expect(sources.filter(({ url }) => !serves(url))).toEqual([])
    const provider = z.looseObject({ name: z.string(), type: z.literal('file'), options: z.looseObject({ path: z.string() }) })
    const providers = files('dashboards').flatMap((file) => z.strictObject({ apiVersion: z.literal(1), providers: z.array(provider) }).parse(file).providers)
    expect(providers.map(({ options }) => options.path)).toEqual(mounts.filter(({ from }) => from.endsWith('/grafana/dashboards')).map(({ to }) => to))
  })

  test('the collector: pipelines of parts that there are, at the ports that the agent is told of', () => {
    const parts = z.record(z.string(), z.unknown())
    const pipeline = z.strictObject({ receivers: z.array(z.string()), processors: z.array(z.string()), exporters: z.array(z.string()) })
    const schema = z.strictObject({
      receivers: z.strictObject({ otlp: z.strictObject({ protocols: z.record(z.string(), z.strictObject({ endpoint: z.string() })) }) }),
      processors: parts,
      exporters: parts,
      service: z.strictObject({ pipelines: z.record(z.string(), pipeline) }),
    })
    const { service, ...defined } = schema.parse(readYaml(join(COMPOSE, 'otel-collector.yml')))
    expect(Object.keys(service.pipelines)).toEqual(['metrics', 'logs'])
    for (const kind of ['receivers', 'processors', 'exporters'] as const)
      for (const one of Object.values(service.pipelines)) expect(one[kind].filter((name) => !(name in defined[kind]))).toEqual([])
    expect(defined.receivers.otlp.protocols).toEqual({ http: { endpoint: '0.0.0.0:4318' }, grpc: { endpoint: '0.0.0.0:4317' } })
    expect(readFileSync(MONITORING, 'utf8')).toContain('http://warpwatch-collector:4318')
  })
})

const python = programPath('python3')
describe.skipIf(python === undefined)('the example application (needs python3)', () => {
  test('its page is well while the trainer answers', async () => {
    const trainer = await webServer((_, answer) => answer.end('{"step": 7, "loss": 0.5}'))
    const child = spawn(python ?? '', [join(COMPOSE, 'example-app/ui.py')], { env: { TRAINER: trainer.url, PORT: '0' }, stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      const [first] = await once(child.stdout, 'data')
      const health = new URL('/health', String(first).trim())
      const reported = await fetch(health)
      expect([reported.status, await reported.text()]).toEqual([200, 'step 7, loss 0.5\n'])
      await trainer.close()
      await poll(async () => (await fetch(health)).status === 503, { what: 'the page to say that the trainer is gone' })
    } finally {
      child.kill('SIGKILL')
      await trainer.close()
    }
  })
})
