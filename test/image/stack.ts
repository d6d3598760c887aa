// The compose file started for real, in an engine of the test's own: every option as it is written, but where this machine lacks something.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../setup/free-port.ts'
import { fakeLibrary } from '../fakes/nvml/build.ts'
import { writeScenario, type FakeScenario } from '../fakes/nvml/scenario.ts'
import { composeProject, MONITORING, root, type ComposeProject, type ComposeService } from '../setup/compose.ts'
import { programPath } from '../setup/engine-client.ts'
import type { TestDocker } from '../setup/docker.ts'
import type { Docker } from './stand-ins.ts'

export const HOST = { WARPWATCH_HOST_NAME: 'gpu-01' }
const PROJECT = 'warpwatch-image-test'
export const PARTS = ['WARPWATCH', 'WARPWATCH_PROMETHEUS', 'WARPWATCH_ALERTMANAGER', 'WARPWATCH_GRAFANA', 'WARPWATCH_VICTORIAMETRICS'] as const
export type Part = (typeof PARTS)[number]

/** The command-line client against the test's engine, with the older builder, which needs nothing beside the engine. */
export function dockerOf(engine: TestDocker): Docker {
  const env = { ...process.env, DOCKER_HOST: `unix://${engine.socketPath}`, DOCKER_BUILDKIT: '0' }
  return (args, input) =>
    execFileSync(programPath('docker') ?? 'docker', args, {
      cwd: root,
      env,
      encoding: 'utf8',
      input,
      stdio: ['pipe', 'pipe', 'pipe'],
      maxBuffer: 64 * 2 ** 20,
    }).trim()
}

export type Stack = {
  readonly project: ComposeProject
  /** Of the agent's container. */
  readonly name: string
  readonly url: (part: Part) => string
  readonly compose: (...args: readonly string[]) => string
  readonly gpus: (scenario: FakeScenario) => void
  /** Ends it, with its data. */
  readonly remove: () => void
}

/** What the machine lacks: an NVIDIA runtime (a fake NVML in its place), images without a stand-in; and what is not the test's: the host's folders. */
function adapted(service: ComposeService, name: string, folder: string, socketPath: string): ComposeService {
  const { build: _build, profiles: _profiles, ...rest } = service
  if (name !== 'warpwatch') return rest
  const { reservations: _none, ...resources } = service.deploy?.resources ?? {}
  const own: Readonly<Record<string, string>> = { '/run/warpwatch': `${folder}/probe`, '/var/run/docker.sock': socketPath }
  const volumes = service.volumes?.map((volume) => {
    const [from = '', ...to] = volume.split(':')
    return [own[from] ?? from, ...to].join(':')
  })
  return {
    ...rest,
    deploy: { resources },
    volumes: [...(volumes ?? []), `${folder}/nvml:/nvml:ro`],
    environment: { ...service.environment, WARPWATCH_GPU__LIBRARY: '/nvml/libnvidia-ml.so.1', FAKE_NVML_SCENARIO: '/nvml/scenario' },
  }
}

export async function prepareStack(engine: TestDocker, scenario: FakeScenario, isThere: (image: string) => boolean): Promise<Stack> {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-stack-'))
  mkdirSync(join(folder, 'nvml'))
  cpSync(fakeLibrary() ?? '', join(folder, 'nvml/libnvidia-ml.so.1'))
  const gpus = (next: FakeScenario): void => writeScenario(join(folder, 'nvml/scenario'), next)
  gpus(scenario)
  const ports = new Map<Part, number>()
  for (const part of PARTS) ports.set(part, await freePort())
  const variables = Object.fromEntries([...ports].map(([part, port]) => [`${part}_PORT`, String(port)]))
  const whole = composeProject([MONITORING], { ...HOST, ...variables })
  const services = Object.entries(whole.services).filter(([, { image }]) => isThere(image))
  const project = { ...whole, services: Object.fromEntries(services.map(([name, service]) => [name, adapted(service, name, folder, engine.socketPath)])) }
  const file = join(folder, 'docker-compose.yml')
  // JSON is YAML, and leaves no word to be taken for a switch.
  writeFileSync(file, JSON.stringify(project))
  const compose = (...args: readonly string[]): string =>
    execFileSync('/usr/bin/docker-compose', ['-p', PROJECT, '-f', file, ...args], {
      env: { ...process.env, DOCKER_HOST: `unix://${engine.socketPath}` },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  return {
    project,
    name: `${PROJECT}_warpwatch_1`,
    url: (part) => `http://127.0.0.1:${ports.get(part)}`,
    compose,
    gpus,
    remove() {
      try {
        compose('down', '-v', '--timeout', '2')
      } finally {
        rmSync(folder, { recursive: true })
      }
    },
  }
}
