// Reports of NCCL's RAS as text: which rank, in which communicator, and no verdict that one report does not carry.
import { describe, expect, test } from 'vitest'
import { headline } from '../../../agent/hang/text.ts'
import { judge } from '../../../agent/hang/judge/judge.ts'
import { evidenceOf, folderOf, judged } from './job-folder.ts'
import { runCli } from '../cli/run-cli.ts'

const HASH = '00a1b2c3d4e5f607'
const title = (text: string): string => `${text}\n${'='.repeat(text.length)}\n\n`
/** A job of 16 GPUs on two nodes, as one communicator. */
const report = (errors: string, warnings: string, status = 'OK', nccl = '2.27.5'): string =>
  [
    `NCCL version ${nccl} compiled with CUDA 12.8\nCUDA runtime version 12080, driver version 12080\n\n`,
    title('Job summary'),
    '  Nodes  Processes         GPUs  Processes     GPUs\n(total)   per node  per process    (total)  (total)\n      2          8            1         16       16\n\n',
    'Communicators... (0.01s)\n=============\n\n',
    'Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors\n    #  in group  per comm  per node  per comm  in group\n',
    `    0         1         2         8        16        16   RUNNING  ${status}\n\n`,
    title('Errors'),
    errors,
    title('Warnings'),
    warnings,
  ].join('')
const process = (rank: number): string => `GPU ${rank % 8} managed by process ${7000 + rank} on node 10.1.0.${1 + (rank >> 3)}`
const behind = (rank: number, count: number): string =>
  `#0-0 (${HASH}) MISMATCH\n  Communicator ranks have different AllReduce operation counts\n  15 ranks have launched up to operation ${count}\n  Rank ${rank} has launched up to operation ${count - 1} -- ${process(rank)}\n\n`
const silent = (rank: number): string =>
  `INCOMPLETE\n  Missing communicator data from 1 job process\n  Process ${7000 + rank} on node 10.1.0.${1 + (rank >> 3)} managing GPU ${rank % 8}\n\n#0-0 (${HASH}) INCOMPLETE\n  Missing communicator data from 1 rank\n  Rank ${rank} -- ${process(rank)}\n\n`

describe('a report of ncclras', () => {
  test('a process does not answer: its rank, its GPU and its node are named', () => {
    const evidence = evidenceOf({ 'ncclras.txt': report(silent(11), '', 'INCOMPLETE') })
    const answer = judge(evidence)
    expect(answer).toMatchObject({ verdict: 'hang', cause: 'dead', culprits: [11] })
    expect(evidence.ranks.get(11)).toMatchObject({ pid: 7011, host: '10.1.0.2', gpu: 3 })
    expect(evidence.nccl).toBe('2.27.5')
    expect(headline(evidence, answer)).toContain('Rank 11')
    expect(answer.evidence.join('\n')).toContain('rank 11 does not answer NCCL (RAS)')
  })

  test('a process that is considered dead is named by its process, too', () => {
    const dead = 'DEAD\n  1 job process is considered dead (unreachable via the RAS network)\n  Process 7011 on node 10.1.0.2 managing GPU 3\n\n'
    const answer = judged({ 'ncclras.txt': report(`${dead}${silent(11)}`, '', 'INCOMPLETE') })
    expect(answer).toMatchObject({ verdict: 'hang', culprits: [11] })
    expect(answer.evidence.join('\n')).toContain('considers process 7011 on 10.1.0.2 (GPU 3) dead')
  })

  test('counts that differ once are no hang: a running job shows the same', () => {
    expect(judged({ 'ncclras.txt': report('', behind(5, 640), 'MISMATCH') })).toMatchObject({ verdict: 'unknown', culprits: [5] })
  })
  test('the same counts in two reports: the rank that launched less is missing', () => {
    const same = report('', behind(5, 640), 'MISMATCH')
    expect(judged({ 'ras_1.txt': same, 'ras_2.txt': same })).toMatchObject({ verdict: 'hang', cause: 'missing', culprits: [5], confidence: 'likely' })
  })
  test('other counts in the second report: the job goes on', () => {
    const files = { 'ras_1.txt': report('', behind(5, 640), 'MISMATCH'), 'ras_2.txt': report('', behind(9, 655), 'MISMATCH') }
    expect(judged(files)).toMatchObject({ verdict: 'healthy', culprits: [] })
  })
  test('where all is well, nothing is claimed, in one report or in two', () => {
    const well = report('', '')
    expect(judged({ 'ras_1.txt': well, 'ras_2.txt': well })).toMatchObject({ culprits: [] })
    expect(judged({ 'ras_1.txt': well, 'ras_2.txt': well }).verdict).not.toBe('hang')
  })
  test('an error of a rank is quoted with its communicator', () => {
    const error = `#0-0 (${HASH}) ERROR\n  Asynchronous error on 1 rank\n  Rank 4 reported Unhandled system error -- ${process(4)}\n\n`
    expect(judged({ 'ncclras.txt': report(error, '', 'ERROR') }).evidence.join('\n')).toContain(
      `rank 4 reported Unhandled system error, in communicator ${HASH} of 16 ranks`,
    )
  })
  test('numbers that no communicator has are passed over (NCCL 2.27 can print any)', () => {
    const wrong = `#0-0 (${HASH}) INCOMPLETE\n  Missing communicator data from 255 ranks\n  Rank 1057455228 -- GPU 0 managed by process 7 on node 10.1.0.1\n\n`
    expect(judged({ 'ncclras.txt': report(wrong, '', 'INCOMPLETE') }).culprits).toEqual([])
  })
  test('two reports in one file are two looks', () => {
    const same = report('', behind(5, 640), 'MISMATCH')
    expect(judged({ 'ncclras.txt': `${same}\n${same}` })).toMatchObject({ verdict: 'hang', cause: 'missing', culprits: [5] })
  })
  test('a report that repeats itself for 4 MB says nothing that one does not', () => {
    const { verdict, culprits } = judged({ 'ncclras.txt': `${report('', behind(5, 640), 'MISMATCH')}${behind(5, 640).repeat(20_000)}` })
    expect(verdict).not.toBe('hang')
    expect(culprits).toEqual([])
  })
})

describe('on the command line', () => {
  const file = (): string => `${folderOf({ 'ncclras.txt': report(silent(11), '', 'INCOMPLETE') })}/ncclras.txt`
  test.each(['hang', 'explain'])('%s of the file names the rank', async (command) => {
    const { code, stdout } = await runCli([command, file()])
    expect(stdout).toContain('Hang: Rank 11')
    expect(code).toBe(1)
  })
})
