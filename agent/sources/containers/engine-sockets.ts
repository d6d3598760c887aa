// Where container engines listen, and which of those paths are sockets now.
import { readdirSync, statSync } from 'node:fs'

/** Docker, rootless Docker, Podman, and Podman of single users; DOCKER_HOST first, since someone chose it. */
export function candidateSockets(env: Readonly<Record<string, string | undefined>> = process.env): readonly string[] {
  const candidates: string[] = []
  const host = env['DOCKER_HOST']
  if (host?.startsWith('unix://') === true) candidates.push(host.slice('unix://'.length))
  candidates.push('/var/run/docker.sock', '/run/podman/podman.sock')
  const runtimeDirectory = env['XDG_RUNTIME_DIR']
  if (runtimeDirectory !== undefined && runtimeDirectory !== '') candidates.push(`${runtimeDirectory}/docker.sock`, `${runtimeDirectory}/podman/podman.sock`)
  try {
    for (const uid of readdirSync('/run/user')) candidates.push(`/run/user/${uid}/docker.sock`, `/run/user/${uid}/podman/podman.sock`)
  } catch {
    // No sessions of users on this host.
  }
  return [...new Set(candidates)]
}

/** Identity of the socket behind a path: links and bind mounts of one socket (podman-docker makes docker.sock a link) are one engine. */
export function socketIdentity(path: string): string | undefined {
  try {
    const stat = statSync(path)
    return stat.isSocket() ? `${stat.dev}:${stat.ino}` : undefined
  } catch {
    return undefined
  }
}
