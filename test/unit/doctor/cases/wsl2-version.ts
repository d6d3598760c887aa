// Cases of the check wsl2-version.
import { IN_CONTAINER, WSL } from '../hosts.ts'
import type { CheckCase } from '../scene.ts'

const kernel = (release: string) => ({ ...WSL, '/proc/sys/kernel/osrelease': `${release}\n` })

export const cases: readonly CheckCase[] = [
  { about: 'WSL2', scene: { files: WSL }, status: 'pass', says: /5\.15\.153\.1/ },
  { about: 'a kernel of its own', scene: { files: kernel('6.6.87-custom') }, status: 'pass' },
  { about: 'in a container of WSL2', scene: { files: { ...WSL, ...IN_CONTAINER } }, status: 'pass' },
  {
    about: 'WSL1',
    scene: { files: { '/proc/sys/kernel/osrelease': '4.4.0-19041-Microsoft\n' }, env: { WSL_DISTRO_NAME: 'Ubuntu' } },
    status: 'fail',
    says: /wsl --set-version Ubuntu 2/,
  },
  { about: 'a kernel without GPUs', scene: { files: kernel('4.19.104-microsoft-standard') }, status: 'fail', says: /4\.19\.121 or newer.*wsl --update/ },
  { about: 'an old kernel', scene: { files: kernel('5.4.72-microsoft-standard-WSL2') }, status: 'warn', says: /5\.10\.16 or newer/ },
  { about: 'no WSL', scene: {}, status: 'skipped', says: /not WSL/ },
]
