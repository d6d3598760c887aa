// A build of another commit, in a worktree of its own beside this one, for figures that are a ratio.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')
const git = (...args: readonly string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()

export type OtherBuild = { readonly main: string; readonly commit: string; readonly nodeFlags: readonly string[] } & Disposable

export async function buildOf(ref: string): Promise<OtherBuild> {
  const commit = git('rev-parse', '--verify', `${ref}^{commit}`)
  const folder = join(mkdtempSync(join(tmpdir(), 'warpwatch-bench-build-')), 'tree')
  git('worktree', 'add', '--detach', '--quiet', folder, commit)
  const lock = 'package-lock.json'
  // The packages of this checkout serve where they are the same; otherwise that commit's own are installed.
  if (readFileSync(join(folder, lock), 'utf8') === readFileSync(join(root, lock), 'utf8')) symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  process.stderr.write(`bench: building ${commit.slice(0, 12)} …\n`)
  execFileSync(process.execPath, ['scripts/run.mjs', 'scripts/build.mjs'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  const { nodeFlags }: { nodeFlags: (args: readonly string[]) => readonly string[] } = await import(join(folder, 'scripts/node-flags.mjs'))
  return {
    nodeFlags: nodeFlags([]),
    main: join(folder, 'dist/main.js'),
    commit: commit.slice(0, 12),
    [Symbol.dispose]() {
      git('worktree', 'remove', '--force', folder)
      rmSync(join(folder, '..'), { recursive: true, force: true })
    },
  }
}
