// Will `systemctl daemon-reload` take the GPUs from running containers (`Failed to initialize NVML: Unknown Error`)?
import { defineCheck } from '../../definition.ts'
import { cdiNames } from '../../parts/cdi.ts'
import type { DoctorContainer } from '../../parts/containers.ts'
import { findToolkit, olderThan, readToolkitConfig, toolkitMatters } from '../../parts/toolkit-files.ts'

/** Devices that the engine itself was given are in systemd's rules too. */
const known = (container: DoctorContainer): boolean =>
  container.privileged || cdiNames(container).length > 0 || container.wish.devicePaths.some((path) => path.startsWith('/dev/nvidiactl'))

export const daemonReload = defineCheck({
  id: 'daemon-reload',
  group: 'toolkit',
  title: 'containers keep their GPUs when systemd is reloaded',
  covers: ['nvml_unknown_error', 'container_lost_gpu'],
  async run(around) {
    const ready = await toolkitMatters(around)
    if (typeof ready === 'string') return [{ status: 'skipped', summary: ready }]
    const { engine, distribution } = ready
    if (distribution.wsl !== 0) return [{ status: 'skipped', summary: 'under WSL2 there are no device nodes of GPUs that could be taken away' }]
    if (engine.kind === 'podman') return [{ status: 'pass', summary: 'Podman itself knows the devices that it gives by CDI' }]
    if (engine.cgroupDriver === undefined) return [{ status: 'skipped', summary: 'the engine does not report its cgroup driver' }]
    if (engine.cgroupDriver !== 'systemd')
      return [{ status: 'pass', summary: `the cgroup driver is ${engine.cgroupDriver}: systemd does not write its device rules` }]
    // By these links systemd finds the devices when it writes its rules again (195:255 is nvidiactl).
    if (await around.files.exists('/dev/char/195:255')) return [{ status: 'pass', summary: 'the links in /dev/char by which systemd finds the GPUs are there' }]
    const asking = (await around.containers()).filter(({ wantsGpu }) => wantsGpu === 'asked')
    if (asking.length === 0) return [{ status: 'skipped', summary: 'no container asks for a GPU' }]
    const mode = (await readToolkitConfig(around.files).catch(() => undefined))?.get('nvidia-container-runtime.mode') ?? 'auto'
    const version = (await findToolkit(around))?.version
    const byCdi = mode === 'cdi' || mode === 'jit-cdi' || (mode === 'auto' && version !== undefined && !olderThan(version, [1, 18, 0]))
    const threatened = asking.filter((container) => !known(container) && !(byCdi && container.runtime === 'nvidia'))
    if (threatened.length === 0) return [{ status: 'pass', summary: 'the engine itself knows the devices of every container that asks for a GPU' }]
    return [
      {
        status: 'warn',
        summary: `${threatened.map(({ name }) => name).join(', ')}: the cgroup driver is systemd, which does not know devices that the toolkit added: a daemon-reload (package updates do it) takes them away`,
        remedies: [
          {
            text: 'Create the links in /dev/char by which systemd finds the devices. Running containers need no restart. Do it at each boot: by a unit, or a udev rule.',
            command: 'sudo nvidia-ctk system create-dev-char-symlinks --create-all',
          },
          {
            text: 'Or give GPUs by CDI: then Docker itself knows the devices. Write the specification, then create the containers again with --device nvidia.com/gpu=all in place of --gpus all.',
            command: 'sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml',
          },
        ],
      },
    ]
  },
})
