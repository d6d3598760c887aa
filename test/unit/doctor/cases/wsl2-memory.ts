// Cases of the check wsl2-memory.
import { WSL } from '../hosts.ts'
import { engineFacts, gpuFacts, nvmlFacts, type CheckCase } from '../scene.ts'

const GIB = 2 ** 30
/** Of what it was given, the kernel keeps a little. */
const guest = (gib: number, wslconfig?: string) => ({
  ...WSL,
  '/proc/meminfo': `MemTotal:       ${Math.round(gib * 1024 * 1024 * 0.97)} kB\nMemFree:         1000 kB\nSwapTotal:       4194304 kB\n`,
  ...(wslconfig === undefined ? {} : { '/mnt/c/Users/someone/.wslconfig': wslconfig }),
})
const gpu = (gib: number) => nvmlFacts({ gpus: [gpuFacts({ values: { memory_total_bytes: gib * GIB } })] })

export const cases: readonly CheckCase[] = [
  { about: "WSL's default", scene: { files: guest(16), nvml: gpu(24) }, status: 'pass', says: /15\.5 GiB of memory \(WSL's default/ },
  { about: 'as it is written', scene: { files: guest(24, '[wsl2]\r\nmemory=24GB # of 32\r\nswap=8GB\r\n') }, status: 'pass', says: /as %UserProfile%/ },
  {
    about: 'several users of Windows',
    scene: { files: { ...guest(16, '[wsl2]\nmemory=8\n'), '/mnt/c/Users/other/.wslconfig': '' } },
    status: 'pass',
    says: /several users/,
  },
  { about: 'it was not restarted since', scene: { files: guest(8, '[wsl2]\nmemory=24GB\n') }, status: 'warn', says: /says memory=24GB, WSL has 7\.8 GiB/ },
  { about: 'bytes', scene: { files: guest(0.25, '[wsl2]\nmemory=8\n') }, status: 'warn', says: /means 8 bytes.*memory=8GB/ },
  { about: 'a unit that WSL refuses', scene: { files: guest(16, '[wsl2]\nmemory=24 gb\n') }, status: 'warn', says: /no space, no fraction.*memory=24GB/ },
  { about: 'in the wrong section', scene: { files: guest(16, 'memory=24GB\n') }, status: 'warn', says: /before any section/ },
  { about: 'in another section', scene: { files: guest(16, '[experimental]\nmemory=24GB\n') }, status: 'warn', says: /below \[experimental\]/ },
  {
    about: 'a hidden ending',
    scene: { files: { ...guest(16), '/mnt/c/Users/someone/.wslconfig.txt': '[wsl2]\nmemory=24GB\n' } },
    status: 'warn',
    says: /Rename-Item.*\.wslconfig\.txt/,
  },
  {
    about: 'a container may have more than there is',
    scene: { files: guest(16), engine: engineFacts(), containers: [{ name: 'trainer', memoryLimitBytes: 32 * GIB }] },
    status: 'warn',
    says: /"subject":"trainer".*32\.0 GiB.*memory=32GB/,
  },
  { about: 'a container within it', scene: { files: guest(16), engine: engineFacts(), containers: [{ memoryLimitBytes: 16 * GIB }] }, status: 'pass' },
  { about: 'a large GPU', scene: { files: guest(8), nvml: gpu(24) }, status: 'warn', says: /7\.8 GiB of memory for a GPU of 24\.0 GiB.*memory=24GB/ },
  { about: 'nothing tells how much there is', scene: { files: WSL }, status: 'skipped' },
  { about: 'no WSL', scene: { files: { '/proc/meminfo': 'MemTotal: 1000 kB\n' } }, status: 'skipped', says: /not WSL/ },
]
