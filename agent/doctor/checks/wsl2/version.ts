// Is this WSL2, with a kernel that has GPUs?
import { defineCheck } from '../../definition.ts'
import { skipped } from '../../parts/nvidia-pci.ts'
import { RESTART_WSL } from '../../parts/wsl-guest.ts'

/** By NVIDIA's guide "CUDA on WSL": the first with GPUs, and the one that it recommends at least. */
const [FIRST, RECOMMENDED] = [
  [4, 19, 121],
  [5, 10, 16],
] as const
const UPDATE = [{ text: 'Update WSL and its kernel, in PowerShell.', command: 'wsl --update' }, RESTART_WSL]

function older(release: string, than: readonly number[]): boolean {
  const parts = release.split(/[.-]/).map(Number)
  const at = than.findIndex((wanted, index) => parts[index] !== wanted)
  return at >= 0 && (parts[at] ?? 0) < (than[at] ?? 0)
}

export const wsl2Version = defineCheck({
  id: 'wsl2-version',
  group: 'wsl2',
  title: 'this is WSL2, not WSL1, with a kernel that has GPUs',
  covers: ['gpu_not_visible'],
  async run({ distribution, env }) {
    const { wsl, kernel = '' } = await distribution()
    if (wsl === 0) return skipped('this is not WSL')
    if (wsl === 1) {
      const name = env['WSL_DISTRO_NAME'] ?? 'DISTRIBUTION'
      return [
        {
          status: 'fail',
          summary: `expected WSL2, this is WSL1 (kernel ${kernel}): it has no GPU and no container engine`,
          remedies: [
            { text: 'Convert this distribution, in PowerShell; its files stay (wsl --list shows its name).', command: `wsl --set-version ${name} 2` },
            { text: 'Let new ones be WSL2 too.', command: 'wsl --set-default-version 2' },
          ],
        },
      ]
    }
    if (older(kernel, FIRST))
      return [{ status: 'fail', summary: `expected a kernel of ${FIRST.join('.')} or newer, this is ${kernel}: it has no GPUs`, remedies: UPDATE }]
    if (older(kernel, RECOMMENDED))
      return [
        {
          status: 'warn',
          summary: `expected a kernel of ${RECOMMENDED.join('.')} or newer, as NVIDIA recommends for CUDA, this is ${kernel}`,
          remedies: UPDATE,
        },
      ]
    return [{ status: 'pass', summary: `WSL2 with the kernel ${kernel}` }]
  },
})
