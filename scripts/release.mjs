// `npm run release -- --out FOLDER [--tag vVERSION] [--fast]`: everything that a release consists of, in one folder: bundle, Debian package, installer, SBOM,
// SHA256SUMS, and the notes from CHANGELOG.md. It publishes nothing. Refuses while something is missing that the owner must fill in.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { name, sumsOf, version } from './bundle-contents.mjs'
import { root } from './ensure.mjs'
import { readOwner } from './owner.mjs'

const valueOf = (flag) => {
  const at = process.argv.indexOf(flag)
  return at > 0 ? (process.argv[at + 1] ?? '') : undefined
}

/** The part of the change log about this version, without its heading. */
function releaseNotes() {
  const log = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
  const part = log.split(/^## /m).find((section) => section.startsWith(`[${version}]`))
  return part?.slice(part.indexOf('\n') + 1).trim()
}

/** What is against a release, each with what to do. */
function problems(tag, notes) {
  const { unfilled } = readOwner(root)
  return [
    ...unfilled.map((field) => `deploy/owner.json: "${field}" is still a placeholder; fill it in`),
    ...(notes ? [] : [`CHANGELOG.md has no section [${version}]; rename [Unreleased] and begin a new one`]),
    ...(tag === undefined || tag === `v${version}` ? [] : [`the tag is ${tag}, package.json says ${version}; expected v${version}`]),
  ]
}

try {
  const notes = releaseNotes()
  const found = problems(valueOf('--tag'), notes)
  if (found.length > 0) throw new Error(`no release of ${version}:\n  ${found.join('\n  ')}`)
  const out = resolve(process.env.INIT_CWD ?? '.', valueOf('--out') ?? join(root, 'dist/release'))
  mkdirSync(out, { recursive: true })
  if (readdirSync(out).length > 0) throw new Error(`${out} must be empty`)
  const make = (script, args, stdout) =>
    execFileSync(process.execPath, [join(root, 'scripts', script), ...args], { cwd: root, stdio: ['ignore', stdout, 'inherit'], maxBuffer: 64 * 2 ** 20 })
  const fast = process.argv.includes('--fast') ? ['--fast'] : []
  make('bundle.mjs', ['--out', out, ...fast], 'inherit')
  make('deb.mjs', ['--out', out, ...fast], 'inherit')
  writeFileSync(join(out, `${name}-${version}.cdx.json`), make('sbom.mjs', [], 'pipe'))
  writeFileSync(
    join(out, 'SHA256SUMS'),
    sumsOf(
      out,
      readdirSync(out)
        .filter((file) => file !== 'SHA256SUMS')
        .sort(),
    ),
  )
  // Beside what is published, and not one of its files.
  writeFileSync(`${out}-notes.md`, `${notes}\n`)
  process.stdout.write(`${out}: ${readdirSync(out).sort().join(' ')}\n`)
} catch (error) {
  process.stderr.write(`warpwatch: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
