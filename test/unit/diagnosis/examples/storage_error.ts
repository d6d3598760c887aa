// Ends of jobs of the kind storage_error; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'a stale handle',
    text: 'Traceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\nOSError: [Errno 116] Stale file handle',
    kinds: ['storage_error'],
    facts: { errno: 116 },
  },
  {
    name: 'an input/output error',
    text: 'Traceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\nOSError: [Errno 5] Input/output error: \'/mnt/nfs/a.bin\'',
    kinds: ['storage_error'],
    facts: { errno: 5 },
  },
  {
    name: 'HDF5',
    text: 'Traceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\nOSError: Can\'t synchronously read data (file read failed: time = Mon Mar  2)',
    kinds: ['storage_error'],
  },
  { name: 'quiet: throughput', text: '2026-03-02 10:00:00,000 INFO io: input/output 512 MiB/s', kinds: [] },
]
