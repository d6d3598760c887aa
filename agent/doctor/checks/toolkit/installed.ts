// Is the NVIDIA container toolkit installed, without which no engine gives a GPU to a container?
import { defineCheck } from '../../definition.ts'
import { findToolkit, installToolkit, olderThan, toolkitMatters } from '../../parts/toolkit-files.ts'

/** CVE-2025-23266: a container can take over the host; fixed in 1.17.8 (NVIDIA's bulletin 5659; microsoft/azurelinux#14382). */
const SAFE = [1, 17, 8] as const

export const toolkitInstalled = defineCheck({
  id: 'toolkit-installed',
  group: 'toolkit',
  title: 'the NVIDIA container toolkit is installed',
  covers: ['gpu_not_visible'],
  async run(around) {
    const ready = await toolkitMatters(around)
    if (typeof ready === 'string') return [{ status: 'skipped', summary: ready }]
    const toolkit = await findToolkit(around)
    const remedies = installToolkit(ready.distribution)
    if (toolkit === undefined) {
      // Operators and snaps keep its programs out of sight; that the engine knows its runtime proves it.
      if (ready.engine.runtimes.has('nvidia'))
        return [{ status: 'pass', summary: 'the engine has its runtime; where its programs are, and their version, cannot be seen' }]
      const wanting = (await around.containers().catch(() => [])).filter(({ wantsGpu }) => wantsGpu === 'asked').length
      const summary = `expected nvidia-ctk or nvidia-container-cli, found neither: ${ready.engine.kind === 'podman' ? 'Podman' : 'Docker'} cannot give GPUs to containers`
      // A host whose containers want no GPU does well without.
      return [{ status: wanting > 0 ? 'fail' : 'warn', summary, remedies }]
    }
    const { program, version } = toolkit
    if (version === undefined) return [{ status: 'pass', summary: `${program} is there; it does not report its version` }]
    if (!olderThan(version, SAFE)) return [{ status: 'pass', summary: `version ${version}` }]
    return [
      {
        status: 'warn',
        summary: `version ${version} has known holes by which a container can take over this host (CVE-2025-23266); expected ${SAFE.join('.')} or newer`,
        remedies,
      },
    ]
  },
})
