// Cases of the check toolkit-settings.
import { engineFacts, type CheckCase } from '../scene.ts'
import { DRIVER, TOOLKIT } from '../../../fakes/doctor/container-host.ts'

const engine = engineFacts()
const rootless = engineFacts({ rootless: true })
/** As `nvidia-ctk config` writes it, shortened. */
const config = (own: { readonly noCgroups?: boolean; readonly mode?: string; readonly ldconfig?: string; readonly head?: string }) => ({
  ...DRIVER,
  '/sbin/ldconfig': '',
  '/etc/nvidia-container-runtime/config.toml': `${own.head ?? '#accept-nvidia-visible-devices-envvar-when-unprivileged = true'}
disable-require = false
supported-driver-capabilities = "compat32,compute,display,graphics,ngx,utility,video"

[nvidia-container-cli]
environment = []
ldconfig = "${own.ldconfig ?? '@/sbin/ldconfig'}"
load-kmods = true
${own.noCgroups === true ? '' : '#'}no-cgroups = true

[nvidia-container-runtime]
mode = "${own.mode ?? 'auto'}"
runtimes = ["runc", "crun"]
`,
})
const byVariable = { wish: { requests: [], devicePaths: [], privileged: false, runtime: 'nvidia', visibleDevices: 'all' }, runtime: 'nvidia' }

export const cases: readonly CheckCase[] = [
  { about: 'as it comes', scene: { engine, files: config({}), programs: TOOLKIT }, status: 'pass', says: /mode auto/ },
  {
    about: 'no-cgroups with an ordinary engine',
    scene: { engine, files: config({ noCgroups: true }), programs: TOOLKIT, containers: [{}] },
    status: 'fail',
    says: /Unknown Error.*no-cgroups=false/,
  },
  { about: 'no-cgroups, nobody asks', scene: { engine, files: config({ noCgroups: true }), programs: TOOLKIT }, status: 'warn' },
  { about: 'no-cgroups with a rootless one', scene: { engine: rootless, files: config({ noCgroups: true }), programs: TOOLKIT }, status: 'pass' },
  { about: 'a rootless one without it', scene: { engine: rootless, files: config({}), programs: TOOLKIT }, status: 'fail', says: /no-cgroups=true/ },
  {
    about: 'CDI leaves cgroups to the engine',
    scene: { engine, files: config({ noCgroups: true, mode: 'cdi' }), programs: TOOLKIT, containers: [{}] },
    status: 'pass',
  },
  {
    about: "another distribution's ldconfig",
    scene: { engine, files: config({ ldconfig: '@/sbin/ldconfig.real' }), programs: TOOLKIT },
    status: 'fail',
    says: /ldconfig=@\/sbin\/ldconfig/,
  },
  { about: 'a mode that there is not', scene: { engine, files: config({ mode: 'leagcy' }), programs: TOOLKIT }, status: 'fail', says: /not .*leagcy/ },
  {
    about: 'the variable is ignored',
    scene: { engine, files: config({ head: 'accept-nvidia-visible-devices-envvar-when-unprivileged = false' }), programs: TOOLKIT, containers: [byVariable] },
    status: 'fail',
    says: /trainer: asks by NVIDIA_VISIBLE_DEVICES/,
  },
  { about: 'no file', scene: { engine, files: DRIVER, programs: TOOLKIT }, status: 'skipped', says: /defaults/ },
]
