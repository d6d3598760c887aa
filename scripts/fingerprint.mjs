// What the packages and the build were made from, by content: times lie after a checkout, a copy or an edit during the build.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const BUILD_SOURCES = ['agent', 'dashboard', 'alerts/runbooks', 'scripts/build.mjs', 'package.json', 'package-lock.json']
/** What every build leaves; one of them gone means that somebody cleaned up by hand. */
export const BUILT = ['main.js', 'sampler-child.js', 'dashboard/index.html', '.files']

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

let known
const ownLibc = () => (known ??= process.report.getReport().header.glibcVersionRuntime === undefined ? 'musl' : 'glibc')

/** Whether a package of the lock file belongs on this machine at all. */
function isForThisMachine({ os, cpu, libc, optional }) {
  if (os === undefined && cpu === undefined) return optional !== true
  return (
    (os ?? [process.platform]).includes(process.platform) && (cpu ?? [process.arch]).includes(process.arch) && (libc === undefined || libc.includes(ownLibc()))
  )
}

/**
 * Whether node_modules holds what package-lock.json says. npm writes its list of what it installed when it is done, and `npm ci`
 * empties the folder first: an installation that was interrupted has no list.
 */
export function isInstalled(root) {
  const list = join(root, 'node_modules/.package-lock.json')
  if (!existsSync(list)) return false
  const { packages: wanted } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const { packages: found } = JSON.parse(readFileSync(list, 'utf8'))
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === '') return true
    const here = found[path]
    if (here === undefined) return !isForThisMachine(entry)
    return here.integrity === entry.integrity && existsSync(join(root, path, 'package.json'))
  })
}
