// Is there room on the drive of Windows on which WSL's virtual disk grows? Inside, that disk always looks like one of a terabyte.
import { GIB, diskText } from '../../../text/bytes.ts'
import { defineCheck } from '../../definition.ts'
import { skipped } from '../../parts/nvidia-pci.ts'
import { readWindows, wsl2Guest } from '../../parts/wsl-guest.ts'

/** As disk-space has it: an image with CUDA and PyTorch needs up to 20 GiB; Windows itself is in trouble below one. */
const [FULL, LOW, LOW_RATIO] = [GIB, 20 * GIB, 0.05]
export const wsl2Disk = defineCheck({
  id: 'wsl2-disk',
  group: 'wsl2',
  title: "there is space on Windows' drive for WSL's virtual disk to grow",
  covers: ['disk_full'],
  async run(around) {
    const where = await wsl2Guest(around)
    if ('skip' in where) return where.skip
    const { mounts } = await readWindows(around.files)
    const drive = `${mounts}c`
    const space = (await around.files.exists(drive).catch(() => false)) ? await around.files.space(drive) : undefined
    if (space === undefined || space.totalBytes === 0) return skipped(`drive C of Windows is not mounted on ${drive}`)
    const { availableBytes, totalBytes } = space
    const summary = `${diskText(availableBytes)} of ${diskText(totalBytes)} are free on drive C of Windows`
    if (availableBytes >= LOW || (availableBytes >= FULL && availableBytes >= totalBytes * LOW_RATIO)) return [{ status: 'pass', summary }]
    return [
      {
        status: availableBytes < FULL ? 'fail' : 'warn',
        summary: `${summary}; the disks of WSL (ext4.vhdx) grow there unless they were moved, whatever df says inside`,
        remedies: [
          {
            text: 'See how large they are, in PowerShell.',
            command:
              'Get-ChildItem $env:LOCALAPPDATA -Recurse -Filter *.vhdx -ErrorAction SilentlyContinue | Select-Object FullName, @{n="GB";e={[math]::Round($_.Length/1GB,1)}}',
          },
          { text: 'Free space inside: images, caches and models that nothing needs.', command: 'docker system prune; hf cache prune; pip cache purge' },
          {
            text: 'What is freed inside goes back to Windows only when the disk is made compact: in PowerShell as administrator, PATH as it was shown above.',
            command:
              'wsl --shutdown; "select vdisk file=`"PATH\\ext4.vhdx`"", "attach vdisk readonly", "compact vdisk", "detach vdisk" | Set-Content compact.txt; diskpart /s compact.txt',
          },
          {
            text: 'Or move the distribution to a larger drive, after a copy of it (wsl --export); older versions of WSL cannot, then export and import it.',
            command: 'wsl --shutdown; wsl --manage DISTRIBUTION --move D:\\WSL',
          },
        ],
      },
    ]
  },
})
