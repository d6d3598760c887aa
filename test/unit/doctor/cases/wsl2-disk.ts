// Cases of the check wsl2-disk: how full a real disk is nobody chooses, so that is given.
import { WSL } from '../hosts.ts'
import type { CheckCase } from '../scene.ts'

const GIB = 2 ** 30
const MOUNTED = { ...WSL, '/mnt/c/Windows': { folder: true } } as const
/** As df shows it inside: a terabyte that is not there. */
const drive = (total: number, free: number) => ({
  '/': { totalBytes: 1_007 * GIB, availableBytes: 900 * GIB, type: 0xef53 },
  '/mnt/c': { totalBytes: total * GIB, availableBytes: free * GIB, type: 0x01021997 },
})

export const cases: readonly CheckCase[] = [
  { about: 'room enough', scene: { files: MOUNTED, space: drive(475, 120) }, status: 'pass', says: /120 GiB of 475 GiB/ },
  { about: 'a small drive that is not full', scene: { files: MOUNTED, space: drive(118, 15) }, status: 'pass' },
  { about: 'hardly any', scene: { files: MOUNTED, space: drive(475, 9) }, status: 'warn', says: /9\.0 GiB.*whatever df says.*compact vdisk.*--move/ },
  { about: 'none', scene: { files: MOUNTED, space: drive(475, 0.2) }, status: 'fail' },
  { about: 'drives are not mounted', scene: { files: WSL, space: drive(475, 0.2) }, status: 'skipped', says: /not mounted on \/mnt\/c/ },
  { about: 'no WSL', scene: { space: drive(475, 0.2) }, status: 'skipped', says: /not WSL/ },
]
