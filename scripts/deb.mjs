// `npm run deb [-- --out FOLDER] [--arch x64|arm64] [--fast]`: the bundle as a Debian package, with the unit, manual pages, completions and the configuration as a conffile.
// Needs dpkg-deb, nothing else of Debian's tools. The same sources and the same dpkg give the same bytes.
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { ARCHITECTURES, wantedArchitecture } from './architecture.mjs'
import { fill, filesOf, name, packedAt, version } from './bundle-contents.mjs'
import { manualPages } from './deb-manual.mjs'
import { ensureBuild, root } from './ensure.mjs'
import { readOwner } from './owner.mjs'

const flag = process.argv.indexOf('--out')
const out = resolve(process.env.INIT_CWD ?? '.', flag > 0 ? (process.argv[flag + 1] ?? '') : join(root, 'dist'))
/** Packs in seconds instead of a minute, not compressed: for the tests. */
const fast = process.argv.includes('--fast')
const SOURCES = join(root, 'deploy/debian')
const arch = wantedArchitecture()
const owner = readOwner(root)
/** A package for own use needs no owner, but dpkg wants a maintainer: .invalid is nobody's domain (RFC 2606). */
const MAINTAINER = owner.maintainer ?? 'Local build <nobody@local-build.invalid>'
const lib = `usr/lib/${name}`
const doc = `usr/share/doc/${name}`

/** Where each shell looks for what it completes. */
const COMPLETIONS = [
  ['bash', `usr/share/bash-completion/completions/${name}`],
  ['zsh', `usr/share/zsh/vendor-completions/_${name}`],
  ['fish', `usr/share/fish/vendor_completions.d/${name}.fish`],
]

const put = (folder, file, content, mode = 0o644) => {
  mkdirSync(join(folder, file, '..'), { recursive: true })
  writeFileSync(join(folder, file), content, { mode })
}
const move = (folder, from, to) => {
  mkdirSync(join(folder, to, '..'), { recursive: true })
  renameSync(join(folder, from), join(folder, to))
}
const gzipped = (text) => gzipSync(text, { level: 9 })

/** Debian's form of a change log; what changed is in our own. */
function changelog() {
  const date = new Date(Number(packedAt()) * 1000).toUTCString().replace('GMT', '+0000')
  return `${name} (${version}) stable; urgency=medium\n\n  * The changes are in /usr/share/doc/${name}/CHANGELOG.md.\n\n -- ${MAINTAINER}  ${date}\n`
}

function place(folder) {
  fill(join(folder, lib), arch)
  for (const unused of ['install.sh', 'SHA256SUMS', 'LICENSE', 'deploy']) rmSync(join(folder, lib, unused), { recursive: true })
  for (const paper of ['README.md', 'CHANGELOG.md', 'SECURITY.md', 'THIRD-PARTY-LICENSES.txt', 'warpwatch.example.yaml', 'docs'])
    move(folder, `${lib}/${paper}`, `${doc}/${paper}`)
  put(folder, `${doc}/changelog.gz`, gzipped(changelog()))
  copyFileSync(join(SOURCES, 'copyright'), join(folder, doc, 'copyright'))
  put(folder, `etc/${name}/warpwatch.yaml`, readFileSync(join(root, 'warpwatch.example.yaml')))
  put(folder, `lib/systemd/system/${name}.service`, readFileSync(join(root, 'deploy/systemd/warpwatch.service')))
  put(folder, `usr/share/lintian/overrides/${name}`, readFileSync(join(SOURCES, 'lintian-overrides')))
  // The Node of this machine, which may not run the package's.
  const ask = (...args) => execFileSync(process.execPath, [join(folder, lib, 'dist/main.js'), ...args], { encoding: 'utf8' })
  const pages = manualPages(JSON.parse(ask('help', '--json')), new Date(Number(packedAt()) * 1000))
  for (const [file, page] of pages) put(folder, `usr/share/man/man1/${file}.gz`, gzipped(page))
  for (const [shell, file] of COMPLETIONS) put(folder, file, ask('completion', shell))
  mkdirSync(join(folder, 'usr/bin'))
  symlinkSync(`../lib/${name}/warpwatch`, join(folder, 'usr/bin', name))
}

function control(folder) {
  const files = filesOf(folder)
  // As dpkg-gencontrol counts: each file in whole KiB.
  const size = files.reduce((sum, file) => sum + Math.ceil(statSync(join(folder, file)).size / 1024), 0)
  const fields = { VERSION: version, SIZE: String(size), MAINTAINER, HOMEPAGE: owner.homepage, ARCHITECTURE: ARCHITECTURES[arch].debian }
  const lines = readFileSync(join(SOURCES, 'control'), 'utf8').split('\n')
  // A field without a value is left out.
  const filled = lines.flatMap((line) => {
    const field = /@([A-Z]+)@/.exec(line)?.[1]
    if (field === undefined) return [line]
    return fields[field] === undefined ? [] : [line.replace(`@${field}@`, () => fields[field])]
  })
  const text = filled.join('\n')
  put(folder, 'DEBIAN/control', text)
  put(folder, 'DEBIAN/conffiles', `/etc/${name}/warpwatch.yaml\n`)
  const sums = execFileSync('md5sum', ['--', ...files.filter((file) => !file.startsWith('etc/'))], { cwd: folder, encoding: 'utf8' })
  put(folder, 'DEBIAN/md5sums', sums)
  for (const script of ['preinst', 'postinst', 'prerm', 'postrm']) put(folder, `DEBIAN/${script}`, readFileSync(join(SOURCES, script)), 0o755)
}

await ensureBuild()
process.umask(0o022)
mkdirSync(out, { recursive: true })
const staging = mkdtempSync(join(tmpdir(), 'warpwatch-deb-'))
try {
  chmodSync(staging, 0o755)
  place(staging)
  control(staging)
  const file = join(out, `${name}_${version}_${ARCHITECTURES[arch].debian}.deb`)
  // Everything was written now, so dpkg-deb brings all times down to this one.
  execFileSync('dpkg-deb', ['--build', '--root-owner-group', ...(fast ? ['-Znone'] : ['-Zxz']), staging, `${file}.part`], {
    env: { ...process.env, SOURCE_DATE_EPOCH: packedAt() },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  renameSync(`${file}.part`, file)
  if (owner.unfilled.length > 0)
    process.stderr.write(`warpwatch: a package for own use: deploy/owner.json does not name its ${owner.unfilled.join(' and ')} yet\n`)
  process.stdout.write(`${file}\n  ${(statSync(file).size / 2 ** 20).toFixed(1)} MiB\n  On Debian 12, Ubuntu 22.04 or newer: sudo apt install ${file}\n`)
} catch (error) {
  const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT' && 'path' in error && error.path === 'dpkg-deb'
  process.stderr.write(
    `warpwatch: ${missing ? 'expected dpkg-deb in PATH, found none: the package is made on Debian or Ubuntu' : error instanceof Error ? error.message : String(error)}\n`,
  )
  process.exitCode = 1
} finally {
  rmSync(staging, { recursive: true, force: true })
}
