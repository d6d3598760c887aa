// Where Docker Desktop is used: does this distribution reach its engine?
import { defineCheck } from '../../definition.ts'
import { skipped } from '../../parts/nvidia-pci.ts'
import { readWindows, RESTART_WSL, wsl2Guest } from '../../parts/wsl-guest.ts'

export const wsl2DockerDesktop = defineCheck({
  id: 'wsl2-docker-desktop',
  group: 'wsl2',
  title: 'this distribution reaches Docker Desktop, where that is used',
  covers: [],
  async run(around) {
    const where = await wsl2Guest(around)
    if ('skip' in where) return where.skip
    const { files } = around
    const engine = await around.engine()
    if (engine?.operatingSystem === 'Docker Desktop') return [{ status: 'pass', summary: `Docker Desktop answers (${engine.version})` }]
    const { mounts } = await readWindows(files)
    // All distributions share this folder; the socket comes only to those for which the integration is on.
    const runs = ((await files.list(`${mounts}wsl/docker-desktop`)) ?? []).length > 0
    if (engine !== undefined) {
      if (!runs) return skipped('this distribution runs an engine of its own')
      return [
        { status: 'pass', summary: `this distribution runs ${engine.kind} of its own beside Docker Desktop; containers of the one are not seen by the other` },
      ]
    }
    const link = (await files.readlink('/usr/bin/docker')) ?? (await files.readlink('/var/run/docker.sock')) ?? ''
    if (runs)
      return [
        {
          status: 'warn',
          summary: 'Docker Desktop runs, but not for this distribution: "The command docker could not be found in this WSL 2 distro"',
          remedies: [
            {
              text: 'In Docker Desktop open Settings, Resources, WSL integration; switch this distribution on; Apply & restart. Then look here:',
              command: 'docker info',
            },
            { text: 'If it is on already: log out and in again, for the group docker; or restart WSL, in PowerShell.', command: RESTART_WSL.command },
          ],
        },
      ]
    if (link.includes('docker-desktop'))
      return [
        {
          status: 'warn',
          summary: `docker is that of Docker Desktop (${link}), which does not run`,
          remedies: [
            {
              text: 'Start Docker Desktop in Windows (from PowerShell:), and let it start at log-in.',
              command: '& "$env:ProgramFiles\\Docker\\Docker\\Docker Desktop.exe"',
            },
          ],
        },
      ]
    return skipped('Docker Desktop is not used here, and no engine runs')
  },
})
