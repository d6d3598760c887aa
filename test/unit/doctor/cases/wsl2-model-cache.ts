// Cases of the check wsl2-model-cache.
import { WSL } from '../hosts.ts'
import type { CheckCase } from '../scene.ts'

const mounted = (point: string, type: string) => ({
  ...WSL,
  '/proc/self/mountinfo': `22 1 8:32 / / rw,relatime - ext4 /dev/sdc rw\n101 22 0:51 / ${point} rw,noatime - ${type} C:\\134 rw,dirsync,aname=drvfs\n`,
})

export const cases: readonly CheckCase[] = [
  { about: "Linux' disk", scene: { files: mounted('/mnt/c', '9p'), env: { HOME: '/home/someone' } }, status: 'pass', says: /own disk/ },
  { about: 'a disk of Linux below /mnt', scene: { files: mounted('/mnt/c', '9p'), env: { HF_HOME: '/mnt/data/models' } }, status: 'pass' },
  {
    about: "Windows' drive",
    scene: { files: mounted('/mnt/d', '9p'), env: { HF_HOME: '/mnt/d/models' } },
    status: 'warn',
    says: /HF_HOME leads.*export HF_HOME=/,
  },
  {
    about: 'a folder that Windows shares',
    scene: { files: mounted('/srv/models', 'virtiofs'), env: { HF_HUB_CACHE: '/srv/models/hub' } },
    status: 'warn',
    says: /HF_HUB_CACHE/,
  },
  {
    about: 'by a link',
    scene: {
      files: { ...WSL, '/home/someone/.cache/huggingface': { link: '/mnt/c/models' }, '/mnt/c/models': { folder: true } },
      env: { HOME: '/home/someone' },
    },
    status: 'warn',
    says: /the default leads.*export HF_HOME=/,
  },
  { about: 'nothing tells where', scene: { files: WSL }, status: 'skipped' },
  { about: 'no WSL', scene: { env: { HF_HOME: '/mnt/c/models' } }, status: 'skipped', says: /not WSL/ },
]
