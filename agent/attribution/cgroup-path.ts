// Where a process lives, by the text of its /proc/PID/cgroup. Pure; knows the path shapes of Docker, containerd, CRI-O, Podman, Kubernetes, Slurm, LXC, systemd.

export type CgroupPlace = {
  /** Full 64-hex id; the innermost one where containers nest. */
  readonly containerId?: string
  /** By the prefix of the path: docker, containerd, cri-o, podman, nerdctl; lxc, nspawn and qemu name machines instead of ids. */
  readonly runtime?: string
  /** With dashes, as the Kubernetes API writes it; static pods have 32 hex without dashes. */
  readonly podUid?: string
  readonly slurmJob?: string
  /** `0`, `batch`, `interactive`, `extern`. */
  readonly slurmStep?: string
  /** Name of an LXC container, a systemd-nspawn machine or a libvirt guest. */
  readonly machine?: string
  /** systemd service, as systemctl writes it. */
  readonly unit?: string
  /** Login session of a user: `session-3.scope`. */
  readonly session?: string
}

export type CgroupPath = { readonly controllers: readonly string[]; readonly path: string }

const RUNTIMES: Readonly<Record<string, string>> = {
  docker: 'docker',
  'cri-containerd': 'containerd',
  crio: 'cri-o',
  libpod: 'podman',
  nerdctl: 'nerdctl',
}
const SLURM = /\/(?:[^/]*_)?slurm(?:stepd\.scope|_[^/]+)?(?:\/uid_\d+)?\/job_(\d+)(?:\/step_([^/]+))?/
/** Seen from another pod's private namespace, `kubepods` is above what both share, and `/../` is in its place (kubelets with the cgroupfs driver). */
const POD = /(?:kubepods[^:]*?|\/\.\.\/(?:besteffort\/|burstable\/)?)pod([0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}|[0-9a-f]{32})/
const LXC = /\/lxc(?:\.payload[./]|\/)([^/]+)/
const NSPAWN = /systemd-nspawn@([^/]+)\.service/
const QEMU = /machine-qemu\\x2d\d+\\x2d([^/]+)\.scope/
const SERVICE = /\/([^/]+\.service)(?=\/|$)/g
const SESSION = /user-\d+\.slice\/(session-[^./]+\.scope)/
/** Group 2 marks a monitor (conmon): a helper on the host beside its container, not in it. */
const CONTAINER = /(?:(docker|cri-containerd|crio|libpod|nerdctl)[-/:])?(conmon-)?(?<![0-9a-f])([0-9a-f]{64})(?=\.scope|\/|$)/g

/** `a\x2db` → `a-b`, as systemd unescapes unit names. */
function unescapeUnit(name: string): string {
  return name.replace(/\\x([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** Characters: the kernel's paths end at 4,096. */
const LONGEST = 5_000

/** Lines `number:controllers:path`; what does not look so is skipped. `controllers` of the v2 line is empty. */
export function parseCgroupLines(text: string): readonly CgroupPath[] {
  const found: CgroupPath[] = []
  for (const line of text.split('\n')) {
    if (line.length > LONGEST) continue
    const match = /^\d+:([^:]*):(\/.*)$/.exec(line)
    if (match?.[1] === undefined || match[2] === undefined) continue
    found.push({ controllers: match[1] === '' ? [] : match[1].split(','), path: match[2] })
  }
  return found
}

/** The last container id of a path that is not a monitor's. */
export function containerOfPath(path: string): { readonly id: string; readonly runtime?: string } | undefined {
  let last: { id: string; runtime?: string } | undefined
  for (const [, prefix, monitor, id] of path.matchAll(CONTAINER)) {
    if (monitor !== undefined || id === undefined) continue
    const runtime = prefix === undefined ? undefined : RUNTIMES[prefix]
    last = runtime === undefined ? { id } : { id, runtime }
  }
  return last
}

/** With hybrid hierarchies the memory line says most and the `0::` line least (Docker leaves an empty directory there). */
function byTrust(paths: readonly CgroupPath[]): readonly string[] {
  const rank = ({ controllers }: CgroupPath): number =>
    controllers.includes('memory') ? 0 : controllers.includes('name=systemd') ? 1 : controllers.length > 0 ? 2 : 3
  const sorted = [...paths].sort((a, b) => rank(a) - rank(b)).map(({ path }) => path)
  return [...new Set(sorted)]
}

function first<T>(paths: readonly string[], find: (path: string) => T | undefined): T | undefined {
  for (const path of paths) {
    const found = find(path)
    if (found !== undefined) return found
  }
  return undefined
}

/** The last service of a path that is not a user's service manager: `user@1000.service` holds everything that the user runs. */
function serviceOfPath(path: string): string | undefined {
  let last: string | undefined
  for (const [, name] of path.matchAll(SERVICE)) if (name !== undefined && !/^user@\d+\.service$/.test(name)) last = name
  return last
}

/** A container inside a Slurm job has both; a unit or session is named only where neither container nor machine nor job is. */
export function parseCgroup(text: string): CgroupPlace {
  const paths = byTrust(parseCgroupLines(text))
  const place: { -readonly [Key in keyof CgroupPlace]: CgroupPlace[Key] } = {}
  const slurm = first(paths, (path) => SLURM.exec(path) ?? undefined)
  if (slurm?.[1] !== undefined) {
    place.slurmJob = slurm[1]
    if (slurm[2] !== undefined) place.slurmStep = slurm[2]
  }
  const pod = first(paths, (path) => POD.exec(path)?.[1])
  if (pod !== undefined) place.podUid = pod.replaceAll('_', '-')
  const container = first(paths, containerOfPath)
  if (container !== undefined) {
    place.containerId = container.id
    if (container.runtime !== undefined) place.runtime = container.runtime
  }
  if (place.slurmJob !== undefined || pod !== undefined || container !== undefined) return place
  for (const [runtime, pattern] of [
    ['lxc', LXC],
    ['nspawn', NSPAWN],
    ['qemu', QEMU],
  ] as const) {
    const machine = first(paths, (path) => pattern.exec(path)?.[1])
    if (machine !== undefined) return { runtime, machine: unescapeUnit(machine) }
  }
  const unit = first(paths, serviceOfPath)
  if (unit !== undefined) return { unit }
  const session = first(paths, (path) => SESSION.exec(path)?.[1])
  return session === undefined ? {} : { session }
}

const MOUNTS = [
  { pattern: /\/docker\/containers\/([0-9a-f]{64})\/(?:hostname|hosts|resolv\.conf)/, runtime: 'docker' },
  { pattern: /\/containers\/storage\/overlay-containers\/([0-9a-f]{64})\//, runtime: 'podman' },
] as const
const POD_MOUNT = /\/kubelet\/pods\/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32})\//

/** Fall-back where the cgroup path says nothing (`0::/`): /proc/PID/mountinfo shows the files that an engine mounts into its containers. */
export function parseMountinfo(text: string): CgroupPlace {
  const podUid = POD_MOUNT.exec(text)?.[1]
  const pod = podUid === undefined ? {} : { podUid }
  for (const { pattern, runtime } of MOUNTS) {
    const containerId = pattern.exec(text)?.[1]
    if (containerId !== undefined) return { containerId, runtime, ...pod }
  }
  return pod
}
