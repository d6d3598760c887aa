// Cases of the check wsl2-gpu-device.
import { IN_CONTAINER, WSL } from '../hosts.ts'
import { engineFacts, type CheckCase } from '../scene.ts'

const BARE = { '/proc/sys/kernel/osrelease': '5.15.153.1-microsoft-standard-WSL2\n' } as const
const WINDOWS = { '/mnt/c/Windows/System32/nvidia-smi.exe': 'MZ' } as const

export const cases: readonly CheckCase[] = [
  { about: 'it is there', scene: { files: WSL }, status: 'pass' },
  {
    about: 'the driver is in Windows, the device is not here',
    scene: { files: { ...BARE, ...WINDOWS } },
    status: 'fail',
    says: /installed in Windows.*wsl --update.*wsl --shutdown/,
  },
  {
    about: 'drives are mounted elsewhere',
    scene: { files: { ...BARE, '/etc/wsl.conf': '[automount]\nroot = /\n', '/c/Windows/System32/nvidia-smi.exe': 'MZ' } },
    status: 'fail',
    says: /installed in Windows/,
  },
  { about: 'a container wants it', scene: { files: BARE, engine: engineFacts(), containers: [{}] }, status: 'fail', says: /nvidia\.com\/drivers/ },
  {
    about: 'switched off for this distribution',
    scene: { files: { ...WSL, '/etc/wsl.conf': '[gpu]\nenabled = false\n' } },
    status: 'fail',
    says: /wsl\.conf says/,
  },
  {
    about: 'switched off for all',
    scene: { files: { ...BARE, ...WINDOWS, '/mnt/c/Users/someone/.wslconfig': '[wsl2]\r\ngpuSupport=false\r\n' } },
    status: 'fail',
    says: /gpuSupport=false/,
  },
  { about: 'no NVIDIA GPU anywhere', scene: { files: BARE }, status: 'skipped', says: /no sign of NVIDIA/ },
  { about: 'in a container', scene: { files: { ...WSL, ...IN_CONTAINER } }, status: 'skipped', says: /in a container/ },
  { about: 'no WSL', scene: {}, status: 'skipped', says: /not WSL/ },
]
