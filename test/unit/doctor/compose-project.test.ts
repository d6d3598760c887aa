// Several compose files as one project: as Debian's docker-compose reads them, and by the documented rules that are newer than it.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Surroundings } from '../../../agent/doctor/definition.ts'
import { readComposeFile } from '../../../agent/doctor/compose/file.ts'
import { at, entriesOf, itemsOf, textsOf, type Part } from '../../../agent/doctor/compose/part.ts'
import { portsOf } from '../../../agent/doctor/compose/ports.ts'
import { composeProject, type ComposeProject } from '../../../agent/doctor/compose/project.ts'
import { fill } from '../../../agent/doctor/compose/variables.ts'
import { createHostFiles } from '../../../agent/doctor/parts/host-files.ts'
import { parse } from 'yaml'
import * as z from 'zod'
import { composeMissing, MONITORING, root as repository } from '../../setup/compose.ts'
import { dedent } from './compose-text.ts'
import { buildScene, type BuiltScene } from './scene.ts'

const folder = mkdtempSync(join(tmpdir(), 'warpwatch-compose-'))
let scene: BuiltScene
beforeAll(async () => void (scene = await buildScene({})))
afterAll(() => {
  scene.remove()
  rmSync(folder, { recursive: true, force: true })
})

let count = 0
/** Writes them into a folder of their own; the paths of those that end .yml at its top, in their order. */
function files(texts: Readonly<Record<string, string>>): readonly string[] {
  const own = join(folder, String(count++))
  for (const [name, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(own, name)), { recursive: true })
    writeFileSync(join(own, name), dedent(text))
  }
  return Object.keys(texts)
    .filter((name) => /^[^/]+\.yml$/.test(name))
    .map((name) => join(own, name))
}
async function read(paths: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<ComposeProject> {
  const host = createHostFiles()
  const given = await Promise.all(paths.map(async (path) => await readComposeFile(path, host)))
  const around: Surroundings = { ...scene.around, files: host, env, composeFiles: async () => await Promise.resolve(given) }
  const project = await composeProject(around)
  if (project === undefined) throw new Error('expected a project')
  return project
}
const plain = (part: Part | undefined): unknown =>
  part === undefined
    ? undefined
    : part.kind === 'map'
      ? Object.fromEntries([...part.entries].map(([key, own]) => [key, plain(own)]))
      : part.kind === 'list'
        ? part.items.map(plain)
        : part.value

type Seen = Readonly<Record<string, unknown>>
const listed = (value: unknown): readonly unknown[] => (value === undefined ? [] : Array.isArray(value) ? value : [value])
const sorted = (texts: readonly string[]): readonly string[] => texts.toSorted((a, b) => (a < b ? -1 : 1))

/** What both ways of reading tell of a service, in one form. */
function ours(project: ComposeProject): Seen {
  return Object.fromEntries(
    project.services.map(({ name, image, env, part, command }) => [
      name,
      {
        image,
        environment: Object.fromEntries([...env].map(([key, { value }]) => [key, value ?? null])),
        ports: sorted(portsOf(part).map((port) => ('wrong' in port ? port.wrong : `${port.ip ?? ''}:${String(port.published?.[0])}:${port.target[0]}`))),
        command: at(part, 'entrypoint') === undefined ? command : '',
        tmpfs: sorted(textsOf(at(part, 'tmpfs'))),
        volumes: sorted(itemsOf(at(part, 'volumes')).map((item) => String(plain(item)).split(':')[1] ?? '')),
        shm: plain(at(part, 'shm_size')),
        deploy: plain(at(part, 'deploy')),
        restart: plain(at(part, 'restart')),
      },
    ]),
  )
}
function theirs(services: Readonly<Record<string, Seen>>): Seen {
  const port = (value: unknown): string => {
    if (typeof value === 'object' && value !== null && 'target' in value && 'published' in value) return `:${String(value.published)}:${String(value.target)}`
    const parts = String(value).replace('/tcp', '').split(':')
    return parts.length === 3 ? parts.join(':') : `:${parts.join(':')}`
  }
  return Object.fromEntries(
    Object.entries(services).map(([name, service]) => [
      name,
      {
        image: service['image'],
        environment: service['environment'] ?? {},
        ports: sorted(listed(service['ports']).map(port)),
        command: service['entrypoint'] === undefined ? listed(service['command']).join(' ').replaceAll('$$', '$') : '',
        tmpfs: sorted(listed(service['tmpfs']).map(String)),
        volumes: sorted(listed(service['volumes']).map((volume) => String(volume).split(':')[1] ?? '')),
        shm: service['shm_size'],
        deploy: service['deploy'],
        restart: service['restart'],
      },
    ]),
  )
}

const configSchema = z.object({ services: z.record(z.string(), z.record(z.string(), z.unknown())) })
/** Throws where it finds them invalid. */
function dockerCompose(paths: readonly string[], env: Readonly<Record<string, string>>): Seen {
  const flags = paths.flatMap((path) => ['-f', path])
  const options = { cwd: dirname(paths[0] ?? folder), env: { PATH: process.env['PATH'], HOME: '/nonexistent', ...env }, encoding: 'utf8' } as const
  return theirs(configSchema.parse(parse(execFileSync('docker-compose', [...flags, 'config'], options))).services)
}

/** An override, extends over two files, env files, anchors and merge keys (of which a service's own keys win), all forms of variables. */
const TEXTS = {
  'a.yml': `
    x-base: &base
      image: base:\${TAG:-1}
      environment: {A: "1", B: "\${B}"}
    x-other: &other {image: other, restart: always, shm_size: 2g, environment: {O: o}}
    services:
      one:
        <<: *base
        ports: ["8000:80", "127.0.0.1:\${PORT:-9000}:90"]
        command: [python, -u, a.py, --x, $$HOME]
        shm_size: 1g
        volumes: ["/a:/data", "/c:/cache"]
        deploy: {resources: {limits: {memory: 1g}, reservations: {devices: [{driver: nvidia, count: 1, capabilities: [gpu]}]}}}
      two:
        extends: {service: base, file: sub/base.yml}
        environment: [X=2, SHELLED]
        ports: ["80:80"]
      three: {<<: [*base, *other]}
      four: {<<: *other, image: own, environment: {<<: {C: c}, D: d}}
      five:
        image: '\${IMAGE-a}:\${B:-2}'
        command: '$$PATH \${EMPTY:-default} \${EMPTY-kept}end \${SET:?needed} $SET'
        environment: {N: "\${NUMBER:-5}", URL: "http://\${HOST:-localhost}:80/", LIST: "a,b"}
        restart: \${POLICY:-unless-stopped}
  `,
  'b.yml': `
    services:
      one:
        environment: [B=over, C=3]
        ports: ["8001:81", "8000:80"]
        command: [other]
        volumes: ["/b:/data"]
        deploy: {resources: {limits: {memory: 2g}}}
        tmpfs: [/run]
      six: {image: six, restart: "no"}
  `,
  'sub/base.yml': `
    services:
      base:
        extends: {service: root}
        env_file: base.env
        environment: {X: "1", Y: "\${UNSET-y}"}
        ports: ["81:81"]
      root: {image: root, environment: {R: r}, tmpfs: /tmp}
  `,
  'sub/base.env': 'FROM_FILE=f\nX=file\n',
  '.env': 'B=dotenv\nSHELLED=dot\nEMPTY=\nSET="in quotes"\nTAG=from-dotenv # a remark\n',
}

/** It is Python and reads slowly on a machine that is busy. */
const PATIENCE_MS = 180_000

describe.skipIf(composeMissing !== undefined)(`as docker-compose reads them${composeMissing === undefined ? '' : ` (${composeMissing})`}`, () => {
  test(
    'merged, extended, with anchors and variables',
    async () => {
      const [paths, env] = [files(TEXTS), { SHELLED: 'shell', HOST: 'shell' }]
      const project = await read(paths, env)
      expect(project.problems).toEqual([])
      expect(ours(project)).toEqual(dockerCompose(paths, env))
    },
    PATIENCE_MS,
  )
  test(
    "this repository's own, with the example beside it",
    async () => {
      const app = join(repository, 'deploy/compose/example-app')
      const paths = [join(app, 'docker-compose.yml'), MONITORING, join(app, 'warpwatch.yml')]
      const env = { WARPWATCH_HOST_NAME: 'gpu-1', WARPWATCH_DIR: '../../..', WARPWATCH_PORT: '1839' }
      const expected = dockerCompose(paths, env)
      // It leaves out services of a profile that was not asked for; they are read here all the same.
      const found = ours(await read(paths, env))
      expect(Object.fromEntries(Object.keys(expected).map((name) => [name, found[name]]))).toEqual(expected)
    },
    PATIENCE_MS,
  )
})

describe('newer than docker-compose 1', () => {
  const services = async (texts: Readonly<Record<string, string>>): Promise<unknown> => {
    const { services: found, problems } = await read(files(texts))
    expect(problems).toEqual([])
    return Object.fromEntries(found.map(({ name, part }) => [name, plain(part)]))
  }
  test('!reset takes out, !override exchanges', async () => {
    const base =
      'services: {a: {image: x, ports: ["80:80"], deploy: {resources: {reservations: {devices: [{capabilities: [gpu]}]}, limits: {memory: 1g}}}}, b: {image: b}}'
    const over = 'services: {a: {ports: !override ["81:81"], deploy: {resources: {reservations: !reset {}}}}, b: !reset null}'
    expect(await services({ 'a.yml': base, 'b.yml': over })).toEqual({
      a: { image: 'x', ports: ['81:81'], deploy: { resources: { limits: { memory: '1g' } } } },
    })
  })
  test("a second file's reservations stand beside those of the first", async () => {
    const ask = (id: string): string =>
      `services: {a: {image: x, deploy: {resources: {reservations: {devices: [{device_ids: ["${id}"], capabilities: [gpu]}]}}}}}`
    const { services: found } = await read(files({ 'a.yml': ask('0'), 'b.yml': ask('1') }))
    expect(itemsOf(at(found[0]?.part, 'deploy', 'resources', 'reservations', 'devices')).map((item) => textsOf(at(item, 'device_ids')))).toEqual([['0'], ['1']])
    // Where each is written is known still.
    expect(itemsOf(at(found[0]?.part, 'deploy', 'resources', 'reservations', 'devices')).map(({ file }) => file.at(-5))).toEqual(['a', 'b'])
  })
  test('include brings services, with the .env of their folder', async () => {
    const texts = {
      'a.yml': "include: [{path: [sub/c.yml, sub/d.yml]}]\nservices: {a: {image: 'a:${TAG:-own}'}}",
      'sub/c.yml': "services: {c: {image: 'c:${TAG}', env_file: c.env}}",
      'sub/d.yml': 'services: {c: {restart: always}}',
      'sub/.env': 'TAG=theirs\n',
      'sub/c.env': 'A=1\n',
    }
    const { services: found, problems } = await read(files(texts))
    expect(problems).toEqual([])
    expect(found.map(({ name, image, env }) => [name, image, env.get('A')?.value])).toEqual([
      ['c', 'c:theirs', '1'],
      ['a', 'a:own', undefined],
    ])
    expect([...entriesOf(found[0]?.part).keys()]).toContain('restart')
  })
})

test.each([
  ['${A:-${B:-deep}}', {}, 'deep'],
  ['${A:+there}${B:+gone}', { A: '1' }, 'there'],
  ['${A+there}', { A: '' }, 'there'],
  ['$A$$A${A}', { A: 'x' }, 'x$Ax'],
  ['${A-}b', {}, 'b'],
])('variables: %s', (text, variables, expected) => expect(fill(text, variables)).toEqual({ text: expected, unset: [], required: [] }))
test.each(['$', 'a$ b', '${', '${A', '${A:-${B}', '${1}', '${A!b}'])('no variable: %s', (text) => expect(fill(text, {}).invalid).toBeDefined())
