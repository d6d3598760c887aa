// The keys that Compose takes: it refuses a whole file for one that it does not know.
import { nearest } from '../../lib/nearest.ts'
import { at, entriesOf, kindOf, type Part, type Problem } from './part.ts'

const words = (text: string): readonly string[] => text.trim().split(/\s+/)
/** Of the Compose Specification's schema (compose-spec.json, 2026). */
const TOP = words('version name include services models networks volumes secrets configs')
const SERVICE = words(`
  annotations attach blkio_config build cap_add cap_drop cgroup cgroup_parent command configs container_name cpu_count cpu_percent cpu_period cpu_quota
  cpu_rt_period cpu_rt_runtime cpu_shares cpus cpuset credential_spec depends_on deploy develop device_cgroup_rules devices dns dns_opt dns_search domainname
  entrypoint env_file environment expose extends external_links extra_hosts gpus group_add healthcheck hostname image init ipc isolation label_file labels links
  logging mac_address mem_limit mem_reservation mem_swappiness memswap_limit models network_mode networks oom_kill_disable oom_score_adj pid pids_limit
  platform ports post_start pre_stop privileged profiles provider pull_policy pull_refresh_after read_only restart runtime scale secrets security_opt shm_size
  stdin_open stop_grace_period stop_signal storage_opt sysctls tmpfs tty ulimits use_api_socket user userns_mode uts volumes volumes_from working_dir`)
/** What people write at the wrong place, and where it belongs. */
const BELONGS: Readonly<Record<string, string>> = {
  resources: 'deploy.resources',
  reservations: 'deploy.resources.reservations',
  limits: 'deploy.resources.limits',
  replicas: 'deploy.replicas',
  gpu: 'gpus',
  capabilities: 'deploy.resources.reservations.devices',
  memory: 'mem_limit',
}

function unknown(part: Part, known: readonly string[], where: string): readonly Problem[] {
  return [...entriesOf(part)].flatMap(([key, own]) => {
    if (known.includes(key) || key.startsWith('x-')) return []
    const belongs = where === 'of a service' && Object.hasOwn(BELONGS, key) ? BELONGS[key] : undefined
    const meant = belongs ?? nearest(key, known) ?? ''
    return [
      {
        status: 'fail' as const,
        file: own.file,
        line: own.line,
        message: `${JSON.stringify(key.slice(0, 60))} is no key ${where}: Compose refuses the whole file`,
        remedy: `Write ${meant} if that is meant, or take the line out (keys that begin with x- are left to you).`,
      },
    ]
  })
}

/** Of one file as it is written. */
export function keyProblems(root: Part): readonly Problem[] {
  const services = at(root, 'services')
  const old = services === undefined && [...entriesOf(root).values()].some((part) => at(part, 'image') !== undefined || at(part, 'build') !== undefined)
  if (old) {
    return [
      {
        status: 'fail',
        file: root.file,
        line: root.line,
        message: 'services are at the top level, the format of Compose files before 2016: they must be below the key services',
        remedy: 'Write `services:` as the first line and indent all that follows by two spaces.',
      },
    ]
  }
  const wrong = (part: Part, expected: string): Problem => ({
    status: 'fail',
    file: part.file,
    line: part.line,
    message: `must be ${expected}, not ${kindOf(part)}`,
    remedy: 'Indent what belongs to it by two more spaces, or take the line out.',
  })
  const isEmpty = services?.kind === 'scalar' && services.value === null
  return [
    ...unknown(root, TOP, 'at the top of a compose file'),
    ...(services === undefined || services.kind === 'map' || isEmpty ? [] : [wrong(services, 'services as a map by their names')]),
    ...[...entriesOf(services)].flatMap(([name, part]) => {
      if (part.tag === 'reset') return []
      return part.kind === 'map' ? unknown(part, SERVICE, 'of a service') : [wrong(part, `the settings of the service ${name} as a map`)]
    }),
  ]
}
