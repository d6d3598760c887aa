// `npm run bundle [-- --out FOLDER] [--arch x64|arm64] [--fast]`: one archive with Node, the built agent and what it loads at run time, for hosts without a network;
// beside it its sum and the script that installs it.
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { ARCHITECTURES, wantedArchitecture } from './architecture.mjs'
import { fill, name, packedAt, sumsOf, version } from './bundle-contents.mjs'
import { ensureBuild, root } from './ensure.mjs'

/** What a person carries to a host without a network (a mail, a slow bastion) should stay below this. */
const LIMIT_BYTES = 64 * 2 ** 20

const flag = process.argv.indexOf('--out')
const out = resolve(process.env.INIT_CWD ?? '.', flag > 0 ? (process.argv[flag + 1] ?? '') : join(root, 'dist'))
/** Packs in a second instead of twelve, a tenth bigger: for the tests. */
const fast = process.argv.includes('--fast')
const arch = wantedArchitecture()
const title = `${name}-${version}-linux-${arch}`

await ensureBuild()
mkdirSync(out, { recursive: true })
const staging = mkdtempSync(join(tmpdir(), 'warpwatch-bundle-'))
try {
  fill(join(staging, title), arch)
  const archive = `${title}.tar.gz`
  const packed = join(out, `${archive}.part`)
  // The same sources give the same archive: order, owners and times do not depend on who packs it, or when.
  const same = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', `--mtime=@${packedAt()}`, '--mode=u+w,go=rX']
  execFileSync('tar', ['-C', staging, ...same, '-I', fast ? 'gzip -1n' : 'gzip -9n', '-cf', packed, title])
  const { size } = statSync(packed)
  if (size > LIMIT_BYTES) throw new Error(`${archive}: expected at most ${LIMIT_BYTES / 2 ** 20} MiB, came ${(size / 2 ** 20).toFixed(1)}`)
  renameSync(packed, join(out, archive))
  copyFileSync(join(root, 'scripts/install.sh'), join(out, 'install.sh'))
  const sums = sumsOf(out, [archive, 'install.sh'])
  writeFileSync(join(out, 'SHA256SUMS'), sums)
  process.stdout.write(`${join(out, archive)}
  ${(size / 2 ** 20).toFixed(1)} MiB, sha256 ${sums.slice(0, 64)}; beside it install.sh and SHA256SUMS
  On a Linux host with ${ARCHITECTURES[arch].machine}, with nothing else installed:
    sh install.sh               with those three files in one folder: puts it into /opt/warpwatch, as a service (docs/install.md)
  or without installing:
    tar xzf ${archive} && cd ${title} && sha256sum -c --quiet SHA256SUMS
    ./warpwatch                 the agent; ./warpwatch --help
    ./warpwatch-gpu-check       compares its readings with nvidia-smi's
`)
} catch (error) {
  process.stderr.write(`warpwatch: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
} finally {
  rmSync(staging, { recursive: true, force: true })
}
