// The device files of the driver are there, so that programs and the container toolkit can open the GPUs.
import { defineCheck, type Finding } from '../../definition.ts'
import type { HostFiles } from '../../parts/host-files.ts'
import { loadedModule } from '../../parts/driver-files.ts'
import { skipped } from '../../parts/nvidia-pci.ts'

/** Numbers of /dev/nvidiaN, from `Device Minor: 0`. */
async function minors(files: HostFiles): Promise<readonly number[]> {
  const found: number[] = []
  for (const address of (await files.list('/proc/driver/nvidia/gpus')) ?? []) {
    const minor = /^Device Minor:\s*(\d+)/m.exec((await files.readText(`/proc/driver/nvidia/gpus/${address}/information`)) ?? '')?.[1]
    if (minor !== undefined) found.push(Number(minor))
  }
  return found.sort((a, b) => a - b)
}

/** With the set-user-id helper of the driver whoever first needs a node makes it. */
async function madeOnDemand(files: HostFiles): Promise<boolean> {
  for (const path of ['/usr/bin/nvidia-modprobe', '/usr/local/bin/nvidia-modprobe']) {
    const helper = await files.stat(path)
    if (helper !== undefined && helper.uid === 0 && (helper.mode & 0o4000) !== 0) return true
  }
  return false
}

export const devNodes = defineCheck({
  id: 'dev-nodes',
  group: 'host',
  title: "the driver's device files are there",
  covers: ['gpu_not_visible', 'nvml_unknown_error'],
  async run({ files, nvml, distribution }) {
    const { wsl, inContainer } = await distribution()
    if (wsl !== 0) return skipped('WSL has /dev/dxg instead, see the group wsl2')
    if ((await loadedModule(files)) === undefined) return skipped('no kernel module nvidia is loaded')
    if (inContainer) return skipped('this runs in a container, which has the device files that it was given')
    // Whoever asks NVML has the nodes made where that is the way: look afterwards.
    await nvml().catch(() => undefined)
    const onDemand = await madeOnDemand(files)
    const gpus = await minors(files)
    const wanted = ['nvidiactl', ...gpus.map((minor) => `nvidia${minor}`)]
    const findings: Finding[] = []
    const missing: string[] = []
    for (const name of wanted) {
      const node = await files.stat(`/dev/${name}`)
      if (node === undefined) missing.push(`/dev/${name}`)
      else if (node.kind !== 'character device')
        findings.push({
          status: 'fail',
          subject: `/dev/${name}`,
          summary: `must be a device file, not a ${node.kind}`,
          remedies: [
            {
              text: 'Take it away, and let the driver make the right one.',
              command: `sudo rm -r /dev/${name} && sudo nvidia-modprobe -c ${/\d+$/.exec(name)?.[0] ?? '255'}`,
            },
          ],
        })
    }
    if (missing.length > 0)
      findings.push({
        status: onDemand ? 'warn' : 'fail',
        summary: `expected ${missing.join(', ')}, found none`,
        remedies: [
          {
            text: 'Have them made now; nvidia-persistenced does so at each boot.',
            command: `sudo nvidia-modprobe ${['-c 255', ...gpus.map((minor) => `-c ${minor}`)].join(' ')} && ls -l /dev/nvidia*`,
          },
        ],
      })
    if (!onDemand && (await files.stat('/dev/nvidia-uvm')) === undefined)
      findings.push({
        status: 'warn',
        summary: 'there is no /dev/nvidia-uvm, and no helper that would make it: CUDA programs, and containers by CDI, will fail',
        remedies: [
          {
            text: 'Load the module for it and make the file; put this into a unit that runs at boot.',
            command: 'sudo nvidia-modprobe -u -c 0 && ls -l /dev/nvidia-uvm',
          },
        ],
      })
    return findings.length > 0 ? findings : [{ status: 'pass', summary: `/dev/nvidiactl and ${gpus.length} of /dev/nvidiaN are there` }]
  },
})
