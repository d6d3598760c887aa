// WSL2 as a guest sees it: whether this is one whose files are its own, and where Windows' drives lie.
import type { Distribution } from './distribution.ts'
import type { Finding, Surroundings } from '../definition.ts'
import type { HostFiles } from './host-files.ts'
import { skipped } from './nvidia-pci.ts'
import { parseWslSettings, type WslSettings } from './wsl-settings.ts'

export type Guest = { readonly guest: Distribution } | { readonly skip: readonly Finding[] }

/** All checks of the group give the same reason, so that it is reported in one line. */
export async function wsl2Guest({ distribution }: Surroundings): Promise<Guest> {
  const found = await distribution()
  if (found.wsl === 0) return { skip: skipped('this is not WSL') }
  if (found.wsl === 1) return { skip: skipped('this is WSL1, see wsl2-version') }
  if (found.inContainer) return { skip: skipped('this runs in a container: run it in the WSL distribution itself') }
  return { guest: found }
}

export type Windows = {
  /** /etc/wsl.conf: of this distribution alone. */
  readonly own: WslSettings
  /** Where drives are mounted, with a slash at its end. */
  readonly mounts: string
}

/** WSL's own defaults (src/linux/init/WslDistributionConfig.h). */
export async function readWindows(files: HostFiles): Promise<Windows> {
  const own = parseWslSettings((await files.readText('/etc/wsl.conf')) ?? '')
  const root = own.get('automount.root') ?? '/mnt/'
  return { own, mounts: root.endsWith('/') ? root : `${root}/` }
}

/** ParseBool of WSL (src/shared/inc/stringshared.h), for what is on unless the settings say otherwise. */
export const isSwitchedOff = (settings: WslSettings, key: string): boolean => /^(?:0|false)$/i.test(settings.get(key) ?? '')

export const RESTART_WSL = { text: 'Then restart WSL, in PowerShell; it ends all distributions and what runs in them.', command: 'wsl --shutdown' } as const
