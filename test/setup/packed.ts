// Bundles to install: one made from this tree, and others of it that call themselves by another version, as a later release would.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withLock } from '../../scripts/lock.mjs'
import { VERSION } from '../../agent/lib/version.ts'

const root = join(import.meta.dirname, '../..')

/** Runs a script of this repository that packs something into `out`; gives what it printed. */
export function pack(script: 'bundle' | 'deb', out: string, env: Readonly<Record<string, string>> = {}): string {
  return execFileSync(process.execPath, [join(root, `scripts/${script}.mjs`), '--fast', '--out', out], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
  })
}

/** The bundle of this tree, packed by the first file of a run that wants it: three do, and each packing compresses 130 MB. Gives what the script printed, as if into `out`. */
export async function packBundle(out: string): Promise<string> {
  const common = join(process.env['TEST_RUN_FOLDER'] ?? tmpdir(), 'bundle')
  await withLock(
    common,
    () => undefined,
    async () => {
      if (!existsSync(join(common, 'said'))) writeFileSync(join(common, 'said'), pack('bundle', common))
    },
  )
  cpSync(common, out, { recursive: true, filter: (path) => path !== join(common, 'said') })
  return readFileSync(join(common, 'said'), 'utf8').replaceAll(common, out)
}

export const archiveOf = (version: string): string => `warpwatch-${version}-linux-x64.tar.gz`

/** The unpacked bundle in `folder` becomes version `version` in `into`, with sums of its own. */
export function asVersion(folder: string, version: string, into: string): void {
  cpSync(folder, into, { recursive: true })
  for (const name of readdirSync(join(into, 'dist'), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'))) {
    const path = join(into, 'dist', name)
    const text = readFileSync(path, 'utf8')
    const renamed = text.replaceAll(`\`${VERSION}\``, `\`${version}\``)
    if (renamed !== text) writeFileSync(path, renamed)
  }
  writeSums(
    into,
    readFileSync(join(into, 'SHA256SUMS'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.slice(66)),
  )
}

export function writeSums(folder: string, files: readonly string[]): void {
  const sum = (file: string): string =>
    createHash('sha256')
      .update(readFileSync(join(folder, file)))
      .digest('hex')
  writeFileSync(join(folder, 'SHA256SUMS'), files.map((file) => `${sum(file)}  ${file}\n`).join(''))
}
