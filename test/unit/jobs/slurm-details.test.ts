// What Slurm says of a job that runs, as its program prints it and as the job's environment has it; and the line that an epilog prints.
import { expect, test } from 'vitest'
import { processJob } from '../../../agent/jobs/identity.ts'
import { runLine } from '../../../agent/jobs/line.ts'
import type { Run } from '../../../agent/model/job.ts'
import { createSlurmBook, parseSlurmDetails, slurmEnvironment, slurmSeconds } from '../../../agent/sources/processes/slurm-details.ts'
import type { RunResult } from '../../../agent/sources/nvidia-smi/run.ts'

const line = (more: string, name = 'pretrain 7b'): string =>
  `JobId=4711 JobName=${name} UserId=ada(1000) GroupId=ml(100) MCS_label=N/A Priority=1 Account=vision QOS=normal JobState=RUNNING Reason=None TimeLimit=2-03:04:05 Partition=gpu NumNodes=2-2 NumCPUs=8 ${more}`

test('name with blanks, user, account, partition, time limit', () => {
  expect(parseSlurmDetails(line('TRES=cpu=8,mem=64G,node=2,billing=8,gres/gpu=4'))).toEqual({
    slurm_name: 'pretrain 7b',
    slurm_user: 'ada',
    account: 'vision',
    partition: 'gpu',
    time_limit_seconds: 2 * 86_400 + 3 * 3_600 + 4 * 60 + 5,
    gpus_requested: 4,
  })
})
test.each([
  ['by type', 'TRES=cpu=8,gres/gpu:h100=2,gres/gpu:a100=1', 3],
  ['asked for', 'ReqTRES=cpu=8,gres/gpu=8 AllocTRES=cpu=8,gres/gpu=8', 8],
  ['on each node', 'TresPerNode=gres:gpu:4', 8],
  ['on each node, by type', 'TresPerNode=gres/gpu:h100:2', 4],
  ['with both', 'TRES=gres/gpu=2,gres/gpu:h100=2', 2],
  ['none', 'TRES=cpu=8,mem=64G', undefined],
  ['something else', 'TRES=gres/gpumem=80G,gres/shard=3', undefined],
])('GPUs: %s', (_, tres, gpus) => expect(parseSlurmDetails(line(tres))?.gpus_requested).toBe(gpus))
test('what is not said is absent', () => {
  expect(parseSlurmDetails('JobId=1 JobName=(null) UserId=ada(1000) Account=(null) TimeLimit=UNLIMITED Partition=main')).toEqual({
    slurm_user: 'ada',
    partition: 'main',
  })
  expect(parseSlurmDetails('slurm_load_jobs error: Invalid job id specified')).toBeUndefined()
  expect(parseSlurmDetails('x'.repeat(100_000))).toBeUndefined()
})
test.each([
  ['05:00', 300],
  ['1:30:00', 5_400],
  ['1-00:00:00', 86_400],
  ['90', 5_400],
  ['UNLIMITED', undefined],
  ['Partition_Limit', undefined],
])('a limit of %s', (text, seconds) => expect(slurmSeconds(text)).toBe(seconds))

test('the environment of a job', () => {
  const environ = 'HOME=/home/ada\0SLURM_JOB_NAME=a b=c\0SLURM_JOB_ACCOUNT=vision\0SLURM_JOB_PARTITION=gpu\0SLURM_GPUS=h100:2\0HF_TOKEN=x\0'
  expect(slurmEnvironment(environ)).toEqual({ slurm_name: 'a b=c', account: 'vision', partition: 'gpu', gpus_requested: 2 })
})

test('the controller is asked once for each job, one at a time, and not where nobody may be asked', async () => {
  let running = 0
  let most = 0
  const asked: string[] = []
  const book = createSlurmBook(async (_command, args): Promise<RunResult> => {
    most = Math.max(most, ++running)
    asked.push(args.at(-1) ?? '')
    await new Promise(setImmediate)
    running--
    return { kind: 'ended', stdout: line(''), stderr: '', exitCode: 0, durationMs: 1 }
  })
  const answered = (job: string) => new Promise((resolve) => book.ask(job, resolve))
  await Promise.all([answered('1'), answered('2')])
  expect(await answered('1')).toMatchObject({ account: 'vision' })
  expect([asked, most]).toEqual([['1', '2'], 1])
  createSlurmBook(undefined).ask('3', () => expect.unreachable())
})

test('a job has the name, user and account that Slurm knows', () => {
  const root = { pid: 7, start_ticks: 1, command: 'python a.py' }
  const details = parseSlurmDetails(line('TRES=gres/gpu=4')) ?? {}
  expect(processJob({ type: 'process', t: 0, action: 'seen', pid: 7, root, ancestors: [], user: '1000', slurm_job: '4711', ...details })).toMatchObject({
    job: 'pretrain 7b',
    kind: 'slurm',
    user: 'ada',
    account: 'vision',
    partition: 'gpu',
    gpus_requested: 4,
  })
})

const GIB = 2 ** 30
const run = (more: Partial<Run>): Run => ({
  job_id: 'a'.repeat(16),
  job: 'train',
  kind: 'slurm',
  run: 1,
  started_at: 0,
  seen_at: 7_200_000,
  gpus: [],
  gpu_seconds: { active: 0, idle: 0, lost: 0 },
  incidents: [],
  ...more,
})
const gpu = (index: number, active: number, peak: number) => ({
  uuid: `GPU-${index}`,
  gpu: String(index),
  share: 1,
  held_seconds: 7_200,
  active_seconds: active,
  idle_seconds: 7_200 - active,
  memory_peak_bytes: peak * GIB,
  memory_total_bytes: 80 * GIB,
})
test.each([
  [
    'two of four',
    run({ gpus: [gpu(0, 900, 31), gpu(1, 828, 30), gpu(2, 0, 1)], gpus_requested: 4, energy_joules: 3.1 * 3.6e6, outcome: 'completed', ended_at: 7_200_000 }),
    'used 2 of 4 GPUs; peak 31 GiB of 80 GiB; 8 % busy; 3.10 kWh; completed after 2 h',
  ],
  ['all, still running', run({ gpus: [gpu(0, 7_000, 70)] }), 'used 1 GPU; peak 70 GiB of 80 GiB; 97 % busy; ran 2 h'],
  ['none', run({ gpus_requested: 2 }), 'used 0 of 2 GPUs; ran 2 h'],
  [
    'a failure',
    run({ outcome: 'failed', ended_at: 60_000, gpu_seconds: { active: 0, idle: 0, lost: 3_600 } }),
    'used no GPU; 60 GPU minutes lost; failed after 1 min',
  ],
])('in one line: %s', (_, of, text) => expect(runLine(of)).toBe(text))
