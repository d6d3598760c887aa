// Which process is the job: the first of its session that a person started, by a /proc made of text.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commandName } from '../../../agent/attribution/command-name.ts'
import { createLineageReader } from '../../../agent/attribution/lineage.ts'

/** pid, parent, session, terminal, name, command line. */
type Row = readonly [pid: number, parent: number, session: number, tty: number, comm: string, argv: string]
function rootOf(pid: number, rows: readonly Row[]): readonly [number, string] | undefined {
  const proc = mkdtempSync(join(tmpdir(), 'warpwatch-lineage-'))
  writeFileSync(join(proc, 'stat'), 'cpu 1 2 3\nbtime 1800000000\n')
  for (const [own, parent, session, tty, comm, argv] of rows) {
    mkdirSync(join(proc, String(own)))
    const rest = Array.from({ length: 14 }, () => '0').join(' ')
    writeFileSync(join(proc, `${own}/stat`), `${own} (${comm}) S ${parent} ${own} ${session} ${tty} ${rest} ${own * 100} 0\n`)
    writeFileSync(join(proc, `${own}/cmdline`), `${argv.replaceAll(' ', '\0')}\0`)
    writeFileSync(join(proc, `${own}/status`), `Name:\t${comm}\nUid:\t0\t0\t0\t0\n`)
  }
  const found = createLineageReader(proc)(pid)
  return found === undefined ? undefined : [found.root.pid, found.root.command]
}

const LOGIN: readonly Row[] = [
  [2, 1, 2, 0, 'sshd', 'sshd: ada@pts/0'],
  [3, 2, 3, 5, 'bash', '-bash'],
]
test.each<readonly [string, number, readonly Row[], readonly [number, string]]>([
  ['a command typed into a shell', 4, [...LOGIN, [4, 3, 3, 5, 'python', 'python train.py --lr 1']], [4, 'python train.py']],
  ['a worker of it', 5, [...LOGIN, [4, 3, 3, 5, 'python', 'python train.py'], [5, 4, 3, 5, 'python', 'python -c spawn_main']], [4, 'python train.py']],
  [
    'a script that starts it',
    5,
    [...LOGIN, [4, 3, 3, 5, 'bash', 'bash run.sh'], [5, 4, 3, 5, 'python3.11', '/usr/bin/python3.11 eval.py']],
    [4, 'bash run.sh'],
  ],
  [
    'a launcher whose workers have sessions of their own',
    5,
    [...LOGIN, [4, 3, 3, 5, 'torchrun', 'python /venv/bin/torchrun --nproc-per-node 8 train.py'], [5, 4, 5, 0, 'python', 'python -u train.py']],
    [4, 'torchrun train.py'],
  ],
  [
    'somebody else who opens sessions',
    5,
    [
      [4, 1, 4, 0, 'runner', '/opt/runner --daemon'],
      [5, 4, 5, 0, 'python', 'python job.py'],
    ],
    [5, 'python job.py'],
  ],
  ['left behind by its terminal', 4, [[4, 1, 3, 0, 'python', 'python -m vllm.entrypoints.api_server --model x']], [4, 'python -m vllm.entrypoints.api_server']],
  [
    'a Slurm step',
    6,
    [
      [4, 1, 4, 0, 'slurmstepd', 'slurmstepd: [7.0]'],
      [5, 4, 4, 0, 'bash', 'bash slurm_script'],
      [6, 5, 4, 0, 'python', 'python a.py'],
    ],
    [5, 'bash slurm_script'],
  ],
  [
    'inside of tmux',
    6,
    [
      [4, 1, 4, 0, 'tmux: server', 'tmux'],
      [5, 4, 5, 7, 'zsh', '-zsh'],
      [6, 5, 5, 7, 'python', 'python a.py'],
    ],
    [6, 'python a.py'],
  ],
])('%s', (_name, pid, rows, root) => {
  expect(rootOf(pid, rows)).toEqual(root)
})

test('a process that has gone has no lineage', () => {
  expect(rootOf(9, LOGIN)).toBeUndefined()
})

test('a command is called as a person calls it', () => {
  const named = (text: string): string => commandName(text.split(' '))
  expect(named('/usr/bin/python3.12 -u /home/ada/train.py --lr 1e-4')).toBe('python train.py')
  expect(named('python -W ignore train.py')).toBe('python train.py')
  expect(named('accelerate launch train.py')).toBe('accelerate launch train.py')
  expect(named('./a.out')).toBe('a.out')
  expect(named('bash -c secret')).toBe('bash -c')
  expect(commandName(['x', `${'y'.repeat(200)}\u001b[31m`])).toHaveLength(80)
})
