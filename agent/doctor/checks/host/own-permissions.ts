// Warpwatch, started as the user who runs this, can read what it needs; what it cannot is named with what that would add.
import { dirname } from 'node:path'
import { seesAllProcesses } from '../../../attribution/host-pids.ts'
import { EngineError } from '../../../sources/containers/engine-error.ts'
import { defineCheck, type Finding, type Surroundings } from '../../definition.ts'
import { skipped } from '../../parts/nvidia-pci.ts'

const AS_ROOT = { text: 'Run it as root, as the unit and the container image of Warpwatch do.', command: 'sudo systemctl enable --now warpwatch' } as const
const UNTRUSTED = {
  text: 'It runs as root without the right to trace others: give the unit or the container CAP_SYS_PTRACE.',
  command: 'docker run --pid=host --cap-add SYS_PTRACE …',
} as const
const missing = (subject: string, summary: string, remedy: { readonly text: string; readonly command?: string } = AS_ROOT): Finding => ({
  status: 'warn',
  subject,
  summary,
  remedies: [remedy],
})
const well = (subject: string, summary: string): Finding => ({ status: 'pass', subject, summary })

async function kernelLog({ files, uid, distribution }: Surroundings): Promise<Finding | undefined> {
  const { wsl, inContainer } = await distribution()
  if (wsl !== 0) return undefined
  const can = await files.openable('/dev/kmsg')
  if (can === true) return well('kernel log', '/dev/kmsg can be read')
  if (can === undefined)
    return inContainer
      ? missing('kernel log', 'the container has no /dev/kmsg: Xids and kills by the kernel are not reported', {
          text: 'Give it to the container.',
          command: 'docker run --device /dev/kmsg --cap-add SYSLOG …',
        })
      : undefined
  return missing('kernel log', `uid ${uid} may not read /dev/kmsg: Xids and kills by the kernel are not reported`, {
    text: 'Run it as root, or give the unit the capability CAP_SYSLOG.',
    command: 'sudo systemctl edit warpwatch   # [Service] AmbientCapabilities=CAP_SYSLOG',
  })
}

async function engineSocket({ engine }: Surroundings): Promise<Finding | undefined> {
  try {
    const facts = await engine()
    return facts === undefined ? undefined : well('container engine', `${facts.kind} ${facts.version} answers on ${facts.socketPath}`)
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    if (error.reason === 'no_permission')
      return missing('container engine', `${error.message}; without it containers have no names, images, limits and logs`, {
        text: "Run it as root, or in the group that owns the socket (which has root's rights by it).",
        command: 'sudo usermod -aG docker warpwatch && sudo systemctl restart warpwatch',
      })
    return missing('container engine', `${error.message}; without it containers have no names, images, limits and logs`, {
      text: 'Start the engine, or set containers.engines in warpwatch.yaml to its socket, or to [] where there is none.',
      command: 'sudo systemctl enable --now docker',
    })
  }
}

async function processes({ files, config, uid }: Surroundings): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  if (files.root === '/' && seesAllProcesses(config.host.proc_root) === false)
    findings.push(
      missing('processes', 'it sees the processes of its own container only: which processes hold GPU memory is not reported', {
        text: 'Start it in the pid namespace of the host.',
        command: 'docker run --pid=host <IMAGE>',
      }),
    )
  const root = await files.readlink(`${config.host.proc_root}/1/root`).then(
    () => true,
    () => false,
  )
  findings.push(
    root
      ? well('processes', "other users' processes can be looked into")
      : missing('processes', "other users' processes cannot be looked into: their containers' files and probes are not seen", uid === 0 ? UNTRUSTED : AS_ROOT),
  )
  return findings
}

async function places({ files, config }: Surroundings): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  const write = await files.writable(config.data_dir)
  const above = write === undefined ? await files.writable(dirname(config.data_dir)) : write
  if (above === false)
    findings.push(
      missing('data_dir', `${config.data_dir} cannot be written: history and incidents would be lost at each restart`, {
        text: 'Give it to the user that runs Warpwatch, or choose another data_dir.',
        command: `sudo install -d -o "$USER" ${config.data_dir}`,
      }),
    )
  else if (write === true) findings.push(well('data_dir', `${config.data_dir} can be written`))
  const cgroups = await files.list(config.containers.cgroup_root).then(
    (names) => names !== undefined && names.length > 0,
    () => false,
  )
  if (cgroups) findings.push(well('cgroups', `${config.containers.cgroup_root} can be read`))
  else if (config.containers.enabled)
    findings.push(
      missing('cgroups', `${config.containers.cgroup_root} is not there: CPU, memory and kills of containers are not reported`, {
        text: 'In a container: give it the cgroups of the host.',
        command: 'docker run --cgroupns=host -v /sys/fs/cgroup:/sys/fs/cgroup:ro …',
      }),
    )
  return findings
}

export const ownPermissions = defineCheck({
  id: 'own-permissions',
  group: 'warpwatch',
  title: 'Warpwatch can read what it needs',
  covers: ['telemetry_stale'],
  async run(around) {
    if (around.config.simulate.scenario !== 'off') return skipped('a simulated host needs nothing')
    const findings = await Promise.all([kernelLog(around), engineSocket(around), processes(around), places(around)])
    return findings.flat().filter((finding) => finding !== undefined)
  },
})
