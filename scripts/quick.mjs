// `npm run test:quick [PATH …]`: types, lint, layout, and of the units and golden files those that what has changed can break, all at once, for the inner loop; what each says is printed when it
// ends. Changed is what is not as it was when all of it was well last; the first time, and with `--whole`, every unit is run. Left to `npm test`: suites, property tests, and what
// takes long by itself (`NAME.slow.test.ts`).
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './ensure.mjs'

const CACHE = join(root, 'node_modules/.cache/warpwatch')
const WELL = join(CACHE, 'quick')
const LAID = 'node_modules/.cache/warpwatch/prettier'
const TSC = 'node_modules/typescript/bin/tsc'
const given = process.argv.slice(2)
const paths = given.filter((arg) => arg !== '--whole')

const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()

/** The files that are not as they were when all was well last; undefined where nobody knows, and where each test may need one of them. */
function changedFiles() {
  if (given.includes('--whole') || paths.length > 0) return undefined
  try {
    const files = [git('diff', '--name-only', readFileSync(WELL, 'utf8').trim()), git('ls-files', '--others', '--exclude-standard')].join('\n').split('\n')
    return files.some((file) => /^(?:package(?:-lock)?\.json$|vitest\.config\.ts$|test\/setup\/)/.test(file)) ? undefined : files.filter((file) => file !== '')
  } catch {
    return undefined
  }
}
const changed = changedFiles()
const VITEST = 'node_modules/vitest/vitest.mjs'
const READ = ['test/repo', 'test/golden']
const UNITS = ['--project', 'together', '--reporter=dot']
const units =
  changed === undefined
    ? { tests: [VITEST, 'run', ...UNITS, ...paths] }
    : {
        // Golden files and pages are read, not imported: no graph of imports leads to their tests, so these are run in any case.
        'pages and golden files': [VITEST, 'run', ...UNITS, ...READ],
        ...(changed.length > 0 && { tests: [VITEST, 'related', '--run', '--passWithNoTests', ...UNITS, ...changed] }),
      }
/** Only what has changed: linting the whole takes a third as long as all the rest, and is for `npm run lint` before a commit. */
const linted = changed?.filter((file) => /\.[cm]?tsx?$|\.mjs$/.test(file) && existsSync(join(root, file)))
const compile = (name, project) => [TSC, '--noEmit', '--incremental', '--tsBuildInfoFile', join(CACHE, `${name}.tsbuildinfo`), '-p', project]

const PARTS = {
  ...units,
  types: compile('agent', 'tsconfig.json'),
  'types of the dashboard': compile('dashboard', 'dashboard/tsconfig.json'),
  ...(linted?.length !== 0 && { lint: ['node_modules/oxlint/bin/oxlint', '--type-aware', '--deny-warnings', ...(linted ?? [])] }),
  // In a place of its own: Prettier without --cache removes the file that it keeps elsewhere.
  layout: `node_modules/prettier/bin/prettier.cjs --check --cache --cache-strategy content --cache-location ${LAID} --log-level warn .`.split(' '),
}

/** Resolves to whether it went well. */
async function part(name, [program, ...args]) {
  const begun = performance.now()
  const child = spawn(process.execPath, [join(root, program), ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1', TEST_QUICK: args[0] === 'related' ? 'related' : args.includes(READ[0]) ? 'read' : 'all' },
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => child.kill(signal))
  const well = await new Promise((resolve) => {
    child.once('error', (error) => {
      said += `${error.message}\n`
      resolve(false)
    })
    child.once('close', (status) => resolve(status === 0))
  })
  process.stdout.write(`${well ? '' : said}${well ? 'ok    ' : 'FAILED'} ${name}, ${((performance.now() - begun) / 1_000).toFixed(1)} s\n`)
  return well
}

mkdirSync(CACHE, { recursive: true })
if (changed !== undefined)
  process.stdout.write(
    `${changed.length} ${changed.length === 1 ? 'file' : 'files'} changed since all was well: the units that they can break. All units: npm run test:quick -- --whole\n`,
  )
const done = await Promise.all(Object.entries(PARTS).map(([name, command]) => part(name, command)))
if (done.every(Boolean)) {
  // Not after a part of the units.
  if (paths.length === 0) {
    try {
      // A commit of the files as they are, on no branch; empty where they are those of the last commit.
      writeFileSync(WELL, git('stash', 'create') || git('rev-parse', 'HEAD'))
    } catch {
      // No git here: all are run each time.
    }
  }
} else process.exitCode = 1
