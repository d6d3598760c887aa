// The NVIDIA container toolkit of a host: its version, its config.toml, what the engine's daemon.json says of it, and how it is installed here.
import type { Surroundings } from '../definition.ts'
import type { Remedy } from '../../model/fault.ts'
import type { Distribution } from './distribution.ts'
import type { EngineFacts } from './engine-facts.ts'
import type { HostFiles } from './host-files.ts'

export const TOOLKIT_CONFIG = '/etc/nvidia-container-runtime/config.toml'
export const DAEMON_CONFIG = '/etc/docker/daemon.json'

/** Values of a TOML file by `section.key`: plain texts, booleans and numbers as they are written; all that this file has, beside lists. */
export function parseToolkitConfig(text: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  let section = ''
  for (const line of text.split('\n')) {
    const head = /^\s*\[([\w.-]+)\]\s*(?:#.*)?$/.exec(line)?.[1]
    if (head !== undefined) section = `${head}.`
    const match = /^\s*([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s#[]+))\s*(?:#.*)?$/.exec(line)
    if (match?.[1] !== undefined) values.set(section + match[1], match[2] ?? match[3] ?? match[4] ?? '')
  }
  return values
}

export async function readToolkitConfig(files: HostFiles): Promise<ReadonlyMap<string, string> | undefined> {
  const text = await files.readText(TOOLKIT_CONFIG)
  return text === undefined ? undefined : parseToolkitConfig(text)
}

export type Toolkit = { readonly program: string; readonly version?: string }

const PROGRAMS = ['nvidia-ctk', 'nvidia-container-cli', '/usr/local/nvidia/toolkit/nvidia-ctk', '/run/current-system/sw/bin/nvidia-ctk'] as const

/** `NVIDIA Container Toolkit CLI version 1.17.8`, `cli-version: 1.17.8`. undefined: not installed. */
export async function findToolkit({ run }: Pick<Surroundings, 'run'>): Promise<Toolkit | undefined> {
  for (const program of PROGRAMS) {
    const result = await run(program, ['--version'])
    if (result.kind === 'missing') continue
    const version = result.kind === 'ended' ? /version:?\s+v?(\d+\.\d+\.\d+\S*)/.exec(result.stdout)?.[1] : undefined
    return { program, ...(version === undefined ? {} : { version }) }
  }
  return undefined
}

export function olderThan(version: string, than: readonly number[]): boolean {
  const parts = version.split(/[.~-]/).slice(0, than.length).map(Number)
  for (const [at, wanted] of than.entries()) {
    const part = parts[at] ?? 0
    if (part !== wanted) return part < wanted
  }
  return false
}

const APT = `curl -fsSL https://nvidia.github.io/libnvidia-container/gpgkey | sudo gpg --dearmor -o /usr/share/keyrings/nvidia-container-toolkit-keyring.gpg && curl -fsSL https://nvidia.github.io/libnvidia-container/stable/deb/nvidia-container-toolkit.list | sed 's#deb https://#deb [signed-by=/usr/share/keyrings/nvidia-container-toolkit-keyring.gpg] https://#' | sudo tee /etc/apt/sources.list.d/nvidia-container-toolkit.list`
const RPM = 'https://nvidia.github.io/libnvidia-container/stable/rpm/nvidia-container-toolkit.repo'
const GUIDE = 'https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/install-guide.html'

/** By NVIDIA's installation guide. */
export function installToolkit({ family, install }: Distribution): readonly Remedy[] {
  const add = 'Add the repository of NVIDIA.'
  const take = { text: 'Install the container toolkit.', command: install('nvidia-container-toolkit') }
  if (family === 'debian' || family === 'ubuntu') return [{ text: add, command: APT }, take]
  if (family === 'rhel' || family === 'fedora')
    return [{ text: add, command: `curl -fsSL ${RPM} | sudo tee /etc/yum.repos.d/nvidia-container-toolkit.repo` }, take]
  if (family === 'suse') {
    const trusting = 'sudo zypper --gpg-auto-import-keys install -y nvidia-container-toolkit'
    return [
      { text: add, command: `sudo zypper ar ${RPM}` },
      { ...take, command: trusting },
    ]
  }
  if (family === 'arch') return [take]
  if (family === 'nixos') {
    const text = 'Set hardware.nvidia-container-toolkit.enable = true; in configuration.nix, then build the system again.'
    return [{ text, command: 'sudo nixos-rebuild switch' }]
  }
  return [{ text: `Install the NVIDIA container toolkit by its guide: ${GUIDE}` }]
}

export const restartEngine = ({ kind, rootless }: EngineFacts): string =>
  kind === 'podman'
    ? 'systemctl --user restart podman.socket || sudo systemctl restart podman.socket'
    : rootless
      ? 'systemctl --user restart docker'
      : 'sudo systemctl restart docker'
export function enterRuntime(engine: EngineFacts): Remedy {
  const own = engine.rootless
    ? 'nvidia-ctk runtime configure --runtime=docker --config=$HOME/.config/docker/daemon.json'
    : 'sudo nvidia-ctk runtime configure --runtime=docker'
  return {
    text: 'Enter the NVIDIA runtime in the configuration of Docker, and restart Docker (containers without a restart policy stop and must be started again).',
    command: `${own} && ${restartEngine(engine)}`,
  }
}

export type Ready = { readonly engine: EngineFacts; readonly distribution: Distribution }

/** Whether the checks of the toolkit make sense here; a text says why not. */
export async function toolkitMatters(around: Surroundings): Promise<Ready | string> {
  const engine = await around.engine()
  if (engine === undefined) return 'no container engine runs here'
  const distribution = await around.distribution()
  if (engine.operatingSystem === 'Docker Desktop') return 'Docker Desktop brings a toolkit of its own, which cannot be seen from here'
  if (distribution.inContainer) return 'this is a container: the files of the host cannot be seen from here'
  return (await hasGpu(around)) ? { engine, distribution } : 'no NVIDIA driver is loaded on this host'
}

/** The kernel module's sign, or WSL2's; NVML may hang and is not asked. */
async function hasGpu({ files }: Surroundings): Promise<boolean> {
  return (await files.exists('/proc/driver/nvidia/version')) || ((await files.exists('/dev/dxg')) && (await files.exists('/usr/lib/wsl/lib')))
}
