// Cases of the check driver-library-match.
import { healthy, library, MODULE, NO_GPU, WSL } from '../hosts.ts'
import type { CheckCase } from '../scene.ts'

const updated = { ...library('555.42.02'), '/proc/driver/nvidia/version': MODULE('550.90.07') }

export const cases: readonly CheckCase[] = [
  { about: 'one version', scene: { files: healthy('550.90.07') }, status: 'pass', says: /both 550\.90\.07/ },
  { about: 'updated, not rebooted', scene: { files: updated }, status: 'fail', says: /module is 550\.90\.07 .*555\.42\.02.*reboot.*apt-mark hold/ },
  { about: 'the same on a distribution without apt', scene: { files: updated, distribution: 'rocky' }, status: 'fail', says: /^(?!.*apt-mark).*rmmod/ },
  {
    about: 'an old library beside the right one',
    scene: { files: { ...updated, '/usr/lib64/libnvidia-ml.so.1': { link: 'libnvidia-ml.so.550.90.07' }, '/usr/lib64/libnvidia-ml.so.550.90.07': '' } },
    status: 'pass',
  },
  {
    about: 'links to the alternatives of Debian, by absolute links',
    scene: {
      files: {
        '/proc/driver/nvidia/version': MODULE('535.183.01'),
        '/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1': { link: '/etc/alternatives/nvidia--libnvidia-ml.so.1' },
        '/etc/alternatives/nvidia--libnvidia-ml.so.1': { link: '/usr/lib/x86_64-linux-gnu/nvidia/current/libnvidia-ml.so.535.183.01' },
        '/usr/lib/x86_64-linux-gnu/nvidia/current/libnvidia-ml.so.535.183.01': '',
      },
    },
    status: 'pass',
  },
  {
    about: 'a library whose name tells nothing',
    scene: { files: { '/proc/driver/nvidia/version': MODULE('550.90.07'), '/usr/lib64/libnvidia-ml.so.1': 'ELF' } },
    status: 'skipped',
  },
  { about: 'no driver', scene: { files: NO_GPU }, status: 'skipped' },
  { about: 'WSL, whose versions differ by design', scene: { files: { ...WSL, ...updated } }, status: 'skipped' },
]
