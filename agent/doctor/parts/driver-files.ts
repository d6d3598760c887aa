// The halves of the driver as files show them: the loaded kernel module, the module on disk, the libraries.
import { nvmlLibraries } from '../../lib/wsl.ts'
import type { HostFiles } from './host-files.ts'
import type { RunCommand } from './run-command.ts'

export type LoadedModule = { readonly version: string; readonly open: boolean }

const VERSION = /(\d{2,4}\.\d+(?:\.\d+)*)/

/** undefined: none is loaded, or it cannot be seen from here. */
export async function loadedModule(files: HostFiles): Promise<LoadedModule | undefined> {
  // `NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.90.07  Fri May 31 …`, with `Open Kernel Module for x86_64` likewise.
  const text = await files.readText('/proc/driver/nvidia/version')
  const version = /Kernel Module[^\d\n]{1,40}(?:x86_64|aarch64)?\s+(\d{2,4}\.\d+(?:\.\d+)*)/.exec(text ?? '')?.[1]
  if (version !== undefined) return { version, open: text?.includes('Open Kernel Module') === true }
  const own = VERSION.exec((await files.readText('/sys/module/nvidia/version')) ?? '')?.[1]
  return own === undefined ? undefined : { version: own, open: false }
}

/** Of the module that the running kernel would load; undefined: there is none. `signer` is empty where it is not signed. */
export async function moduleOnDisk(run: RunCommand): Promise<{ readonly version: string; readonly signer: string } | undefined> {
  const [version, signer] = await Promise.all([run('modinfo', ['-F', 'version', 'nvidia']), run('modinfo', ['-F', 'signer', 'nvidia'])])
  const found = version.kind === 'ended' && version.exitCode === 0 ? VERSION.exec(version.stdout)?.[1] : undefined
  if (found === undefined) return undefined
  return { version: found, signer: signer.kind === 'ended' ? signer.stdout.trim() : '' }
}

/** Versions of libnvidia-ml by path; packages link libnvidia-ml.so.1 to a file that bears the version. */
export async function installedLibraries(files: HostFiles, configured: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  const paths = nvmlLibraries(configured, { wsl: { version: 0, nvidia: false }, exists: () => true }).filter((path) => path.startsWith('/'))
  for (const path of paths) {
    const version = /\/libnvidia-ml\.so\.(\d{2,4}\.\d+(?:\.\d+)*)$/.exec((await files.realpath(path)) ?? '')?.[1]
    if (version !== undefined) found.set(path, version)
  }
  return found
}

/** Whether DKMS has the sources of the driver, so that it can build the module for this kernel. */
export async function hasDkmsSources(files: HostFiles): Promise<boolean> {
  const [dkms, sources] = await Promise.all([files.list('/var/lib/dkms'), files.list('/usr/src')])
  return dkms?.some((name) => name.startsWith('nvidia')) === true || sources?.some((name) => /^nvidia(-open)?-\d/.test(name)) === true
}
