// Builds dist/: the agent and the sampler child as bundles of few files (less memory and a faster start than loading hundreds of
// modules), the dashboard, and the runbooks. Native packages stay outside the bundles.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { rolldown } from 'rolldown'
import { build as buildDashboard } from 'vite'
import { root } from './ensure.mjs'
import { sourcesFingerprint } from './fingerprint.mjs'
import { withLock } from './lock.mjs'

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const out = join(root, 'dist')
/** Of a repository of its own only: an unpacked archive may lie inside another one. Elsewhere whoever builds may say it, as the Dockerfile does. */
function commitOf() {
  const said = process.env.SOURCE_COMMIT ?? ''
  if (/^[0-9a-f]{7,64}$/.test(said)) return said.slice(0, 12)
  if (!existsSync(join(root, '.git'))) return 'unknown'
  try {
    const options = { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }
    return execFileSync('git', ['describe', '--always', '--dirty', '--abbrev=12', '--exclude=*'], options).trim() || 'unknown'
  } catch {
    return 'unknown' // no git here, or a repository of another user
  }
}

/** On the same file system as dist/, so that a rename is one step. */
const staging = join(out, '.staging')
/** Files of earlier builds have a hash in their names; agents that run from them may still load some, so they stay for a day. */
const KEEP_MS = 24 * 3_600_000

/**
 * A named import makes Node read every property of a built-in module, and some of those load others when they are read: http's its fetch (14 MiB and 50 ms of CPU time in
 * each process, measured, Node 24.21), crypto's the Web Crypto API. Only what does not is taken.
 */
const LOADS_MORE = { 'node:http': /^(?:WebSocket|CloseEvent|MessageEvent)$/, 'node:crypto': /^(?:webcrypto|subtle|getRandomValues)$/ }
const withoutWhatLoadsMore = {
  name: 'without-what-loads-more',
  resolveId: (id) => (id in LOADS_MORE ? `\0${id}` : undefined),
  load: (id) => {
    const builtin = id.slice(1)
    if (!(builtin in LOADS_MORE)) return undefined
    const names = Object.keys(process.getBuiltinModule(builtin)).filter((name) => !LOADS_MORE[builtin].test(name) && name !== 'default')
    return `const builtin = process.getBuiltinModule('${builtin}')\nexport default builtin\nexport const { ${names.join(', ')} } = builtin\n`
  },
}

/**
 * Node's TLS, and HTTP/2 with it, is loaded when it is first used: with it a thread parses 150 certificates, 1.2 MiB (what of the agent itself uses it does the same, see
 * agent/lib/http-client.ts). The server only asks each request whether it came over HTTP/2, which the agent does not serve; ws needs TLS for a connection of its own.
 */
const TLS_LATER = {
  '@hono/node-server': { 'node:http2': 'export class Http2ServerRequest {}\nexport const constants = { NGHTTP2_NO_ERROR: 0 }\n' },
  ws: {
    https: "export const request = (...args) => process.getBuiltinModule('node:https').request(...args)\n",
    tls: "export const connect = (...args) => process.getBuiltinModule('node:tls').connect(...args)\n",
  },
}
const tlsLater = {
  name: 'tls-later',
  resolveId(id, importer = '') {
    const user = Object.keys(TLS_LATER).find((name) => importer.includes(`/node_modules/${name}/`))
    return user !== undefined && id in TLS_LATER[user] ? `\0${user}:${id}` : undefined
  },
  load(id) {
    const [user, builtin] = id.startsWith('\0') ? id.slice(1).split(/:(.*)/) : []
    return TLS_LATER[user]?.[builtin]
  },
}

async function bundle(entries) {
  const build = await rolldown({
    cwd: root,
    input: entries,
    platform: 'node',
    plugins: [withoutWhatLoadsMore, tlsLater],
    external: [/^node:(?!(?:http|crypto)$)/, 'koffi', 'better-sqlite3', 'bufferutil', 'utf-8-validate'],
    transform: { define: { __WARPWATCH_VERSION__: JSON.stringify(version), __WARPWATCH_COMMIT__: JSON.stringify(commitOf()) } },
    logLevel: 'warn',
    checks: { bundlerTimings: false },
  })
  await build.write({
    dir: staging,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    // V8 keeps the text of what runs: without white space and comments it is less, one character beyond Latin-1 would double it,
    // and names stay for stack traces.
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true, asciiOnly: true } },
  })
  await build.close()
}

const filesOf = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

/** Moves the files one by one over the old ones, those that name others last: whoever starts meanwhile finds a whole build. */
function publish() {
  const entries = /^(main\.js|sampler-child\.js|hang-child\.js|dashboard\/index\.html)$/
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
    if (/\.(js|css)$/.test(name) && !current.has(name) && Date.now() - statSync(file).mtimeMs > KEEP_MS) rmSync(file)
  }
}

async function build() {
  const fingerprint = sourcesFingerprint(root)
  rmSync(join(out, '.built'), { force: true })
  rmSync(staging, { recursive: true, force: true })
  mkdirSync(staging, { recursive: true })
  await bundle({ main: 'agent/main.ts' })
  await bundle({ 'sampler-child': 'agent/sampler/child-main.ts' })
  await bundle({ 'hang-child': 'agent/hang/live/child-main.ts' })
  if (existsSync(join(root, 'dashboard/vite.config.ts'))) {
    await buildDashboard({
      root: join(root, 'dashboard'),
      configFile: join(root, 'dashboard/vite.config.ts'),
      build: { outDir: join(staging, 'dashboard') },
      logLevel: 'warn',
    })
  }
  cpSync(join(root, 'alerts/runbooks'), join(staging, 'runbooks'), { recursive: true })
  publish()
  writeFileSync(join(out, '.built'), fingerprint)
}

// Whoever asked for a build that is missing holds the lock already.
if (process.argv.includes('--locked')) await build()
else await withLock(root, () => process.stderr.write(`warpwatch: another npm command is preparing ${root}, waiting for it …\n`), build)
