// The checks of compose files together: on this repository's own files, with secrets everywhere, on any text at all; and who reads of them.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from '../../setup/fast-check.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import * as registry from '../../../agent/doctor/checks/index.ts'
import type { CheckDefinition, Surroundings } from '../../../agent/doctor/definition.ts'
import { parseComposeFile, readComposeFile } from '../../../agent/doctor/compose/file.ts'
import { createHostFiles } from '../../../agent/doctor/parts/host-files.ts'
import { runChecks } from '../../../agent/doctor/runner.ts'
import { createDoctor } from '../../../agent/doctor/service.ts'
import type { DoctorReport } from '../../../agent/model/doctor.ts'
import { doctorReport } from '../../../agent/http/api/doctor-schemas.ts'
import { MONITORING, root } from '../../setup/compose.ts'
import { runCli } from '../cli/run-cli.ts'
import { dedent, written } from './compose-text.ts'
import { buildScene, gpuFacts, nvmlFacts, type BuiltScene, type Scene } from './scene.ts'

const checks = Object.values<CheckDefinition>(registry).filter(({ group }) => group === 'compose')
const folder = mkdtempSync(join(tmpdir(), 'warpwatch-compose-'))
let empty: BuiltScene
beforeAll(async () => void (empty = await buildScene({})))
afterAll(() => {
  empty.remove()
  rmSync(folder, { recursive: true, force: true })
})

const report = async (around: Surroundings): Promise<DoctorReport> => await runChecks({ checks, around, host: 'gpu-1' })
async function look(scene: Scene): Promise<DoctorReport> {
  const built = await buildScene(scene)
  try {
    return await report(built.around)
  } finally {
    built.remove()
  }
}
const complaints = ({ checks: all }: DoctorReport): readonly string[] =>
  all.flatMap(({ id, findings }) =>
    findings.filter(({ status }) => status === 'fail' || status === 'warn').map(({ status, summary }) => `${status} ${id}: ${summary.slice(0, 60)}`),
  )

describe("this repository's own files are well", () => {
  const nvml = nvmlFacts({ gpus: [gpuFacts({ index: 0 }), gpuFacts({ index: 1 })] })
  const own = async (paths: readonly string[], env: Readonly<Record<string, string>>): Promise<readonly string[]> => {
    const files = createHostFiles()
    const given = await Promise.all(paths.map(async (path) => await readComposeFile(path, files)))
    return complaints(
      await report({ ...empty.around, files, env, nvml: async () => await Promise.resolve(nvml), composeFiles: async () => await Promise.resolve(given) }),
    )
  }
  const app = join(root, 'deploy/compose/example-app')
  const env = { WARPWATCH_HOST_NAME: 'gpu-1' }
  test.each<readonly [string, readonly string[], Readonly<Record<string, string>>, readonly string[]]>([
    ['the stack', [MONITORING], env, []],
    // True: Compose refuses it without one.
    ['the stack before .env was written', [MONITORING], {}, ['warn compose-file: WARPWATCH_HOST_NAME is set neither in this environment nor i']],
    ['without a GPU', [MONITORING, join(root, 'deploy/compose/no-gpu.yml')], env, []],
    ['the example', [join(app, 'docker-compose.yml')], {}, []],
    ['the example with the stack', [join(app, 'docker-compose.yml'), MONITORING, join(app, 'warpwatch.yml')], { ...env, WARPWATCH_DIR: '../../..' }, []],
  ])('%s', async (_, paths, variables, expected) => expect(await own(paths, variables)).toEqual(expected))
})

test('no value of a secret is told, wherever it stands', async () => {
  const secret = 'Zq7pT0kEnZq7pT0kEn'
  const scene = written(
    `
    services:
      a:
        image: x
        env_file: a.env
        environment: {DB_PASSWORD: ${secret}, URL: 'redis://:${secret}@r/0', API_KEY: '\${KEY:-${secret}}', FROM_DOTENV: '\${SECRET}'}
        command: [--api-key, ${secret}, '--token=${secret}']
        build: {context: ., args: {GIT_TOKEN: ${secret}}}
        shm_size: '\${SECRET}'
        restart: '\${SECRET}'
        mem_limit: '\${SECRET}'
        PASSWORD=${secret}: 1
    `,
    { files: { '/srv/.env': `SECRET=${secret}\n`, '/srv/a.env': `HF_TOKEN=${secret}\n` } },
  )
  const found = await look(scene)
  expect(complaints(found).filter((one) => one.includes('compose-secrets'))).toHaveLength(5)
  expect(JSON.stringify(found)).not.toContain(secret)
})

/** On a machine that is busy. */
const PATIENCE_MS = 120_000

describe('any text', () => {
  const KEYS = `services include version x-a a b << image build environment env_file ports shm_size ipc deploy resources devices reservations limits memory
    mem_limit capabilities count device_ids driver gpus runtime restart extends service file command path args tmpfs volumes target published network_mode
    context dockerfile_inline CUDA_VISIBLE_DEVICES PYTORCH_ALLOC_CONF HF_TOKEN`.split(/\s+/)
  const VALUES = 'all gpu 0 8000:80 [::1]:1:2/udp 1g ${A} ${A:-x} ${ $$ nvidia vllm/vllm-openai a b /dev/nvidia0 host'.split(' ')
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      fc.oneof(fc.constantFrom(...VALUES), fc.integer({ min: -2, max: 70_000 }), fc.boolean(), fc.constant(null), fc.double(), fc.string()),
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom(...KEYS), tie('tree'), { maxKeys: 6 }),
    ),
  }))
  const service = fc.dictionary(fc.constantFrom(...KEYS), tree, { maxKeys: 10 })
  const text = fc.oneof(
    fc.record({ services: fc.dictionary(fc.constantFrom('a', 'b', 'c'), service) }).map((value) => stringify(value)),
    tree.map((value) => stringify(value)),
    fc.string({ maxLength: 300 }),
    fc
      .array(fc.constantFrom('a:', ' ', '\n', '- ', '&a', '*a', '<<: ', '!reset ', '[', '{', '"', '|', '${A}', 'services:', '\t', '#', '---\n'))
      .map((parts) => parts.join('')),
  )

  test(
    'no check throws, and each finding is of use',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 3 }), async (texts) => {
          const given = texts.map((one, index) => parseComposeFile(`/srv/${index}.yml`, one))
          const around: Surroundings = { ...empty.around, composeFiles: async () => await Promise.resolve(given) }
          const found = (await Promise.all(checks.map(async (check) => await check.run(around)))).flat()
          const useless = found.filter(
            ({ status, summary, remedies = [] }) => !/^.+$/.test(summary) || ((status === 'fail' || status === 'warn') && remedies.length === 0),
          )
          expect(useless).toEqual([])
        }),
        // A key without a value under one with an empty map.
        { numRuns: 150, examples: [[['services:\n  c:\n    environment:\n', 'services:\n  c:\n    environment: {}\n']]] },
      )
    },
    PATIENCE_MS,
  )
})

describe('who reads of them', () => {
  const env = { WARPWATCH_CONTAINERS__ENGINES: '[]', WARPWATCH_DATA_DIR: folder }
  test(
    'who names files: 1 where one is wrong, with file, line, service and what to write',
    async () => {
      writeFileSync(join(folder, 'bad.yml'), dedent('services:\n  train:\n    image: pytorch/pytorch\n    gpus: 1\n    shm_size: 8gb\n'))
      const { code, stdout } = await runCli(['doctor', '--only', 'compose', '--compose', 'bad.yml'], { cwd: folder, env })
      expect(stdout).toMatch(
        /^FAIL {2}bad\.yml:4 train: gpus must be all or a list.*change `gpus:` of `train`.*docker compose -f bad\.yml up -d train\n +gpus:\n +- count: 1\n/s,
      )
      expect(code).toBe(1)
    },
    PATIENCE_MS,
  )
  test(
    'who names none does not',
    async () => {
      const { stdout } = await runCli(['doctor', '--skip', 'host,toolkit,container,wsl2', '--json'], { cwd: folder, env })
      expect([...new Set(doctorReport.parse(JSON.parse(stdout)).checks.map(({ group }) => group))]).toEqual(['warpwatch'])
    },
    PATIENCE_MS,
  )
  test(
    'the API names none',
    async () => {
      const { config } = empty.around
      const { checks: all } = await createDoctor({ ...config, containers: { ...config.containers, enabled: false } }, {})()
      expect(all.length).toBeGreaterThan(20)
      expect(all.filter(({ group }) => group === 'compose')).toEqual([])
    },
    PATIENCE_MS,
  )
})
