// What Slurm and systemd say of a job's end, as their programs print it, and when nothing more is to be expected.
import { expect, test } from 'vitest'
import { createEndings } from '../../../agent/sources/processes/endings.ts'
import { parseSlurmJob } from '../../../agent/sources/processes/slurm.ts'
import { parseUnit } from '../../../agent/sources/processes/systemd.ts'
import type { RunResult } from '../../../agent/sources/nvidia-smi/run.ts'
import type { Ask } from '../../../agent/sources/processes/reported-end.ts'

const job = (state: string, reason: string, code: string): string =>
  `JobId=7 JobName=a UserId=ada(1000) JobState=${state} Reason=${reason} Dependency=(null) ExitCode=${code} RunTime=00:00:04`
test.each([
  ['COMPLETED', 'None', '0:0', { words: 'COMPLETED', outcome: 'completed', exit_code: 0 }],
  ['FAILED', 'NonZeroExitCode', '3:0', { words: 'FAILED, NonZeroExitCode', exit_code: 3 }],
  ['FAILED', 'RaisedSignal:11', '0:11', { words: 'FAILED, RaisedSignal:11', signal: 'SIGSEGV' }],
  ['CANCELLED', 'None', '0:15', { words: 'CANCELLED', outcome: 'cancelled', signal: 'SIGTERM' }],
  ['TIMEOUT', 'TimeLimit', '0:0', { words: 'TIMEOUT, TimeLimit', outcome: 'time_limit' }],
  ['OUT_OF_MEMORY', 'OutOfMemory', '0:125', { words: 'OUT_OF_MEMORY, OutOfMemory', outcome: 'out_of_memory' }],
  ['PREEMPTED', 'None', '0:0', { words: 'PREEMPTED', outcome: 'preempted' }],
  ['PENDING', 'BeginTime', '0:0', { words: 'PENDING, BeginTime', outcome: 'preempted' }],
  ['NODE_FAIL', 'NodeDown', '0:0', { words: 'NODE_FAIL, NodeDown', outcome: 'killed' }],
] as const)('Slurm: %s', (state, reason, code, end) => {
  expect(parseSlurmJob(job(state, reason, code))).toEqual({ by: 'Slurm', ...end })
})
test('Slurm: what goes on, and what is not known', () => {
  expect(parseSlurmJob(job('COMPLETING', 'TimeLimit', '0:0'))).toBe('running')
  expect(parseSlurmJob(job('RUNNING', 'None', '0:0'))).toBe('running')
  expect(parseSlurmJob('slurm_load_jobs error: Invalid job id specified')).toBeUndefined()
})

const unit = (result: string, how: number, status: number, state = 'failed', pid = 42): string =>
  `Result=${result}\nExecMainPID=${pid}\nExecMainCode=${how}\nExecMainStatus=${status}\nActiveState=${state}\n`
test.each([
  ['exit code', unit('exit-code', 1, 3), { words: 'Result=exit-code', exit_code: 3 }],
  ['memory', unit('oom-kill', 2, 9), { words: 'Result=oom-kill', outcome: 'out_of_memory', signal: 'SIGKILL' }],
  ['crash', unit('core-dump', 3, 11), { words: 'Result=core-dump', signal: 'SIGSEGV' }],
  ['time', unit('timeout', 2, 15), { words: 'Result=timeout', outcome: 'time_limit', signal: 'SIGTERM' }],
  ['stopped', unit('success', 2, 15, 'inactive'), { words: 'stopped', outcome: 'cancelled', signal: 'SIGTERM' }],
  ['done', unit('success', 1, 0, 'inactive'), { words: 'Result=success', exit_code: 0 }],
] as const)('systemd: %s', (_name, text, end) => {
  expect(parseUnit(text, 42)).toEqual({ by: 'systemd', ...end })
})
test('systemd: another process than the main one, one that still stops, nothing', () => {
  expect(parseUnit(unit('success', 1, 0, 'active', 43), 42)).toBeUndefined()
  expect(parseUnit(unit('success', 0, 0, 'deactivating'), 42)).toBe('running')
  expect(parseUnit('', 42)).toBeUndefined()
})

const ROOT = { pid: 42, startTicks: 1 }
const answering = (...texts: readonly string[]): Ask => {
  const left = [...texts]
  return async () => ({ kind: 'ended', stdout: left.shift() ?? '', stderr: '', exitCode: 0, durationMs: 1 })
}
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('an end is told when its scheduler says how, and at once where nobody can be asked', async () => {
  const slurm = { ...ROOT, slurmJob: '7' }
  const endings = createEndings(answering(job('COMPLETING', 'None', '0:0'), job('FAILED', 'NonZeroExitCode', '1:0')))
  expect(endings.settled([ROOT], 0)).toEqual([{ root: ROOT }])
  expect(endings.settled([slurm], 0)).toEqual([])
  await settle()
  expect(endings.settled([slurm], 1_000)).toEqual([])
  await settle()
  expect(endings.settled([slurm], 2_000)).toEqual([{ root: slurm, reported: { by: 'Slurm', words: 'FAILED, NonZeroExitCode', exit_code: 1 } }])
  expect(createEndings(undefined).settled([slurm], 0)).toEqual([{ root: slurm }])
})

test('a service that does not get to an end is told without it', async () => {
  const service = { ...ROOT, unit: 'train.service' }
  const endings = createEndings(answering(...Array.from({ length: 20 }, () => unit('success', 0, 0, 'deactivating'))))
  for (let t = 0; t < 10_000; t += 1_000) {
    expect(endings.settled([service], t)).toEqual([])
    await settle()
  }
  expect(endings.settled([service], 10_000)).toEqual([{ root: service }])
})

test('who does not answer in time is asked again, for a minute', async () => {
  const slurm = { ...ROOT, slurmJob: '7' }
  const said = job('TIMEOUT', 'TimeLimit', '0:0')
  const busy: RunResult = { kind: 'timeout', pid: 1, deadlineMs: 2_000 }
  const restarting: RunResult = { kind: 'ended', stdout: '', stderr: 'slurm_load_jobs error: Unable to contact slurm controller', exitCode: 1, durationMs: 1 }
  const left: RunResult[] = [busy, restarting, { kind: 'still_hanging', pid: 1 }]
  const endings = createEndings(async () => left.shift() ?? { kind: 'ended', stdout: said, stderr: '', exitCode: 0, durationMs: 1 })
  for (let t = 0; t < 4_000; t += 1_000) {
    expect(endings.settled([slurm], t)).toEqual([])
    await settle()
  }
  expect(endings.settled([slurm], 4_000)).toEqual([{ root: slurm, reported: { by: 'Slurm', words: 'TIMEOUT, TimeLimit', outcome: 'time_limit' } }])

  const never = createEndings(async () => busy)
  for (let t = 0; t < 60_000; t += 1_000) {
    expect(never.settled([slurm], t)).toEqual([])
    await settle()
  }
  expect(never.settled([slurm], 60_000)).toEqual([{ root: slurm }])
})
