// The agent's code as it runs from dist/: few files (less memory and a faster start than loading hundreds of modules). Native packages stay outside.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { rolldown } from 'rolldown'
import { root } from './ensure.mjs'

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
/** Of a repository of its own only: an unpacked archive may be inside another one. Elsewhere whoever builds may say it, as the Dockerfile does. */
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

/** The agent itself is a script that is loaded with what V8 made of it (agent/lib/script-file.ts): the command line and the warm-up take `run` from there. */
const RUN = join(root, 'agent/cli/run/run.ts')
const runFromScript = {
  name: 'run-from-script',
  resolveId: (id, importer) => (importer !== undefined && id.startsWith('.') && resolve(dirname(importer), id) === RUN ? '\0run' : undefined),
  load: (id) =>
    id === '\0run'
      ? `import { loadScript } from ${JSON.stringify(join(root, 'agent/lib/script-file.ts'))}\nexport const { run } = loadScript(import.meta.dirname, 'run.cjs')\n`
      : undefined,
}

const inputOf = (input, plugins) => ({
  cwd: root,
  input,
  platform: 'node',
  plugins: [withoutWhatLoadsMore, tlsLater, ...plugins],
  external: [/^node:(?!(?:http|crypto)$)/, 'koffi', 'better-sqlite3', 'bufferutil', 'utf-8-validate'],
  transform: { define: { __WARPWATCH_VERSION__: JSON.stringify(version), __WARPWATCH_COMMIT__: JSON.stringify(commitOf()) } },
  logLevel: 'warn',
  checks: { bundlerTimings: false },
})
// V8 keeps the text of what runs: without white space and comments it is less, and names stay for stack traces.
const MINIFY = { compress: false, mangle: false, codegen: { removeWhitespace: true, asciiOnly: true } }

async function write(dir, input, output) {
  const build = await rolldown(input)
  const { output: chunks } = await build.generate({ minify: MINIFY, ...output })
  await build.close()
  for (const { fileName, code } of chunks) {
    // One character beyond Latin-1 and V8 keeps two bytes for each of the whole text. The minifier leaves those of raw strings.
    const wide = code.search(/[^\0-\x7F]/)
    if (wide >= 0)
      throw new Error(`${fileName}: expected ASCII, found ${JSON.stringify(code.slice(Math.max(0, wide - 40), wide + 1))}: write it as \\u and four digits`)
    writeFileSync(join(dir, fileName), output.format === 'cjs' ? `(function(exports,require,module,__filename,__dirname){${code}\n})` : code)
  }
}

/** ES modules, a chunk for what several entries share. */
export const bundle = (dir, entries) =>
  write(dir, inputOf(entries, [runFromScript]), { format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' })

/** What every start loads, as one script: `run`, what it waits for, and all that these import. What they load later stays in chunks of its own. */
const AT_START = [RUN, join(root, 'agent/cli/config/detector-settings.ts'), join(root, 'agent/agent.ts')]

export async function bundleRun(dir) {
  const start = new Set()
  const startSet = {
    name: 'start-set',
    buildEnd() {
      const add = (id) => {
        if (start.has(id)) return
        start.add(id)
        for (const imported of this.getModuleInfo(id)?.importedIds ?? []) add(imported)
      }
      AT_START.forEach(add)
    },
  }
  await write(dir, inputOf({ run: RUN }, [startSet]), {
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
    codeSplitting: { groups: [{ name: 'start', test: (id) => start.has(id) }] },
  })
}
