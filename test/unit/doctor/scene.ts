// A host for the doctor's checks, made of real files in a folder of its own and real programs; what no folder can hold (NVML, engines) is given as data.
import { execFileSync } from 'node:child_process'
import { chmodSync, linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { loadConfig } from '../../../agent/config/load.ts'
import type { Config } from '../../../agent/config/schema.ts'
import type { Surroundings } from '../../../agent/doctor/definition.ts'
import { parseComposeFile } from '../../../agent/doctor/compose/file.ts'
import type { DoctorContainer } from '../../../agent/doctor/parts/containers.ts'
import { readDistribution } from '../../../agent/doctor/parts/distribution.ts'
import type { EngineFacts } from '../../../agent/doctor/parts/engine-facts.ts'
import { createHostFiles, type HostFiles, type SpaceFacts } from '../../../agent/doctor/parts/host-files.ts'
import type { NvmlFacts, NvmlGpu } from '../../../agent/doctor/parts/nvml-facts.ts'
import { createRunCommand, type RunCommand } from '../../../agent/doctor/parts/run-command.ts'
import { lazily } from '../../../agent/doctor/surroundings.ts'
import type { CheckStatus } from '../../../agent/model/doctor.ts'

/** A file's text, a link's target, a device node (needs root), or an empty folder. */
export type SceneFile =
  | string
  | { readonly link: string }
  | { readonly node: readonly [major: number, minor: number] }
  | { readonly folder: true }
  | { readonly text: string; readonly mode: number }
  | { readonly bytes: readonly number[] }

export type Scene = {
  readonly files?: Readonly<Record<string, SceneFile>>
  /** Programs by name: what they print and how they end, or a whole script for /bin/sh. */
  readonly programs?: Readonly<Record<string, { readonly prints: string; readonly exit?: number } | { readonly script: string }>>
  /** os-release's ID; debian where it is not said. */
  readonly distribution?: string
  /** An Error: what asking for it rejects with. Absent: none. */
  readonly nvml?: NvmlFacts | Error
  readonly engine?: EngineFacts | Error
  readonly containers?: readonly Partial<DoctorContainer>[] | Error
  /** How full file systems are, by path; absent: room enough, whatever this machine has. */
  readonly space?: Readonly<Record<string, SpaceFacts>>
  /** Text by path. */
  readonly compose?: Readonly<Record<string, string>>
  /** Keys by their full name: `gpu.source`. */
  readonly config?: Readonly<Record<string, unknown>>
  readonly env?: Readonly<Record<string, string>>
  readonly uid?: number
}

/** What a check must say of a scene: the worst status of its findings, and a word of them. */
export type CheckCase = { readonly about: string; readonly scene: Scene; readonly status: CheckStatus; readonly says?: RegExp }

export const needsRoot = ({ files = {} }: Scene): boolean => Object.values(files).some((file) => typeof file === 'object' && 'node' in file)

export function gpuFacts(own: Partial<Omit<NvmlGpu, 'value'>> & { readonly values?: Readonly<Record<string, number>> } = {}): NvmlGpu {
  const { values = {}, ...rest } = own
  const index = rest.index ?? 0
  return {
    index,
    uuid: `GPU-0000000${index}-1111-2222-3333-444444444444`,
    name: 'NVIDIA H100 80GB HBM3',
    pciBusId: `00000000:${(index + 1).toString(16).padStart(2, '0')}:00.0`,
    computeCapability: '9.0',
    minor: index,
    throttleReasons: [],
    // `ecc_errors_total{type=uncorrected,scope=volatile}` names one with labels.
    value: ({ field: name = '' }, labels = {}) =>
      values[
        Object.keys(labels).length === 0
          ? name
          : `${name}{${Object.entries(labels)
              .map(([key, text]) => `${key}=${text}`)
              .join(',')}}`
      ],
    ...rest,
  }
}
export const nvmlFacts = (own: Partial<NvmlFacts> = {}): NvmlFacts => ({
  from: 'NVML',
  library: 'libnvidia-ml.so.1',
  driverVersion: '580.65.06',
  cudaVersion: '13.0',
  gpus: [gpuFacts()],
  lost: [],
  ...own,
})
export const engineFacts = (own: Partial<EngineFacts> = {}): EngineFacts => ({
  kind: 'docker',
  socketPath: '/var/run/docker.sock',
  version: '28.3.0',
  operatingSystem: 'Debian GNU/Linux 12 (bookworm)',
  rootless: false,
  cgroupDriver: 'systemd',
  cgroupVersion: '2',
  defaultRuntime: 'runc',
  runtimes: new Map([
    ['runc', 'runc'],
    ['nvidia', 'nvidia-container-runtime'],
  ]),
  security: ['apparmor', 'seccomp'],
  dataRoot: '/var/lib/docker',
  storageDriver: 'overlay2',
  ...own,
})
/** A container that was started well with `--gpus all`. */
export function containerFacts(own: Partial<DoctorContainer>, files: HostFiles): DoctorContainer {
  const pid = own.pid
  return {
    engine: engineFacts(),
    id: 'a'.repeat(64),
    name: 'trainer',
    image: 'pytorch:2',
    state: 'running',
    env: new Map(),
    wish: { requests: [{ driver: '', count: -1, ids: [], capabilities: ['gpu'] }], devicePaths: [], privileged: false, runtime: 'runc' },
    wantsGpu: 'asked',
    runtime: 'runc',
    privileged: false,
    user: '',
    shmSizeBytes: 8 * 2 ** 30,
    ipcMode: 'private',
    ulimits: [],
    securityOptions: [],
    readOnlyRoot: false,
    mounts: [],
    ...(pid === undefined ? {} : { files: files.within(`/proc/${pid}/root`) }),
    ...own,
  }
}

function writeText(path: string, text: string, mode: number): void {
  writeFileSync(path, text)
  chmodSync(path, mode) // not lessened by the umask
}

/** One of each in the temporary directory: a scene gets a hard link of it, for hundreds of scenes have the same nodes, and a process for each takes most of their time. */
const nodes = new Map<string, string>()
function removeNodes(): void {
  for (const node of nodes.values()) rmSync(dirname(node), { recursive: true, force: true })
}
function writeNode(path: string, numbers: readonly [number, number]): void {
  const key = [tmpdir(), ...numbers].join(' ')
  let made = nodes.get(key)
  if (made === undefined) {
    const folder = mkdtempSync(join(tmpdir(), 'warpwatch-node-'))
    // `npm run generate` has scenes too, and no folder of a test that is removed with it.
    if (nodes.size === 0) process.once('exit', removeNodes)
    made = join(folder, 'node')
    execFileSync('mknod', [made, 'c', ...numbers.map(String)])
    nodes.set(key, made)
  }
  linkSync(made, path)
}

function write(root: string, path: string, file: SceneFile): void {
  const full = join(root, path)
  mkdirSync(dirname(full), { recursive: true })
  if (typeof file === 'string') return writeFileSync(full, file)
  if ('link' in file) return symlinkSync(file.link, full)
  if ('folder' in file) return void mkdirSync(full, { recursive: true })
  if ('bytes' in file) return writeFileSync(full, Uint8Array.from(file.bytes))
  if ('text' in file) return writeText(full, file.text, file.mode)
  writeNode(full, file.node)
}

const reported = <T>(answer: T | Error | undefined): Promise<T> | undefined =>
  answer === undefined ? undefined : answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)

/** Programs of scenes end by themselves; a machine that is out of breath makes them late, and what a check says must not depend on that. */
export const PATIENCE_MS = 30_000
const patiently =
  (run: RunCommand): RunCommand =>
  async (command, args, options) =>
    await run(command, args, { timeoutMs: PATIENCE_MS, ...options })

const [TOTAL_BYTES, AVAILABLE_BYTES] = [1_000 * 2 ** 30, 500 * 2 ** 30]
/** No check may depend on how full the disk is on which tests run. */
const roomy = (real: HostFiles): HostFiles => ({
  ...real,
  async space(path) {
    const found = await real.space(path)
    return found === undefined ? undefined : { ...found, totalBytes: TOTAL_BYTES, availableBytes: AVAILABLE_BYTES }
  },
  within: (path) => roomy(real.within(path)),
})

export type BuiltScene = { readonly around: Surroundings; readonly root: string; readonly remove: () => void }

export async function buildScene(scene: Scene): Promise<BuiltScene> {
  const root = mkdtempSync(join(tmpdir(), 'warpwatch-doctor-'))
  const programs = join(root, '.programs')
  mkdirSync(programs)
  write(root, '/etc/os-release', `ID=${scene.distribution ?? 'debian'}\nVERSION_ID="12"\nPRETTY_NAME="A Linux"\n`)
  for (const [path, file] of Object.entries({ '/proc/sys/kernel/osrelease': '6.1.0-28-amd64\n', ...scene.files })) write(root, path, file)
  for (const [name, program] of Object.entries(scene.programs ?? {})) {
    const path = join(programs, name)
    if ('prints' in program) {
      writeFileSync(`${path}.out`, program.prints)
      writeFileSync(path, `#!/bin/sh\ncat '${path}.out'\nexit ${program.exit ?? 0}\n`)
    } else writeFileSync(path, `#!/bin/sh\n${program.script}\n`)
    chmodSync(path, 0o755)
  }
  const real = createHostFiles(root)
  const { space } = scene
  const files: HostFiles = space === undefined ? roomy(real) : { ...real, space: async (path) => await Promise.resolve(space[path]) }
  const env = scene.env ?? {}
  const flags = Object.entries({ data_dir: root, ...scene.config }).map(([path, value]) => ({ path, value, where: 'scene' }))
  const { config }: { readonly config: Config } = await loadConfig({ env: {}, cwd: root, flags })
  const containers = scene.containers ?? []
  const around: Surroundings = {
    files,
    run: patiently(createRunCommand({}, [programs])),
    containersMs: PATIENCE_MS,
    distribution: lazily(async () => await readDistribution(files, env)),
    engine: lazily(async () => await reported(scene.engine)),
    containers: lazily(async () => (containers instanceof Error ? await Promise.reject(containers) : containers.map((own) => containerFacts(own, files)))),
    nvml: lazily(async () => await reported(scene.nvml)),
    composeFiles: lazily(async () => await Promise.resolve(Object.entries(scene.compose ?? {}).map(([path, text]) => parseComposeFile(path, text)))),
    config,
    env,
    uid: scene.uid ?? 0,
  }
  return { around, root, remove: () => rmSync(root, { recursive: true, force: true }) }
}
