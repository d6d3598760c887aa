// What a log only tells of is no fault of its run: an earlier run's end, a quotation, a test that was meant to fail, a trial of a study.
import { describe, expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const explained = (text: string) => explainText(logScanner(), text)
const kinds = (text: string): readonly string[] => explained(text).map(({ kind }) => kind)

const WATCHDOG =
  '[rank5]:[E1104 08:11:12.100 ProcessGroupNCCL.cpp:616] [Rank 5] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=77) ran for 1800011 ms'

describe('told of, not seen', () => {
  test.each([
    [
      'the end of an earlier run',
      'Previous run ended with: RuntimeError: NCCL communicator was aborted on rank 1\nstep 510 loss 1.91\nstep 520 loss 1.90\nSaved ckpt/last',
    ],
    [
      'a quotation above a run that goes on',
      `Notes for the night shift:\n> ${WATCHDOG}\nThe switch was replaced since.\nstep 12 loss 2.41\nstep 24 loss 2.38\nTraining finished.`,
    ],
    [
      'a test that is meant to fail',
      'tests/test_fit.py::test_too_large XFAIL (CUDA out of memory on purpose)   [ 50%]\ntests/test_fit.py::test_fits PASSED   [100%]\n1 passed, 1 xfailed in 3.10s',
    ],
    [
      'a trial of a study',
      "[W 2026-02-03 11:00:00,100] Trial 7 failed with parameters: {'lr': 3.0} because of the following error: ValueError('loss is nan').\n[I 2026-02-03 11:05:00,100] Trial 8 finished with value: 0.31.\nStudy done.",
    ],
    ['a manual', '## What to do\n* `CUDA out of memory`: halve the batch.\n1. `NCCL timeout`: look at the switch.'],
    ['what is searched in another file', '$ grep -n "CUDA out of memory" ../old/run.log\n$ python fit.py\nstep 3 loss 1.2'],
    ['a data set of questions', '{"question": "What is CUDA out of memory?", "answer": "Too large a batch."}'],
    ['a list of changes', '* Fixed "CUDA error: invalid device ordinal" on hosts with one GPU\n- Avoid NCCL error: unhandled system error without InfiniBand'],
    [
      'code that a script prints',
      '    print("CUDA out of memory, taking the CPU")\n# RuntimeError: CUDA error: an illegal memory access was encountered\nstep 1 loss 2.0\nstep 2 loss 1.9',
    ],
    [
      'a help text',
      '  --on-oom MODE   what to do when a batch fails with "CUDA out of memory"\n  --timeout S     stop workers that do not answer; exit code 124',
    ],
    ['a test that wants the error', '    alloc_test.go:12: got expected error: CUDA_ERROR_OUT_OF_MEMORY: out of memory\nPASS'],
    ['a bench of errors', 'wrong address    cudaErrorIllegalAddress (expected)'],
    [
      'what a passed test logged',
      'Traceback (most recent call last):\n  File "/w/test_job.py", line 4, in broken\n    raise ValueError("x")\nValueError: x\nPASSED                [100%]',
    ],
    [
      'a panic that a test wants',
      "thread 'tests::empty' panicked at src/lib.rs:9:5:\nnothing there\ntest tests::empty - should panic ... ok\n\ntest result: ok. 3 passed; 0 failed",
    ],
    ['a question of a data set', 'Item 4: Q: Complete: "Process finished with exit code 137"\nA: memory'],
    [
      'a library that is replaced',
      '2026-02-03 08:00:02 | WARNING | No flash_attn (libcudart.so.11.0: cannot open shared object file: No such file or directory), using eager attention',
    ],
    ['a kernel that was only tried', '  triton_mm_4 inf ms 0.0% <OutOfResources: out of resource: shared memory, Required: 300000, Hardware limit: 232448.>'],
    [
      'buffers that are made smaller',
      'ggml_backend_cuda_buffer_type_alloc_buffer: allocating 900.00 MiB on device 0: cudaMalloc failed: out of memory\nggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 943718400\nllama_init_from_model: compute buffer allocation failed, retrying without pipeline parallelism\nmain: server is listening',
    ],
    ['a run that is named', 'The job of Tuesday failed with CUDA error: an illegal memory access was encountered, mended in 2.1.'],
    ['prose about another day', 'CUDA out of memory was the reason last week, the batch is smaller now\nstep 40 loss 1.02\nstep 50 loss 1.01'],
    ['a helper that the script ends', 'Stopping the board (pid 411)\n[1]+  Terminated              tensorboard --logdir out\nAll done, exit 0'],
    [
      'a server that was told to stop and did',
      'INFO: received SIGTERM, draining\nINFO:     Shutting down\nINFO:     Application shutdown complete.\nINFO:     Finished server process [7]',
    ],
  ])('%s', (_, text) => {
    expect(kinds(text)).toEqual([])
  })
  test('the same words of the run itself are a fault', () => {
    expect(kinds('RuntimeError: NCCL communicator was aborted on rank 1')).toContain('nccl_error')
    expect(kinds(`> ${WATCHDOG}\n> terminate called after throwing an instance of 'c10::DistBackendError'`)).toContain('nccl_error')
    expect(kinds('RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB')).toContain('cuda_oom')
    expect(kinds('INFO: received SIGTERM, saving\nINFO: state saved to /ckpt/last')).toContain('job_killed')
    for (const before of [
      'Job 7 failed last night with',
      'The run on gpu03 failed:',
      'last attempt 3/3 failed:',
      '1. `python fit.py` -',
      'The training on 4 GPUs stopped:',
    ])
      expect(kinds(`${before} RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB`)).toContain('cuda_oom')
    expect(kinds('{"message":"RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB","level":"error"}')).toContain('cuda_oom')
    expect(kinds('NVRM: Xid (PCI:0000:01:00): 79, pid=1, GPU has fallen off the bus; the previous session ended')).toContain('xid')
    expect(kinds('batch 7 SKIPPED: RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB')).toContain('cuda_oom')
    expect(kinds('torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB; it was enough last week')).toContain('cuda_oom')
  })
})

test('the allocator of host memory without the name of its exception', () => {
  const text =
    "[enforce fail at alloc_cpu.cpp:118] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 68719476736 bytes. Error code 12 (Cannot allocate memory)"
  expect(explained(text)).toMatchObject([{ kind: 'host_memory', facts: { requested_bytes: 68_719_476_736 } }])
})

test('a frame in an extension of the web UI is not the own code of who runs it', () => {
  const text = [
    'Traceback (most recent call last):',
    '  File "/srv/app/generate.py", line 31, in <module>',
    '    run(args)',
    '  File "/srv/stable-diffusion-webui/extensions/sd-webui-poses/scripts/poses.py", line 84, in run',
    '    return table[key]',
    "KeyError: 'left_hand'",
  ].join('\n')
  expect(explained(text)).toMatchObject([{ kind: 'python_exception', facts: { frame: 'generate.py:31' } }])
})

test('a step that Slurm ended because one of its tasks failed was not cancelled by anybody', () => {
  const text = 'error: *** STEP 9120.0 ON node7 CANCELLED AT 2026-02-03T10:00:00 DUE TO TASK FAILURE ***'
  expect(explained(text)).toMatchObject([{ kind: 'job_failed', facts: { job_id: 9_120 } }])
})

test('who noticed the signal names the rank', () => {
  const text = 'mpiexec noticed that process rank 3 with PID 811 on node n1 exited on signal 11 (Segmentation fault).'
  expect(explained(text)).toMatchObject([{ kind: 'segfault', facts: { rank: 3, pid: 811 } }])
})

describe('what an end says of itself', () => {
  test.each([
    ["Error: Invalid value for '--dtype': 'fp3' is not one of 'fp16', 'bf16'.", 'config_error', {}],
    ['Sorry: IndentationError: unexpected indent (net.py, line 7)', 'python_exception', { exception: 'IndentationError' }],
    ['/srv/job.sh: line 9: DATA_DIR: unbound variable', 'job_failed', {}],
    ['ERROR: Unknown pair style lj/cut/none (src/force.cpp:275)\nLast command: pair_style lj/cut/none', 'job_failed', {}],
    ['Fatal error:\nCannot run on a GPU because none is detected.\n\nFor more information check the GROMACS website', 'python_exception', {}],
    ['Program received signal SIGSEGV: Segmentation fault - invalid memory reference.', 'segfault', { signal: 'SIGSEGV' }],
    ['com.nvidia.spark.rapids.jni.GpuRetryOOM: GPU OutOfMemory', 'cuda_oom', {}],
    ['mxnet.base.MXNetError: cudaMalloc retry failed: out of memory', 'cuda_oom', { exception: 'MXNetError' }],
    ["OSError: [Errno 5] Input/output error: '/mnt/share/part-3.bin'", 'storage_error', { path: '/mnt/share/part-3.bin' }],
    ['slurmstepd: error: Detected 2 oom_kill events in StepId=7401.0. Some of the step tasks have been OOM Killed.', 'host_oom_kill', { job_id: 7_401 }],
    [
      "/srv/bot/main.js:9\n    throw new Error('no weights');\n    ^\n\nError: no weights\n    at run (/srv/bot/main.js:9:11)",
      'python_exception',
      { frame: 'main.js:9' },
    ],
  ])('%s', (text, kind, facts) => {
    expect(explained(text)[0]).toMatchObject({ kind, facts })
  })
})
