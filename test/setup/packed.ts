// Bundles to install: one made from this tree, and others of it that call themselves by another version, as a later release would.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { VERSION } from '../../agent/lib/version.ts'

const root = join(import.meta.dirname, '../..')

/** Runs a script of this repository that packs something into `out`. */
export function pack(script: 'bundle' | 'deb', out: string, env: Readonly<Record<string, string>> = {}): void {
  execFileSync(process.execPath, [join(root, `scripts/${script}.mjs`), '--fast', '--out', out], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
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
