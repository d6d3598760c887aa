// A release is refused while something is missing that only the owner can give; packages for own use are not.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { VERSION } from '../../../agent/lib/version.ts'

const root = join(import.meta.dirname, '../../..')
const CHANGES = `# Changelog\n\n## [Unreleased]\n\n## [${VERSION}] - 2026-12-01\n\n### Added\n- Everything.\n\n## [0.0.1] - 2026-01-01\n\n### Added\n- Less.\n`
const OWNER = { maintainer: 'Ada Lovelace <ada@engine.test>', homepage: 'https://engine.test/warpwatch' }
const OPEN = { maintainer: 'FILL IN: who', homepage: 'FILL IN: where' }

/** The scripts beside an owner file and a change log of the test's own. The packing ones only leave a file: what they pack has tests of its own. */
function checkout(owner: unknown, changes = CHANGES): string {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-release-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  cpSync(join(root, 'scripts'), join(folder, 'scripts'), { recursive: true })
  mkdirSync(join(folder, 'deploy'))
  for (const file of ['package.json', 'package-lock.json']) symlinkSync(join(root, file), join(folder, file))
  writeFileSync(join(folder, 'deploy/owner.json'), JSON.stringify(owner))
  writeFileSync(join(folder, 'CHANGELOG.md'), changes)
  const leaves = (name: string): string =>
    `import { writeFileSync } from 'node:fs'\nwriteFileSync(process.argv[process.argv.indexOf('--out') + 1] + '/${name}', '${name}')\n`
  writeFileSync(join(folder, 'scripts/bundle.mjs'), leaves('bundle.tar.gz'))
  writeFileSync(join(folder, 'scripts/deb.mjs'), leaves('package.deb'))
  writeFileSync(join(folder, 'scripts/sbom.mjs'), `process.stdout.write('{}')\n`)
  return folder
}
const release = (folder: string, ...args: readonly string[]) =>
  spawnSync(process.execPath, [join(folder, 'scripts/release.mjs'), '--out', join(folder, 'out'), ...args], { encoding: 'utf8' })

describe('npm run release', () => {
  test('refuses, with all that is missing at once', () => {
    const { status, stderr } = release(checkout(OPEN, '# Changelog\n\n## [Unreleased]\n'), '--tag', 'v9.9.9')
    expect(status).toBe(1)
    for (const words of ['"maintainer" is still a placeholder', '"homepage" is still a placeholder', `no section [${VERSION}]`, `expected v${VERSION}`])
      expect(stderr).toContain(words)
  })

  test('refuses an owner of a wrong form', () => {
    const { status, stderr } = release(checkout({ ...OWNER, maintainer: 'Ada' }))
    expect([status, stderr]).toEqual([1, expect.stringContaining('maintainer must be Name <mail address>, it is "Ada"')])
  })

  test('puts everything into one folder, with sums, and the notes beside it', () => {
    const folder = checkout(OWNER)
    expect(release(folder, '--tag', `v${VERSION}`)).toMatchObject({ status: 0, stderr: '' })
    expect(readdirSync(join(folder, 'out')).toSorted()).toEqual(['SHA256SUMS', 'bundle.tar.gz', 'package.deb', `warpwatch-${VERSION}.cdx.json`])
    expect(spawnSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: join(folder, 'out'), encoding: 'utf8' })).toMatchObject({ status: 0 })
    expect(readFileSync(join(folder, 'out/SHA256SUMS'), 'utf8').trim().split('\n')).toHaveLength(3)
    expect(readFileSync(join(folder, 'out-notes.md'), 'utf8')).toBe('### Added\n- Everything.\n')
  })
})

test('deploy/owner.json is filled, or says plainly that it is not', () => {
  const owner = z.strictObject({ maintainer: z.string(), homepage: z.string() }).parse(JSON.parse(readFileSync(join(root, 'deploy/owner.json'), 'utf8')))
  expect(Object.values(owner).filter((value) => !/^FILL IN|^https:\/\/|<.+@.+>$/.test(value))).toEqual([])
})
