// docker-compose.monitoring.yml as docker-compose reads it, alone and beside an application: what it starts, with which rights, reached from where.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseDocument } from 'yaml'
import { VERSION } from '../../agent/lib/version.ts'
import { daemonSet } from '../../deploy/kubernetes/daemon-set.ts'
import { composeConfig, composeMissing, composeProject, MONITORING, mountsOf, root, type ComposeProject, type ComposeService } from '../setup/compose.ts'

const HOST = { WARPWATCH_HOST_NAME: 'gpu-01' }
const docs = readFileSync(join(root, 'docs/docker.md'), 'utf8')
const skipped = composeMissing === undefined ? '' : ` (${composeMissing})`

/** Folders of the machine that are mounted as they are. */
const OF_THE_HOST = ['/run/warpwatch', '/var/run/docker.sock', '/sys/fs/cgroup', '/proc']
const missingSources = ({ services }: ComposeProject): readonly string[] =>
  Object.values(services)
    .flatMap((service) => mountsOf(service).map(({ from }) => from))
    .filter((from) => from.startsWith('/') && !OF_THE_HOST.includes(from) && !existsSync(from))
const publishedBy = ({ services }: ComposeProject): readonly string[] => Object.values(services).flatMap(({ ports = [] }) => ports)

describe.skipIf(composeMissing !== undefined)(`the compose file alone${skipped}`, () => {
  const project = composeMissing === undefined ? composeProject([MONITORING], HOST) : undefined
  const services = Object.entries(project?.services ?? {})
  const kept = services.filter(([name]) => name !== 'warpwatch-token')
  const agent = project?.services['warpwatch']

  test('asks for the name of the host, and says how it is given', () => {
    const found = composeConfig([MONITORING], {})
    expect('problem' in found ? found.problem : 'valid').toMatch(/write the name of this host into .env, such as echo "WARPWATCH_HOST_NAME=/)
  })

  test('calls everything warpwatch-…, so that nothing is merged with a part of an application', () => {
    expect(services.length).toBeGreaterThan(5)
    const names = [...services.map(([name]) => name), ...Object.keys(project?.networks ?? {}), ...Object.keys(project?.volumes ?? {})]
    expect(names.filter((name) => !/^warpwatch(-|$)/.test(name))).toEqual([])
  })

  test('mounts only what is there', () => {
    expect(project === undefined ? [] : missingSources(project)).toEqual([])
  })

  test('runs this version of the agent, and one version of each of the others', () => {
    expect(agent?.image).toBe(`warpwatch:${VERSION}`)
    expect(services.filter(([, { image }]) => !/:v?\d+\.\d+\.\d+$/.test(image)).map(([, { image }]) => image)).toEqual([])
  })

  test('starts each again, within a memory limit, without a right that it does not need', () => {
    const those = (isSo: (service: ComposeService) => boolean): readonly string[] => services.filter(([, service]) => isSo(service)).map(([name]) => name)
    expect(those(({ restart }) => restart !== 'unless-stopped')).toEqual(['warpwatch-token'])
    expect(those(({ deploy }) => !/^\d+[mg]$/.test(deploy?.resources.limits?.memory ?? ''))).toEqual(['warpwatch-token'])
    expect(those(({ cap_drop: dropped }) => dropped?.join(' ') !== 'ALL')).toEqual([])
    expect(those(({ cap_add: added }) => added !== undefined)).toEqual(['warpwatch'])
    expect(those(({ security_opt: options }) => options?.includes('no-new-privileges:true') !== true)).toEqual([])
    expect(those((service) => 'privileged' in service)).toEqual([])
    // It moves its plug-ins about when it starts.
    expect(those(({ read_only: readOnly }) => readOnly !== true)).toEqual(['warpwatch-grafana'])
  })

  test('asks each whether it is well, but those that cannot be asked', () => {
    const silent = kept.filter(([, { healthcheck }]) => healthcheck === undefined).map(([name]) => name)
    // The agent's image brings its own, the collector's holds no program that could ask.
    expect(silent).toEqual(['warpwatch', 'warpwatch-collector'])
  })

  test('is reached on loopback alone, at ports that can be chosen', () => {
    const published = project === undefined ? [] : publishedBy(project)
    expect(published.length).toBeGreaterThan(4)
    expect(published.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([])
    const chosen = ['WARPWATCH', 'WARPWATCH_PROMETHEUS', 'WARPWATCH_ALERTMANAGER', 'WARPWATCH_GRAFANA', 'WARPWATCH_VICTORIAMETRICS'].map(
      (name, at) => [`${name}_PORT`, String(20_000 + at)] as const,
    )
    const moved = publishedBy(composeProject([MONITORING], { ...HOST, ...Object.fromEntries(chosen) }))
    expect(moved.map((port) => port.split(':')[1] ?? '').toSorted()).toEqual(chosen.map(([, port]) => port))
  })

  test('gives the agent what the DaemonSet gives it, and the kernel log', () => {
    const pod = daemonSet.spec?.template.spec
    const container = pod?.containers[0]
    expect(agent?.cap_add).toEqual([...(container?.securityContext?.capabilities?.add ?? []), 'SYSLOG'])
    expect([agent?.pid, agent?.read_only]).toEqual([pod?.hostPID === true ? 'host' : '', container?.securityContext?.readOnlyRootFilesystem])
    expect(agent?.security_opt).toEqual(['no-new-privileges:true', 'apparmor:unconfined', 'label:disable'])
    expect(agent?.devices).toEqual(['/dev/kmsg:/dev/kmsg:r'])
    const writable = mountsOf(agent).filter(({ readOnly }) => !readOnly)
    expect(writable.map(({ to }) => to)).toEqual(['/var/lib/warpwatch', '/run/warpwatch'])
    expect(agent?.deploy?.resources.reservations?.devices).toEqual([{ driver: 'nvidia', count: 'all', capabilities: ['gpu', 'utility'] }])
  })

  test('has the reason of each right and mount in the docs', () => {
    const said = [...(agent?.cap_add ?? []), ...mountsOf(agent).map(({ to }) => to.replace('/host/', '/')), '/dev/kmsg', 'pid: host']
    expect(said.length).toBeGreaterThan(9)
    expect(said.filter((word) => !docs.includes(`| \`${word}\``))).toEqual([])
  })

  test('can be started without a GPU: the override takes away what asks for one, and nothing else', () => {
    // Compose 2.24.4 understands !reset; Debian's 1.29 does not.
    const reset = { tag: '!reset', collection: 'map', identify: () => false } as const
    const override = parseDocument(readFileSync(join(root, 'deploy/compose/no-gpu.yml'), 'utf8'), { customTags: [reset] })
    expect(override.errors).toEqual([])
    expect(override.toJS()).toEqual({ services: { warpwatch: { deploy: { resources: { reservations: {} } } } } })
    expect(override.getIn(['services', 'warpwatch', 'deploy', 'resources', 'reservations'], true)).toMatchObject({ tag: '!reset' })
    expect(Object.keys(agent?.deploy?.resources.reservations ?? {})).toEqual(['devices'])
  })
})

describe.skipIf(composeMissing !== undefined)(`beside an application${skipped}`, () => {
  const folder = join(root, 'deploy/compose/example-app')
  const [own, added] = ['docker-compose.yml', 'warpwatch.yml']
  const variables = { ...HOST, WARPWATCH_DIR: '../../..' }
  const read = (...files: readonly string[]): ComposeProject | undefined =>
    composeMissing === undefined ? composeProject(files, variables, folder) : undefined
  const [alone, both] = [read(own), read(own, MONITORING, added)]
  const monitoring = composeMissing === undefined ? composeProject([MONITORING], HOST) : undefined

  test('adds its own services to the project, and changes none but for the probe', () => {
    expect(Object.keys(both?.services ?? {}).toSorted()).toEqual([alone, monitoring].flatMap((part) => Object.keys(part?.services ?? {})).toSorted())
    expect(both?.services['ui']).toEqual(alone?.services['ui'])
    const { volumes, environment, ...rest } = both?.services['trainer'] ?? {}
    const { volumes: before, ...restBefore } = alone?.services['trainer'] ?? {}
    expect(rest).toEqual(restBefore)
    expect(volumes?.filter((volume) => before?.includes(volume) !== true)).toEqual([
      `${root}/probe/python:/opt/warpwatch-probe:ro`,
      '/run/warpwatch:/run/warpwatch:rw',
    ])
    expect(environment).toEqual({ PYTHONPATH: '/opt/warpwatch-probe/sitecustomize' })
  })

  test('finds its files from the folder of the application', () => {
    expect(both === undefined ? [] : missingSources(both)).toEqual([])
  })

  test('is in the network of the application with the agent alone, and takes no port of it', () => {
    const inDefault = Object.entries(both?.services ?? {}).filter(
      ([, { networks, network_mode: mode }]) => mode === undefined && (networks === undefined || 'default' in networks),
    )
    expect(inDefault.map(([name]) => name).toSorted()).toEqual(['trainer', 'ui', 'warpwatch'])
    const ports = both === undefined ? [] : publishedBy(both).map((port) => port.split(':')[1])
    expect(new Set(ports).size).toBe(ports.length)
  })
})
