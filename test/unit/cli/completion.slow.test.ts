// Completion as the shells do it: each loads its script and is asked what it would offer.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { COMMANDS } from '../../../agent/cli/index.ts'
import { runCli } from './run-cli.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const
const has = (shell: string): boolean => spawnSync(shell, ['--version'], { stdio: 'ignore' }).status === 0
const folder = mkdtempSync(join(tmpdir(), 'warpwatch-completion-'))
const script = (shell: string): string => join(folder, shell === 'zsh' ? '_warpwatch' : `warpwatch.${shell}`)

beforeAll(async () => {
  for (const shell of SHELLS) writeFileSync(script(shell), (await runCli(['completion', shell])).stdout)
})

function offered(shell: string, line: string): readonly string[] {
  const ask: Readonly<Record<string, readonly string[]>> = {
    bash: [
      '-c',
      `source ${script('bash')}; read -ra COMP_WORDS <<<"$1"; [[ $1 == *' ' ]] && COMP_WORDS+=(''); COMP_CWORD=$((\${#COMP_WORDS[@]}-1)); _warpwatch; printf '%s\\n' "\${COMPREPLY[@]}"`,
      'bash',
      line,
    ],
    fish: ['--no-config', '-c', `source ${script('fish')}; complete -C $argv[1] | string replace -r '\\t.*' ''`, line],
  }
  const { stdout } = spawnSync(shell, [...(ask[shell] ?? [])], { encoding: 'utf8', cwd: folder })
  return stdout.split('\n').filter((word) => word !== '')
}

for (const shell of ['bash', 'fish'])
  describe.skipIf(!has(shell))(`${shell} (needs ${shell})`, () => {
    test('offers commands', () => {
      expect(offered(shell, 'warpwatch inc')).toEqual(['incidents'])
      expect(offered(shell, 'warpwatch ')).toEqual(expect.arrayContaining(Object.keys(COMMANDS)))
    })
    test('offers the flags of the command, and no others', () => {
      expect(offered(shell, 'warpwatch explain --js')).toEqual(expect.arrayContaining(['--json', '--jsonl']))
      expect(offered(shell, 'warpwatch status --sim')).toEqual([])
    })
    test('offers commands to help, and words that an argument lists', () => {
      expect(offered(shell, 'warpwatch help dis')).toEqual([])
      expect(offered(shell, 'warpwatch help doc')).toEqual(['doctor'])
      expect(offered(shell, 'warpwatch rules --judge p')).toEqual(['prometheus'])
    })
    test('offers files where a file is meant', () => {
      writeFileSync(join(folder, 'crash.log'), '')
      expect(offered(shell, 'warpwatch explain cra')).toEqual(['crash.log'])
      expect(offered(shell, 'warpwatch version cra')).toEqual([])
    })
  })

test.skipIf(!has('zsh'))('zsh loads it as a file of its functions, and by source', () => {
  const autoloaded = spawnSync('zsh', ['-f', '-c', `fpath=(${folder} $fpath); autoload -Uz compinit; compinit -D -u; echo $_comps[warpwatch]`], {
    encoding: 'utf8',
  })
  const sourced = spawnSync(
    'zsh',
    ['-f', '-c', `autoload -Uz compinit; compinit -D -u; source ${script('zsh')}; echo $_comps[warpwatch]; which _warpwatch | wc -l`],
    { encoding: 'utf8' },
  )
  expect([autoloaded.stdout.trim(), autoloaded.stderr]).toEqual(['_warpwatch', ''])
  expect([sourced.stdout.split('\n')[0], sourced.stderr]).toEqual(['_warpwatch', ''])
})

test('another shell is refused with what it may be', async () => {
  expect(await runCli(['completion', 'bsh'])).toMatchObject({
    code: 2,
    stderr: 'warpwatch: completion: must be bash, zsh, fish, not "bsh". Did you mean bash?\n',
  })
})
