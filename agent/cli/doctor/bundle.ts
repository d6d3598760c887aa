// `warpwatch doctor --bundle FILE`: the report and what is around it in one archive for support, without secrets, names and addresses.
import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { printYaml } from '../../config/print.ts'
import type { LoadedConfig } from '../../config/load.ts'
import { knownNames } from '../../doctor/bundle/known.ts'
import { createScrubber } from '../../doctor/bundle/scrub.ts'
import { tarGz, type TarFile } from '../../doctor/bundle/tar.ts'
import type { Surroundings } from '../../doctor/definition.ts'
import { readKernelLines } from '../../doctor/parts/kernel-lines.ts'
import { commandProblem } from '../../doctor/parts/run-command.ts'
import { reportText } from '../../doctor/report-text.ts'
import { nvidiaSmiCommands } from '../../lib/wsl.ts'
import { VERSION } from '../../lib/version.ts'
import type { DoctorReport } from '../../model/doctor.ts'
import { messageOf } from '../../text/error.ts'
import { callAgent } from '../change.ts'
import { UsageError, type Io } from '../command.ts'
import { openIncidents } from '../incidents/from.ts'

export type BundleParts = { readonly report: DoctorReport; readonly loaded: LoadedConfig; readonly around: Surroundings; readonly io: Io }

const INCIDENTS = 50
const KERNEL_LINES = 1_000
const ABOUT_GPUS = /NVRM|Xid|nvidia|nouveau|AER|pcieport|Out of memory|oom-kill/i
const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** Whatever cannot be had says why in its place: a bundle with a part missing is still of use. */
async function orErrorText(make: () => Promise<string>): Promise<string> {
  try {
    return await make()
  } catch (error) {
    return `not to be had: ${messageOf(error)}\n`
  }
}

async function versions({ distribution, engine, nvml }: Surroundings): Promise<string> {
  const [system, engineFacts, gpus] = await Promise.all([distribution().catch(() => undefined), engine().catch(() => undefined), nvml().catch(() => undefined)])
  return json({
    warpwatch: VERSION,
    node: process.version,
    arch: process.arch,
    system:
      system === undefined ? undefined : { id: system.id, version: system.version, kernel: system.kernel, wsl: system.wsl, in_container: system.inContainer },
    driver: gpus?.driverVersion,
    cuda: gpus?.cudaVersion,
    gpus: gpus?.gpus.map(({ index, name, computeCapability }) => ({ index, name, compute_capability: computeCapability })),
    engine: engineFacts === undefined ? undefined : { kind: engineFacts.kind, version: engineFacts.version, cgroup_driver: engineFacts.cgroupDriver },
  })
}

async function nvidiaSmi({ run, config }: Surroundings): Promise<string> {
  for (const command of nvidiaSmiCommands(config.gpu.nvidia_smi)) {
    const result = await run(command, ['-q'], { timeoutMs: 10_000 })
    if (result.kind === 'missing') continue
    return result.kind === 'ended' ? `${result.stdout}${result.stderr}` : `${commandProblem(command, result) ?? ''}\n`
  }
  return 'nvidia-smi is not installed\n'
}

async function kernelLines({ run }: Surroundings): Promise<string> {
  const log = await readKernelLines(run)
  if ('problem' in log) return `${log.problem}\n`
  return log.lines
    .filter(({ text }) => ABOUT_GPUS.test(text))
    .slice(-KERNEL_LINES)
    .map(({ at, text }) => `[${at}] ${text}\n`)
    .join('')
}

async function incidents({ config }: Surroundings): Promise<string> {
  const reader = await openIncidents(config)
  try {
    return json(await reader.list({ limit: INCIDENTS }))
  } finally {
    reader.close()
  }
}

async function filesOf(parts: BundleParts): Promise<readonly TarFile[]> {
  const { loaded, around } = parts
  // Also where it is a word that the scrubber leaves alone, such as `vm`.
  const report = { ...parts.report, host: '[host]' }
  const config = { ...loaded.config, host_name: '[host]' }
  const agent = async (path: string): Promise<string> => json(await callAgent(loaded.config, 'doctor', 'GET', path))
  const texts: readonly (readonly [name: string, make: () => Promise<string>])[] = [
    ['doctor.json', async () => await Promise.resolve(json(report))],
    ['doctor.txt', async () => await Promise.resolve(reportText(report, { verbose: true }))],
    ['config.yaml', async () => await Promise.resolve(printYaml(config, loaded.origins))],
    ['versions.json', async () => await versions(around)],
    ['incidents.json', async () => await incidents(around)],
    ['gaps.json', async () => await agent('/api/v1/gaps')],
    ['sources.json', async () => await agent('/api/v1/sources')],
    ['nvidia-smi.txt', async () => await nvidiaSmi(around)],
    ['kernel.log', async () => await kernelLines(around)],
  ]
  return await Promise.all(texts.map(async ([name, make]) => ({ name, text: await orErrorText(make) })))
}

/** One line for the user. The file must not be there yet: nothing is written through what someone else has laid there. */
export async function writeBundle(file: string, parts: BundleParts): Promise<string> {
  const scrub = createScrubber(await knownNames(parts.around))
  const files = (await filesOf(parts)).map(({ name, text }) => ({ name: `warpwatch-doctor/${name}`, text: scrub(text) }))
  try {
    await writeFile(resolve(parts.io.cwd, file), tarGz(files, parts.report.t), { flag: 'wx', mode: 0o600 })
  } catch (error) {
    const there = error instanceof Error && 'code' in error && error.code === 'EEXIST'
    throw new UsageError(`doctor: --bundle: ${file}: the file cannot be made: ${there ? 'it is there already; choose another name' : messageOf(error)}`, {
      cause: error,
    })
  }
  return `${file}: ${files.length} files; secrets, names and addresses are taken out. Read it before you pass it on: tar -xzOf ${file} | less\n`
}
