// What the packages and the build were made from, by content: times are after a checkout, a copy or an edit during the build.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const BUILD_SOURCES = [
  'agent',
  'dashboard',
  'alerts/runbooks',
  'scripts/build.mjs',
  'scripts/bundled-code.mjs',
  'scripts/node-flags.mjs',
  'package.json',
  'package-lock.json',
]
/** What every build leaves; one of them gone means that someone cleaned up by hand. */
export const BUILT = ['main.js', 'run.cjs', 'sampler-child.js', 'hang-child.js', 'dashboard/index.html', '.files']

function add(hash, root, path) {
  const full = join(root, path)
  if (!statSync(full).isDirectory()) {
    hash.update(`${path}\0`).update(readFileSync(full))
    return
  }
  // Editors' backups and swap files are no sources.
  for (const name of readdirSync(full).sort()) if (!/^\.|~$|^node_modules$/.test(name)) add(hash, root, join(path, name))
}

/** Of everything that goes into dist/. */
export function sourcesFingerprint(root) {
  const hash = createHash('sha256')
  for (const path of BUILD_SOURCES) if (existsSync(join(root, path))) add(hash, root, path)
  return hash.digest('hex')
}

export function isBuilt(root) {
  const stamp = join(root, 'dist/.built')
  if (!existsSync(stamp) || !BUILT.every((name) => existsSync(join(root, 'dist', name)))) return false
  return readFileSync(stamp, 'utf8') === sourcesFingerprint(root)
}

let glibc
/** Whether this Node runs on glibc, and not on musl (Alpine). */
export const usesGlibc = () => (glibc ??= process.report.getReport().header.glibcVersionRuntime !== undefined)

/** Whether a package of the lock file belongs on this machine at all. */
function isForThisMachine({ os, cpu, libc, optional }) {
  if (os === undefined && cpu === undefined) return optional !== true
  return (
    (os ?? [process.platform]).includes(process.platform) &&
    (cpu ?? [process.arch]).includes(process.arch) &&
    (libc === undefined || libc.includes(usesGlibc() ? 'glibc' : 'musl'))
  )
}

/**
 * The packages of package-lock.json that node_modules should hold and does not. npm writes its list of what it installed when it is
 * done, and `npm ci` empties the folder first: an installation that was interrupted has no list.
 */
export function missingPackages(root) {
  const list = join(root, 'node_modules/.package-lock.json')
  const { packages: wanted } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const { packages: found } = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : { packages: {} }
  const isThere = (path, entry) => {
    const here = found[path]
    if (here === undefined) return !isForThisMachine(entry)
    return here.integrity === entry.integrity && existsSync(join(root, path, 'package.json'))
  }
  return Object.entries(wanted)
    .filter(([path, entry]) => path !== '' && !isThere(path, entry))
    .map(([path]) => path.replace(/^node_modules\//, ''))
}

export const isInstalled = (root) => missingPackages(root).length === 0
