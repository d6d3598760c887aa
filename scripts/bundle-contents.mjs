// What a bundle and the Debian package hold: Node, the built agent, what it loads at run time, the probe, the units, papers and licences.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { ARCHITECTURES, modulesFor } from './architecture.mjs'
import { launcher } from './bundle-launchers.mjs'
import { root } from './ensure.mjs'
import { licences } from './licences.mjs'

/** Packages that the bundled JavaScript loads by name, cut down to what Linux on one processor loads of them. */
const packagesOf = (arch) => ({
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
  [`@koromix/koffi-linux-${arch}`]: ['package.json', 'index.js', `linux_${arch}/koffi.node`],
  'better-sqlite3': ['package.json', 'LICENSE', 'lib', `prebuilds/linux-${arch}.node`],
})
const FILES = [
  'LICENSE',
  'README.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'warpwatch.example.yaml',
  'docs',
  'probe/README.md',
  'probe/PROTOCOL.md',
  'probe/python/warpwatch_probe.py',
  'probe/python/warpwatch_probe.pth',
  'probe/python/sitecustomize/sitecustomize.py',
  'deploy/systemd',
  'test/gpu/main.ts',
  'test/gpu/compare.ts',
  'test/gpu/fields.ts',
  'test/gpu/sampler.ts',
]

export const { name, version, license, description } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Lines as sha256sum writes and checks them. */
export const sumsOf = (folder, files) =>
  files
    .map(
      (file) =>
        `${createHash('sha256')
          .update(readFileSync(join(folder, file)))
          .digest('hex')}  ${file}\n`,
    )
    .join('')

/** Times in what is packed: those of the last commit, so that the same sources give the same bytes, whoever packs them and when. */
export function packedAt() {
  const own = process.env.SOURCE_DATE_EPOCH
  if (own !== undefined && /^\d+$/.test(own)) return own
  return spawnSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }).stdout?.trim() || '0'
}

/** All files below a folder, sorted. */
export const filesOf = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort()

/** Without its symbols Node is 18 MB smaller; a stripped one that does not run is not taken. One of another processor cannot be tried here. */
function putNode(target, arch, modules) {
  const source = join(modules, `node-linux-${arch}/bin/node`)
  if (!existsSync(source)) throw new Error(`${source}: expected the pinned Node of linux-${arch}, found none`)
  const foreign = arch !== process.arch
  mkdirSync(dirname(target), { recursive: true })
  const stripped = `${target}.stripped`
  const tool = foreign ? `${ARCHITECTURES[arch].binutils}-strip` : 'strip'
  const run = spawnSync(tool, ['-o', stripped, source], { stdio: 'ignore' })
  if (run.status === 0 && (foreign || spawnSync(stripped, ['--version']).status === 0)) renameSync(stripped, target)
  else copyFileSync(source, target)
  chmodSync(target, 0o755)
}

/** The files that the build's entries reach; chunks of earlier builds stay behind. */
function putBuild(target) {
  const built = JSON.parse(readFileSync(join(root, 'dist/.files'), 'utf8'))
  for (const file of built) cpSync(join(root, 'dist', file), join(target, file))
}

/** Fills `folder` with all that runs without this repository on a processor; its sums come last. */
export function fill(folder, arch) {
  const modules = modulesFor(root, arch)
  putNode(join(folder, 'bin/node'), arch, modules)
  putBuild(join(folder, 'dist'))
  for (const [name, parts] of Object.entries(packagesOf(arch)))
    for (const part of parts) {
      const source = join(name.endsWith(`-${arch}`) ? modules : join(root, 'node_modules'), name, part)
      if (existsSync(source)) cpSync(source, join(folder, 'node_modules', name, part), { recursive: true })
    }
  for (const file of FILES) cpSync(join(root, file), join(folder, file), { recursive: true })
  // Says that the .js files are modules.
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ name, version, license, private: true, type: 'module' }, null, 2)}\n`)
  writeFileSync(join(folder, 'THIRD-PARTY-LICENSES.txt'), licences(root, arch))
  writeFileSync(join(folder, 'warpwatch'), launcher('dist/main.js'), { mode: 0o755 })
  writeFileSync(join(folder, 'warpwatch-gpu-check'), launcher('test/gpu/main.ts'), { mode: 0o755 })
  copyFileSync(join(root, 'scripts/install.sh'), join(folder, 'install.sh'))
  chmodSync(join(folder, 'install.sh'), 0o755)
  writeFileSync(join(folder, 'SHA256SUMS'), sumsOf(folder, filesOf(folder)))
}
