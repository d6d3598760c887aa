// Builds dist/: the agent and the sampler child as bundles of few files (less memory and a faster start than loading hundreds of
// modules), the dashboard, and the runbooks. Native packages stay outside the bundles.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build as buildDashboard } from 'vite'
import { bundle, bundleRun } from './bundled-code.mjs'
import { root } from './ensure.mjs'
import { sourcesFingerprint } from './fingerprint.mjs'
import { withLock } from './lock.mjs'
import { nodeFlags } from './node-flags.mjs'

const out = join(root, 'dist')
/** On the same file system as dist/, so that a rename is one step. */
const staging = join(out, '.staging')
/** Files of earlier builds have a hash in their names; agents that run from them may still load some, so they stay for a day. */
const KEEP_MS = 24 * 3_600_000
const WARM_UP_MS = 90_000

const filesOf = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

/** Moves the files one by one over the old ones, those that name others last: whoever starts meanwhile finds a whole build. */
function publish() {
  const entries = /^(main\.js|run\.cjs|sampler-child\.js|hang-child\.js|dashboard\/index\.html)$/
  const names = filesOf(staging).map((file) => file.slice(staging.length + 1))
  for (const name of names.sort((a, b) => Number(entries.test(a)) - Number(entries.test(b)))) {
    mkdirSync(dirname(join(out, name)), { recursive: true })
    renameSync(join(staging, name), join(out, name))
  }
  rmSync(staging, { recursive: true })
  // What belongs to this build; scripts/bundle.mjs packs it.
  writeFileSync(join(out, '.files'), JSON.stringify(names))
  const current = new Set(names)
  for (const file of filesOf(out)) {
    const name = file.slice(out.length + 1)
    if (/\.(c?js|css|v8)$/.test(name) && !current.has(name) && Date.now() - statSync(file).mtimeMs > KEEP_MS) rmSync(file)
  }
}

/** Without it the agent starts as well, in twice the time. It is no part of a package, as V8 never makes the same bytes twice: there it is made when it is installed. */
function warmUp() {
  const { status, stderr } = spawnSync(process.execPath, [...nodeFlags([]), join(out, 'warm-up.js')], { encoding: 'utf8', timeout: WARM_UP_MS })
  if (status !== 0) process.stderr.write(`warpwatch: the agent will start more slowly, as its warm-up failed: ${stderr.trim().slice(-2_000)}\n`)
}

async function build() {
  const fingerprint = sourcesFingerprint(root)
  rmSync(join(out, '.built'), { force: true })
  rmSync(staging, { recursive: true, force: true })
  mkdirSync(staging, { recursive: true })
  await Promise.all([
    bundleRun(staging),
    bundle(staging, { main: 'agent/main.ts' }),
    bundle(staging, { 'sampler-child': 'agent/sampler/child-main.ts' }),
    bundle(staging, { 'hang-child': 'agent/hang/live/child-main.ts' }),
    bundle(staging, { 'warm-up': 'agent/cli/run/warm-up.ts' }),
    buildDashboard({
      root: join(root, 'dashboard'),
      configFile: join(root, 'dashboard/vite.config.ts'),
      build: { outDir: join(staging, 'dashboard') },
      logLevel: 'warn',
    }),
  ])
  cpSync(join(root, 'alerts/runbooks'), join(staging, 'runbooks'), { recursive: true })
  publish()
  warmUp()
  writeFileSync(join(out, '.built'), fingerprint)
}

// Whoever asked for a build that is missing holds the lock already.
if (process.argv.includes('--locked')) await build()
else await withLock(root, () => process.stderr.write(`warpwatch: another npm command is preparing ${root}, waiting for it …\n`), build)
