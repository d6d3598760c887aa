// Files of a host with one running container, pid 4242, as its checks read them.
import type { SceneFile } from '../../unit/doctor/scene.ts'

export const PID = 4242
export const ROOT = `/proc/${PID}/root`
/** As the kernel's module tells of itself. */
export const DRIVER = { '/proc/driver/nvidia/version': 'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build\n' } as const
export const TOOLKIT = { 'nvidia-ctk': { prints: 'NVIDIA Container Toolkit CLI version 1.17.8\ncommit: f202b80a9b9d0db00d9b1d73c0128c8962c55f4d\n' } } as const

export type ProcessParts = {
  readonly env?: Readonly<Record<string, string>>
  readonly uid?: number
  /** Root's: all of them. */
  readonly capabilities?: string
  readonly mounts?: string
  readonly limits?: Readonly<Record<string, string>>
  readonly maps?: string
  readonly cgroup?: string
}

export function processFiles({
  env = {},
  uid = 0,
  capabilities = uid === 0 ? '00000000a80425fb' : '0000000000000000',
  mounts = '',
  limits = {},
  maps = '',
  cgroup = '0::/system.slice/docker-x.scope\n',
}: ProcessParts = {}): Readonly<Record<string, SceneFile>> {
  const limit = (name: string, value: string): string => `${name.padEnd(26)}${value.padEnd(21)}${value.padEnd(21)}\n`
  const all = { 'Max stack size': '8388608', 'Max open files': '1048576', 'Max locked memory': '8388608', ...limits }
  return {
    [`/proc/${PID}/environ`]: Object.entries({ HOME: '/root', ...env })
      .map(([name, value]) => `${name}=${value}\0`)
      .join(''),
    [`/proc/${PID}/status`]: `Name:\tpython3\nUid:\t${uid}\t${uid}\t${uid}\t${uid}\nGid:\t${uid}\t${uid}\t${uid}\t${uid}\nGroups:\t${uid} \nCapEff:\t${capabilities}\n`,
    [`/proc/${PID}/uid_map`]: '         0          0 4294967295\n',
    [`/proc/${PID}/mountinfo`]: `100 1 0:50 / / rw,relatime - overlay overlay rw,lowerdir=/l\n${mounts}`,
    [`/proc/${PID}/limits`]: `Limit                     Soft Limit           Hard Limit           Units     \n${Object.entries(all)
      .map(([name, value]) => limit(name, value))
      .join('')}`,
    [`/proc/${PID}/maps`]: maps,
    [`/proc/${PID}/cgroup`]: cgroup,
  }
}

/** Where Debian's Python of an image looks for packages. */
export const SITE = `${ROOT}/usr/local/lib/python3.12/site-packages`
/** torch/version.py as PyTorch's setup writes it. */
export const torchVersion = (version: string, cuda: string | undefined): string =>
  `from typing import Optional\n\n__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip', 'xpu']\n__version__ = '${version}'\ndebug = False\ncuda: Optional[str] = ${cuda === undefined ? 'None' : `'${cuda}'`}\ngit_version = '0'\nhip: Optional[str] = None\n`
