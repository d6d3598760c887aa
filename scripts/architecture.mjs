// The processors that bundles, packages and images are made for, and where the compiled packages of another than this machine's come from.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** `debian`: as dpkg says it; `binutils`: prefix of its cross tools. */
export const ARCHITECTURES = {
  x64: { debian: 'amd64', machine: 'x86-64', binutils: 'x86_64-linux-gnu' },
  arm64: { debian: 'arm64', machine: 'arm64 (aarch64)', binutils: 'aarch64-linux-gnu' },
}

/** Of `--arch x64|arm64`, else this machine's. Throws on another. */
export function wantedArchitecture() {
  const at = process.argv.indexOf('--arch')
  const wanted = at > 0 ? process.argv[at + 1] : process.arch
  if (!Object.hasOwn(ARCHITECTURES, wanted ?? '')) throw new Error(`--arch: expected ${Object.keys(ARCHITECTURES).join(' or ')}, came ${wanted ?? 'nothing'}`)
  return wanted
}

/** Packages with compiled code that differ by processor; better-sqlite3 brings all of its own. */
const compiled = (arch) => [`node-linux-${arch}`, `@koromix/koffi-linux-${arch}`]

/**
 * The node_modules that hold the compiled packages of `arch`: our own, or for another processor a folder beside them, into which npm installs just
 * these with the versions and the integrity of package-lock.json.
 */
export function modulesFor(root, arch) {
  const own = join(root, 'node_modules')
  if (arch === process.arch) return own
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const entries = Object.fromEntries(
    compiled(arch).map((name) => {
      const { optional: _, dev: __, ...entry } = packages[`node_modules/${name}`]
      return [`node_modules/${name}`, entry]
    }),
  )
  const dependencies = Object.fromEntries(Object.entries(entries).map(([path, { version }]) => [path.replace('node_modules/', ''), version]))
  const folder = join(root, '.cache', arch)
  const lock = JSON.stringify({ lockfileVersion: 3, requires: true, packages: { '': { dependencies }, ...entries } })
  const there = join(folder, 'installed')
  const modules = join(folder, 'node_modules')
  if (existsSync(there) && readFileSync(there, 'utf8') === lock) return modules
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }))
  writeFileSync(join(folder, 'package-lock.json'), lock)
  // Older versions of npm know no --cpu: with --force they take what is not for this machine.
  const flags = [
    '--force',
    '--os=linux',
    `--cpu=${arch}`,
    '--libc=glibc',
    '--ignore-scripts',
    '--loglevel=error',
    '--no-audit',
    '--no-fund',
    '--prefix',
    folder,
  ]
  const run = spawnSync('npm', ['ci', ...flags], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  if (run.status !== 0) throw new Error(`npm ci of ${compiled(arch).join(' and ')} failed with exit code ${run.status ?? run.signal}`)
  writeFileSync(there, lock)
  return modules
}
