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
  {
    name: 'a volume',
    text: 'Warning  FailedMount  1s  kubelet  MountVolume.SetUp failed for volume "data" : mount failed: exit status 32\nOutput: mount.nfs: Connection timed out',
    kinds: ['storage_error'],
  },
  {
    name: 'a volume of another node',
    text: 'Warning  FailedAttachVolume  3m  attachdetach-controller  Multi-Attach error for volume "pvc-8" Volume is already used by pod(s) old-1',
    kinds: ['storage_error'],
  },
]
