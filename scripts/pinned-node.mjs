// The Node that this repository brings (Linux on x64 and arm64, with glibc), and fetching it by itself where the caller's Node is too old. Runs on any Node >= 18.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isInstalled, usesGlibc } from './fingerprint.mjs'

const NAME = `node-linux-${process.arch}`
/** As `engines` of package.json says. */
export const MINIMUM = '22.18'

/** Whether a Node of this version runs Warpwatch. */
export function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number)
  const [neededMajor, neededMinor] = MINIMUM.split('.').map(Number)
  return major > neededMajor || (major === neededMajor && minor >= neededMinor)
}

/** Whether the repository brings a Node for this machine. */
export const isBrought = () => process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch) && usesGlibc()

/** Where the Node lies that `npm ci` has installed into `folder`. */
export const pinnedNode = (folder) => join(folder, 'node_modules', NAME, 'bin/node')

/** Below the folder that git ignores, and outside of node_modules, which `npm ci` empties. */
const folderOf = (root) => join(root, '.cache/node')

/**
 * Installs the pinned Node alone, with the integrity that package-lock.json has for it, and gives its path. `npmCi` runs `npm ci` in the
 * folder that it is given. Throws where the Node does not run on this machine.
 */
export async function fetchPinnedNode(root, npmCi) {
  const folder = folderOf(root)
  const { optional: _, ...entry } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages[`node_modules/${NAME}`]
  const dependencies = { [NAME]: entry.version }
  const lock = { lockfileVersion: 3, requires: true, packages: { '': { dependencies }, [`node_modules/${NAME}`]: entry } }
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }))
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock))
  // It is there when an earlier attempt ended in the step after this one.
  if (!isInstalled(folder)) await npmCi(folder)
  const node = pinnedNode(folder)
  const run = spawnSync(node, ['--version'], { encoding: 'utf8' })
  if (run.status !== 0) throw new Error(run.error?.message ?? (run.stderr.trim() || `${node} ended with ${run.status ?? run.signal}`))
  return node
}

/** Of no use once the packages are installed, which hold the same Node. */
export const removeFetchedNode = (root) => rmSync(folderOf(root), { recursive: true, force: true })
