// Does SELinux keep containers from the GPU that they were given?
import { defineCheck } from '../../definition.ts'
import { toolkitMatters } from '../../parts/toolkit-files.ts'

const BOOLEANS = ['container_use_devices', 'container_use_xserver_devices'] as const
const LABEL = /^label[:=](disable|type:(nvidia_container_t|spc_t|container_runtime_t))$/

export const engineConfinement = defineCheck({
  id: 'engine-confinement',
  group: 'toolkit',
  title: 'SELinux lets containers open their GPUs',
  covers: ['nvml_unknown_error', 'gpu_not_visible'],
  async run(around) {
    const ready = await toolkitMatters(around)
    if (typeof ready === 'string') return [{ status: 'skipped', summary: ready }]
    const { engine } = ready
    const enforcing = (await around.files.readText('/sys/fs/selinux/enforce'))?.trim()
    if (enforcing !== '1') return [{ status: 'pass', summary: enforcing === undefined ? 'this host has no SELinux' : 'SELinux is permissive' }]
    // Podman confines wherever SELinux is on, Docker only when it is configured to (`selinux-enabled`).
    if (engine.kind === 'docker' && !engine.security.includes('selinux'))
      return [{ status: 'pass', summary: 'SELinux is enforcing, and Docker does not confine its containers by it' }]
    for (const name of BOOLEANS) {
      // `current pending`
      if ((await around.files.readText(`/sys/fs/selinux/booleans/${name}`))?.startsWith('1') === true)
        return [{ status: 'pass', summary: `SELinux allows it (${name})` }]
    }
    const asking = (await around.containers()).filter(({ wantsGpu }) => wantsGpu === 'asked')
    if (asking.length === 0) return [{ status: 'skipped', summary: 'no container asks for a GPU' }]
    const confined = asking.filter(({ privileged, securityOptions }) => !privileged && !securityOptions.some((option) => LABEL.test(option)))
    if (confined.length === 0) return [{ status: 'pass', summary: 'the containers that ask for a GPU are not confined by SELinux' }]
    return [
      {
        status: 'warn',
        summary: `${confined.map(({ name }) => name).join(', ')}: SELinux is enforcing and keeps containers from devices: NVML then says Insufficient Permissions or Unknown Error`,
        remedies: [
          { text: 'Let containers use devices that were given to them.', command: 'sudo setsebool -P container_use_devices=true' },
          { text: `Or create a container again without SELinux's confinement.`, command: `${engine.kind} run --security-opt label=disable …` },
          { text: 'See whether SELinux has refused something.', command: 'sudo ausearch -m avc -ts recent | grep -i nvidia' },
        ],
      },
    ]
  },
})
