// The driver's libraries and its loaded kernel module are of one version: after an update they are not, until a reboot.
import { defineCheck } from '../../definition.ts'
import { installedLibraries, loadedModule } from '../../parts/driver-files.ts'
import { skipped } from '../../parts/nvidia-pci.ts'

export const driverLibraryMatch = defineCheck({
  id: 'driver-library-match',
  group: 'host',
  title: "the driver's libraries and its loaded kernel module are of one version",
  covers: ['nvml_driver_mismatch'],
  async run({ files, config, distribution }) {
    const { wsl, family } = await distribution()
    if (wsl !== 0) return skipped('WSL: library and driver bear different versions by design')
    const loaded = await loadedModule(files)
    if (loaded === undefined) return skipped('no kernel module nvidia is loaded')
    const libraries = await installedLibraries(files, config.gpu.library)
    const [[path, version] = []] = libraries
    if (path === undefined || version === undefined) return skipped('no libnvidia-ml whose file name contains its version')
    if ([...libraries.values()].includes(loaded.version)) return [{ status: 'pass', summary: `libraries and kernel module are both ${loaded.version}` }]
    const hold = family === 'debian' || family === 'ubuntu'
    return [
      {
        status: 'fail',
        summary: `expected one version, the loaded kernel module is ${loaded.version} and ${path} is ${version}: nothing new can use the GPUs`,
        detail:
          'The packages were updated and the old module is still loaded. What runs goes on; new programs and containers fail with "Driver/library version mismatch".',
        remedies: [
          { text: 'Best: drain the machine and reboot.', command: 'sudo reboot' },
          {
            text: 'Without a reboot: stop all that uses the GPUs (the first command shows it), then exchange the module.',
            command:
              'sudo fuser -v /dev/nvidia*\nsudo systemctl stop nvidia-persistenced nvidia-fabricmanager\nsudo rmmod nvidia_uvm nvidia_drm nvidia_modeset nvidia && sudo modprobe nvidia && nvidia-smi',
          },
          { text: 'With CDI, regenerate the specification afterwards.', command: 'sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml' },
          ...(hold
            ? [
                {
                  text: 'Keep unattended updates away from the driver from now on.',
                  command: "sudo apt-mark hold $(dpkg-query -W -f '${Package}\\n' '*nvidia*' | tr '\\n' ' ')",
                },
              ]
            : []),
        ],
      },
    ]
  },
})
