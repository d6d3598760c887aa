// A cgroup tree of plain files, as far as our readers look: v2 or v1, changed by the test as a kernel would.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type CgroupFiles = Readonly<Record<string, string>>

export const V2_FILES: CgroupFiles = {
  'cgroup.procs': '4242\n4243\n',
  'cgroup.events': 'populated 1\nfrozen 0\n',
  'cpu.stat': 'usage_usec 2500000\nuser_usec 2000000\nsystem_usec 500000\n',
  'cpu.max': '400000 100000\n',
  'memory.current': '10000\n',
  'memory.stat': 'anon 5000\nfile 4000\ninactive_anon 1\nactive_file 1000\ninactive_file 3000\n',
  'memory.max': '65536\n',
  'memory.events': 'low 0\nhigh 0\nmax 36\noom 4\noom_kill 3\noom_group_kill 0\n',
  'pids.current': '2\n',
  'cpu.pressure': 'some avg10=0.00 avg60=0.00 avg300=0.00 total=1500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n',
  'memory.pressure': 'some avg10=0.00 avg60=0.00 avg300=0.00 total=2000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\n',
  'io.pressure': 'some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n',
}
export const V1_FILES: Readonly<Record<string, CgroupFiles>> = {
  memory: {
    'cgroup.procs': '4242\n',
    'memory.usage_in_bytes': '10000\n',
    'memory.stat': 'cache 4000\ninactive_file 1\ntotal_cache 4000\ntotal_inactive_file 3000\n',
    'memory.limit_in_bytes': '9223372036854771712\n',
    'memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 3\n',
  },
  cpu: { 'cgroup.procs': '4242\n', 'cpu.cfs_quota_us': '150000\n', 'cpu.cfs_period_us': '100000\n' },
  cpuacct: { 'cgroup.procs': '4242\n', 'cpuacct.usage': '2500000000\n', 'cpuacct.stat': 'user 200\nsystem 50\n' },
  pids: { 'cgroup.procs': '4242\n', 'pids.current': '2\n' },
}

export function createCgroupTree(version: 1 | 2) {
  const base = mkdtempSync(join(tmpdir(), 'warpwatch-cgroup-'))
  const root = join(base, 'cgroup')
  const proc = join(base, 'proc')
  const write = (path: string, files: CgroupFiles): void => {
    mkdirSync(join(root, path), { recursive: true })
    for (const [name, text] of Object.entries(files)) writeFileSync(join(root, path, name), text)
  }
  mkdirSync(proc, { recursive: true })
  if (version === 2) write('', { 'cgroup.controllers': 'cpu memory pids\n', 'cgroup.procs': '1\n' })
  else for (const controller of Object.keys(V1_FILES)) write(controller, { 'cgroup.procs': '1\n' })
  return {
    root,
    proc,
    write,
    /** Adds a container at a path, in every controller. */
    add: (path: string, files: CgroupFiles = V2_FILES): void => {
      if (version === 2) write(path, files)
      else for (const [controller, own] of Object.entries(V1_FILES)) write(join(controller, path), own)
    },
    /** Removes a cgroup as its end does. A plain file that is open goes on to be readable, unlike the kernel's, so readers must not have it open. */
    remove: (path: string): void => {
      for (const place of version === 2 ? [path] : Object.keys(V1_FILES).map((controller) => join(controller, path))) {
        rmSync(join(root, place), { recursive: true, force: true })
      }
    },
    process: (pid: number, cgroup: string, comm?: string): void => {
      mkdirSync(join(proc, String(pid)), { recursive: true })
      writeFileSync(join(proc, String(pid), 'cgroup'), cgroup)
      if (comm !== undefined) writeFileSync(join(proc, String(pid), 'comm'), comm)
    },
    close: () => rmSync(base, { recursive: true, force: true }),
  }
}
