// Finds a container's cgroup directories: by a process of it, or by walking the tree for names that hold a container's id.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { containerOfPath, parseCgroupLines } from '../../attribution/cgroup-path.ts'
import { readSmallFile } from '../../attribution/small-file.ts'

/** Directories of one container. With v2 there is one for all; with v1 one per controller, some of which may be missing. */
export type ContainerCgroup = {
  readonly version: 1 | 2
  readonly memory: string | undefined
  readonly cpu: string | undefined
  /** Where the CPU limit stands; with v1 the controller `cpu` may be mounted apart from `cpuacct`. */
  readonly cpuLimit?: string | undefined
  readonly pids: string | undefined
}
export type FoundContainer = { readonly id: string; readonly runtime?: string; readonly path: string }

export type CgroupHierarchy = {
  readonly version: 1 | 2
  /** The cgroup of the container that the process belongs to; undefined when its path does not lead to an existing directory. */
  readonly ofProcess: (pid: number, id: string) => ContainerCgroup | undefined
  /** The cgroup at a path that `walk` gave. */
  readonly at: (path: string) => ContainerCgroup
  /** All directories named by a container's id, monitors left out. Costs about 20 µs for each directory that has others in it: for slow rates. */
  readonly walk: () => readonly FoundContainer[]
}

const MAX_DEPTH = 12
const MAX_DIRECTORIES = 5_000

/** Where a v1 controller is mounted: `cpu,cpuacct` has links of both names on most distributions, but not on all. */
function v1Mount(root: string, controller: string): string | undefined {
  const direct = join(root, controller)
  if (existsSync(join(direct, 'cgroup.procs'))) return direct
  try {
    const joined = readdirSync(root).find((name) => name.split(',').includes(controller))
    return joined === undefined ? undefined : join(root, joined)
  } catch {
    return undefined
  }
}

/** The path up to and with the component that names the container: engines put its processes into children (`…/container`, `…/init`). */
export function containerDirectoryOf(path: string, id: string): string | undefined {
  const at = path.lastIndexOf(id)
  if (at < 0) return undefined
  const end = path.indexOf('/', at)
  return end < 0 ? path : path.slice(0, end)
}

/** A path seen from a private cgroup namespace begins with `/..` and must never be joined to a mount. */
const isSafe = (path: string): boolean => path.startsWith('/') && !path.split('/').includes('..')

export function openCgroupHierarchy(cgroupRoot: string, procRoot: string): CgroupHierarchy {
  // Only the root of a v2 mount has this file; with hybrid mounts it is under `unified`, where no controller that we read lives.
  const version = existsSync(join(cgroupRoot, 'cgroup.controllers')) ? 2 : 1
  const mounts =
    version === 2
      ? undefined
      : { memory: v1Mount(cgroupRoot, 'memory'), cpu: v1Mount(cgroupRoot, 'cpuacct'), cpuLimit: v1Mount(cgroupRoot, 'cpu'), pids: v1Mount(cgroupRoot, 'pids') }
  const existing = (mount: string | undefined, path: string | undefined): string | undefined => {
    if (mount === undefined || path === undefined || path === '/' || !isSafe(path)) return undefined
    const directory = join(mount, path)
    return existsSync(join(directory, 'cgroup.procs')) ? directory : undefined
  }
  const same = (directory: string | undefined): ContainerCgroup => ({ version: 2, memory: directory, cpu: directory, cpuLimit: directory, pids: directory })

  return {
    version,
    ofProcess(pid, id) {
      let lines
      try {
        lines = parseCgroupLines(readSmallFile(`${procRoot}/${pid}/cgroup`))
      } catch {
        return undefined // the process has ended, or is hidden
      }
      const pathOf = (controller: string): string | undefined => {
        const path = lines.find(({ controllers }) => (controller === '' ? controllers.length === 0 : controllers.includes(controller)))?.path
        return path === undefined ? undefined : containerDirectoryOf(path, id)
      }
      if (mounts === undefined) {
        const directory = existing(cgroupRoot, pathOf(''))
        return directory === undefined ? undefined : same(directory)
      }
      const found = {
        memory: existing(mounts.memory, pathOf('memory')),
        cpu: existing(mounts.cpu, pathOf('cpuacct')),
        cpuLimit: existing(mounts.cpuLimit, pathOf('cpu')),
        pids: existing(mounts.pids, pathOf('pids')),
      }
      return found.memory === undefined && found.cpu === undefined && found.pids === undefined ? undefined : { version: 1, ...found }
    },
    at(path) {
      if (mounts === undefined) return same(existing(cgroupRoot, path))
      return {
        version: 1,
        memory: existing(mounts.memory, path),
        cpu: existing(mounts.cpu, path),
        cpuLimit: existing(mounts.cpuLimit, path),
        pids: existing(mounts.pids, path),
      }
    },
    walk() {
      const root = mounts === undefined ? cgroupRoot : (mounts.memory ?? mounts.cpu ?? mounts.pids)
      return root === undefined ? [] : walkTree(root)
    },
  }
}

/** A directory has a link from its name, one from itself, and one from each directory in it (kernfs, as most file systems; those that do not count say 1). */
const NO_DIRECTORIES = 2
const isLeaf = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.nlink === NO_DIRECTORIES

function walkTree(root: string): readonly FoundContainer[] {
  const found = new Map<string, FoundContainer>()
  let visited = 0
  const visit = (path: string, depth: number): void => {
    if (depth > MAX_DEPTH || ++visited > MAX_DIRECTORIES) return
    let entries
    try {
      // A container's own directory has some forty files and mostly no other directory.
      if (isLeaf(root + path)) return
      entries = readdirSync(root + path, { withFileTypes: true })
    } catch {
      return // removed meanwhile, or not ours to read
    }
    for (const entry of entries) {
      if (!entry.isDirectory()) continue
      const child = `${path}/${entry.name}`
      // Judged by its own name with what is before it, so that `/docker/<id>` shows its runtime.
      const container = /[0-9a-f]{64}/.test(entry.name) ? containerOfPath(child) : undefined
      if (container !== undefined && entry.name.includes(container.id)) found.set(container.id, { ...container, path: child })
      visit(child, depth + 1)
    }
  }
  visit('', 0)
  return [...found.values()]
}
