// Brings a fresh clone to the point where it can run: packages, the repository's own Node, the build. Runs on any Node >= 18.
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { exitCode, runToEnd } from './foreground.mjs'
import { isBuilt, isInstalled, missingPackages } from './fingerprint.mjs'
import { withLock } from './lock.mjs'
import { fetchPinnedNode, isBrought, isNewEnough, MINIMUM, pinnedNode, removeFetchedNode } from './pinned-node.mjs'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
const TOO_OLD = `Node >= ${MINIMUM} is needed, this is ${process.versions.node}, and the repository brings a Node for Linux on x64 and arm64 with glibc only. Install a newer one and put it first in PATH.`

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

/** Runs `npm ci` in a folder, npm itself under the given Node. */
async function npmCi(folder, node, ...flags) {
  const cli = process.env.npm_execpath
  // Another package manager may have started this script.
  const [command, ...before] = cli !== undefined && /npm-cli\.c?js$/.test(cli) ? [node, cli] : ['npm']
  // Not what npm passed down from the caller's flags (`npm --prefix`, an --omit): what is needed here is known.
  const args = [...before, 'ci', '--no-audit', '--no-fund', '--include=dev', '--include=optional', ...flags, '--prefix', folder]
  // An npm that is older than the Node that runs it prints deprecation warnings.
  const env = {
    ...process.env,
    PATH: `${dirname(node)}${delimiter}${process.env.PATH ?? ''}`,
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --no-deprecation`,
  }
  const run = await runToEnd(command, args, { cwd: folder, env })
  if (run.error !== undefined) fail(`npm cannot be run: ${run.error.message}`)
  if (run.status !== 0) fail(`npm ci failed with exit code ${exitCode(run)}; see its messages above, then run the same command again`)
}

/**
 * The Node that runs npm. npm leaves out optional packages whose `engines` do not fit the Node that it runs under, and among these are
 * compiled parts of the build's tools: under a Node that is too old, npm only fetches the pinned one.
 */
async function nodeForNpm() {
  if (isNewEnough(process.versions.node)) return process.execPath
  if (!isBrought()) return fail(TOO_OLD)
  try {
    return await fetchPinnedNode(root, async (folder) => {
      say(`this is Node ${process.versions.node}: fetching a newer one for this folder (once, about 5 s) …`)
      await npmCi(folder, process.execPath, '--ignore-scripts', '--loglevel=error')
    })
  } catch (error) {
    return fail(`${error.message}\n${TOO_OLD}`)
  }
}

/** Installs the locked packages when node_modules does not match package-lock.json; silent when it does. */
export async function ensurePackages() {
  await once(isInstalled, 'the packages', async () => {
    const node = await nodeForNpm()
    say('installing packages (once, about 20 s) …')
    await npmCi(root, node)
    const missing = missingPackages(root)
    if (missing.length > 0)
      fail(`npm ci ended well, but did not install ${missing.slice(0, 3).join(', ')}${missing.length > 3 ? ' and more' : ''}: please report this`)
    removeFetchedNode(root)
  })
}

/** The Node that runs Warpwatch: the pinned one from the packages, else the caller's where that is new enough. */
export function nodeBinary() {
  const own = pinnedNode(root)
  if (isBrought() && existsSync(own)) return own
  return isNewEnough(process.versions.node) ? process.execPath : fail(TOO_OLD)
}

/** Builds dist/ when it was made from other sources than these; silent when it was not. */
export async function ensureBuild() {
  await once(isBuilt, 'the built files', async () => {
    say('building (about 5 s) …')
    const run = await runToEnd(nodeBinary(), [join(root, 'scripts/build.mjs'), '--locked'], { cwd: root })
    if (run.status !== 0) fail(`the build failed: ${run.stdout.trim() || `exit code ${run.status ?? run.signal}`}`)
  })
}
