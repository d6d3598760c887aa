// Does /etc/nvidia-container-runtime/config.toml fit this host: mode, cgroups, rootless engines, the loader's program?
import { defineCheck, type Finding } from '../../definition.ts'
import { findToolkit, olderThan, readToolkitConfig, TOOLKIT_CONFIG, toolkitMatters } from '../../parts/toolkit-files.ts'

/** Of nvidia-container-runtime.mode (internal/modifier/factory.go of 1.20); jit-cdi since 1.18, where `auto` takes it (nvidia-container-toolkit#1224). */
const MODES = ['auto', 'legacy', 'csv', 'cdi', 'jit-cdi']
const setting = (name: string, value: string): string => `sudo nvidia-ctk config --in-place --set ${name}=${value}`

export const toolkitSettings = defineCheck({
  id: 'toolkit-settings',
  group: 'toolkit',
  title: "the container toolkit's own settings fit this host",
  covers: ['nvml_unknown_error', 'gpu_not_visible'],
  async run(around) {
    const ready = await toolkitMatters(around)
    if (typeof ready === 'string') return [{ status: 'skipped', summary: ready }]
    const config = await readToolkitConfig(around.files)
    if (config === undefined) return [{ status: 'skipped', summary: `there is no ${TOOLKIT_CONFIG}: the toolkit goes by its defaults` }]
    const { engine } = ready
    const version = (await findToolkit(around))?.version
    const wanting = (await around.containers().catch(() => [])).filter(({ wantsGpu }) => wantsGpu === 'asked')
    const found: Finding[] = []
    const complain = (status: 'warn' | 'fail', summary: string, text: string, command: string): void =>
      void found.push({ status, summary, remedies: [{ text, command }] })

    const mode = config.get('nvidia-container-runtime.mode') ?? 'auto'
    if (!MODES.includes(mode)) {
      complain('fail', `mode must be one of ${MODES.join(', ')}, not "${mode}"`, 'Let the toolkit choose.', setting('nvidia-container-runtime.mode', 'auto'))
    }
    // From 1.18 on `auto` is CDI made on the spot, which leaves cgroups to the engine.
    const legacy = mode === 'legacy' || (mode === 'auto' && (version === undefined || olderThan(version, [1, 18, 0])))
    const noCgroups = config.get('nvidia-container-cli.no-cgroups') === 'true'
    if (legacy && noCgroups && !engine.rootless) {
      const bare = wanting.filter(({ wish, privileged }) => !privileged && !wish.devicePaths.some((path) => path.includes('nvidia')))
      complain(
        bare.length > 0 ? 'fail' : 'warn',
        'no-cgroups = true is for rootless engines: containers see the GPU and may not open it (Failed to initialize NVML: Unknown Error)',
        'Set it to false, then restart the containers.',
        setting('nvidia-container-cli.no-cgroups', 'false'),
      )
    }
    if (legacy && !noCgroups && engine.rootless) {
      complain(
        'fail',
        'a rootless engine may not change device cgroups: expected no-cgroups = true',
        'Set it.',
        setting('nvidia-container-cli.no-cgroups', 'true'),
      )
    }
    // `@` means: of the host.
    const loader = config.get('nvidia-container-cli.ldconfig')
    if (loader?.startsWith('@') === true && !(await around.files.exists(loader.slice(1)))) {
      const right = (await around.files.exists('/sbin/ldconfig.real')) ? '@/sbin/ldconfig.real' : '@/sbin/ldconfig'
      complain(
        'fail',
        `ldconfig: ${loader.slice(1)} is not there: containers with a GPU do not start`,
        'Name the one of this distribution.',
        setting('nvidia-container-cli.ldconfig', right),
      )
    }
    const refused = config.get('accept-nvidia-visible-devices-envvar-when-unprivileged') === 'false'
    const byVariable = wanting.filter(({ wish, privileged }) => !privileged && wish.requests.length === 0 && wish.devicePaths.length === 0)
    if (refused && byVariable.length > 0) {
      const names = byVariable.map(({ name }) => name).join(', ')
      found.push({
        status: 'fail',
        summary: `${names}: asks by NVIDIA_VISIBLE_DEVICES, which the toolkit is set to ignore (accept-nvidia-visible-devices-envvar-when-unprivileged = false)`,
        remedies: [
          { text: 'Create the container again with --gpus all (compose: deploy.resources.reservations.devices) in place of the variable.' },
          {
            text: 'Or accept the variable from every container of this host.',
            command: setting('accept-nvidia-visible-devices-envvar-when-unprivileged', 'true'),
          },
        ],
      })
    }
    return found.length > 0 ? found : [{ status: 'pass', summary: `mode ${mode}${noCgroups ? ', without cgroups, as a rootless engine needs it' : ''}` }]
  },
})
