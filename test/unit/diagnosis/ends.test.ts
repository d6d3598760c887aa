// The judge of ends: what the log says and what the engine says give one verdict; ranks, restarts and long logs do not confuse it.
import * as fc from '../../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import { createEndReader } from '../../../agent/diagnosis/ends/end-reader.ts'
import { judgeEnd, type KnownEnd } from '../../../agent/diagnosis/ends/judge.ts'
import { explainChunks, explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'
import { readSituation } from '../../../agent/diagnosis/situation/situation.ts'

const traceback = (error: string, file = '/srv/job/main.py', line = 4): string =>
  `Traceback (most recent call last):\n  File "${file}", line ${line}, in run\n    go()\n${error}`
function ended(text: string, known: KnownEnd = {}): readonly [string | undefined, Readonly<Record<string, unknown>> | undefined] {
  const reader = createEndReader()
  text.split('\n').forEach((line, index) => reader.add(line, index + 1))
  const { verdict } = judgeEnd(reader.evidence(), [], () => readSituation(text), known)
  return [verdict?.kind, verdict?.facts]
}
const found = (text: string): readonly string[] => explainText(logScanner(), text).map(({ kind }) => kind)

describe('what the engine says', () => {
  test('a code without words is a failure, a signal is its kind', () => {
    expect(ended('step 1\nstep 2', { exitCode: 3 })).toMatchObject(['job_failed', { exit_code: 3 }])
    expect(ended('step 1', { exitCode: 139 })).toMatchObject(['segfault', { signal: 'SIGSEGV', exit_code: 139 }])
    expect(ended('step 1', { exitCode: 137 })).toMatchObject(['job_killed', { signal: 'SIGKILL' }])
    expect(ended('step 1', { signal: 'SIGBUS' })).toMatchObject(['bus_error', { signal: 'SIGBUS' }])
    expect(ended('step 1', { exitCode: 143, stopped: true })[0]).toBe('cancelled')
    expect(ended('step 1', { reason: 'time_limit', exitCode: 137 })[0]).toBe('time_limit')
    expect(ended('step 1', { reason: 'evicted' })).toMatchObject(['job_killed', { pattern: 'evicted' }])
  })
  test('the words of the program say more than its code', () => {
    expect(ended(traceback("KeyError: 'a'"), { exitCode: 1 })).toMatchObject(['python_exception', { exception: 'KeyError', frame: 'main.py:4', exit_code: 1 }])
    expect(ended(traceback("KeyError: 'a'"), { exitCode: 137 })[0]).toBe('python_exception')
  })
  test('a good end is silent, whatever was handled before', () => {
    expect(ended('step 1\nstep 2', { exitCode: 0 })[0]).toBeUndefined()
    expect(ended(`${traceback("KeyError: 'a'")}\n2026-03-02 10:00:00,000 INFO fit: epoch 2 of 9`, { exitCode: 0 })[0]).toBeUndefined()
  })
  test('a run that failed has a cause, although others went on after it', () => {
    expect(ended(`${traceback("KeyError: 'a'")}\n2026-03-02 10:00:00,000 INFO fit: epoch 2 of 9`, { exitCode: 1 })).toMatchObject([
      'python_exception',
      { exception: 'KeyError', exit_code: 1 },
    ])
  })
})

describe('which is the root', () => {
  test('a launcher names the process that failed first; the others it ended itself', () => {
    const table = (name: string, rank: number, code: string) => `${name}:\n[${rank}]:\n  rank      : ${rank} (local_rank: ${rank})\n  exitcode  : ${code}`
    const ended = `${table('Failures', 1, '-15 (pid: 62)  (SIGTERM)')}\n  traceback : Signal 15 (SIGTERM) received by PID 62`
    const [fault] = explainText(logScanner(), `${ended}\n${table('Root Cause (first observed failure)', 0, '5 (pid: 61)')}`)
    expect(fault).toMatchObject({ kind: 'job_failed', facts: { rank: 0, exit_code: 5, pid: 61 } })
    expect(fault?.facts.signal).toBeUndefined()
  })
  test('a process of spawn() is a rank', () => {
    const inner = traceback('AssertionError: shard 9')
    const text = `${traceback('torch.multiprocessing.spawn.ProcessRaisedException: ', '/srv/job/start.py')}\n\n-- Process 3 terminated with the following error:\n${inner}`
    expect(explainText(logScanner(), text)[0]).toMatchObject({ kind: 'python_exception', facts: { rank: 3, exception: 'AssertionError', frame: 'main.py:4' } })
  })
  test('an error of the program comes before what was only a warning at its start', () => {
    const warning = 'WARNING: The object store is using /tmp/ray instead of /dev/shm because /dev/shm has only 64000000 bytes available.'
    expect(found(`${warning}\n${traceback("KeyError: 'a'")}`)).toEqual(['python_exception', 'shm_exhausted'])
  })
  test('a helper that was stopped is no end where the program says that it went on', () => {
    expect(found('Stopped the monitor process (exit code -15)\nAll 3 stages completed successfully.')).toEqual([])
    expect(found(`an error was expected:\n${traceback("KeyError: 'a'")}\nself-test passed, 4 of 4`)).toEqual([])
    expect(found(`${traceback("KeyError: 'a'")}\n3 checks passed, 1 failed`)).toEqual(['python_exception'])
  })
  test('an out of memory keeps its traceback for itself', () => {
    const [fault, ...others] = explainText(
      logScanner(),
      traceback('torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 80.00 GiB of which 1.00 GiB is free.'),
    )
    expect(others).toEqual([])
    expect(fault).toMatchObject({ kind: 'cuda_oom', facts: { exception: 'OutOfMemoryError', frame: 'main.py:4' } })
  })
  test('the first rank that failed, not those that lost it', () => {
    const lost = '[rank0]: RuntimeError: [/gloo/transport/tcp/pair.cc:534] Connection closed by peer [127.0.0.1]:1234'
    const text = `${traceback(lost.slice(9)).replace(/^/gm, '[rank0]: ')}\n${traceback("KeyError: 'b'").replace(/^/gm, '[rank2]: ')}`
    expect(explainText(logScanner(), text)[0]).toMatchObject({ kind: 'python_exception', facts: { rank: 2, exception: 'KeyError' } })
  })
  test('what waits for a crashed rank comes after it', () => {
    const nccl =
      '[rank1]:[E ProcessGroupNCCL.cpp:629] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600100 milliseconds before timing out.'
    expect(found(`${nccl}\nrun.sh: line 3:  812 Segmentation fault      (core dumped) python main.py`)).toEqual(['segfault', 'nccl_error'])
    expect(found(`${nccl}\n${traceback("KeyError: 'b'").replace(/^/gm, '[rank0]: ')}`)).toEqual(['python_exception', 'nccl_error'])
  })
  test('the scheduler leads where its line comes first, and follows where it clears away', () => {
    const limit = 'slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-03-02T10:00:00 DUE TO TIME LIMIT ***'
    expect(found(`${limit}\n${traceback('KeyboardInterrupt')}`)).toEqual(['time_limit'])
    expect(found(`${traceback("KeyError: 'b'")}\nsrun: error: n1: task 2: Exited with exit code 1\n${limit.replace(' DUE TO TIME LIMIT', '')}`)).toEqual([
      'python_exception',
    ])
  })
  test('NaN comes before the exception that it brings about', () => {
    expect(found(`step 1 loss 0.4\nstep 2 loss nan\nstep 3 loss nan\n${traceback('ValueError: cannot convert float NaN to integer')}`)).toEqual(['nan_loss'])
  })
})

describe('a log of any length', () => {
  const filler = Array.from({ length: 9_000 }, (_, i) => `2026-03-02 10:00:00,000 INFO fit: step ${i} of 9000 loss 0.${i % 1_000} tokens 12345`)
  const lines = [
    ...filler.slice(0, 4_000),
    traceback('OSError: [Errno 5] Input/output error'),
    ...filler.slice(4_000),
    traceback("KeyError: 'z'", '/srv/job/end.py', 77),
    'srun: error: n1: task 2: Exited with exit code 1',
  ]
  const bytes = new TextEncoder().encode(lines.join('\n'))
  test('the end decides, wherever the pieces end', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 8 }), (cuts) => {
        const at = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
        const faults = explainChunks(
          logScanner(),
          at.slice(1).map((end, i) => bytes.subarray(at[i] ?? 0, end)),
        )
        expect(faults.map(({ kind, facts, evidence }) => [kind, facts.frame, facts.exit_code, evidence[0]?.line])).toEqual([
          ['python_exception', 'end.py:77', 1, 9_008],
        ])
      }),
      { numRuns: 30 },
    )
  })
  test('a rank that failed long before the end is found', () => {
    const early = [
      ...filler.slice(0, 500),
      traceback("KeyError: 'q'", '/srv/job/early.py', 9).replace(/^/gm, '[rank5]: '),
      ...Array.from({ length: 8_000 }, (_, i) => `waiting for rank 5, ${i} s, nothing new so far`),
      'srun: error: n1: task 5: Exited with exit code 1',
    ]
    const [fault] = explainChunks(logScanner(), [new TextEncoder().encode(early.join('\n'))])
    expect(fault).toMatchObject({ kind: 'python_exception', facts: { frame: 'early.py:9', rank: 5, exit_code: 1 } })
  })
})
