// Messages of clusters and servers that are alone in a question. All texts are written for this test.
import { expect, test } from 'vitest'
import { answer } from './answer.ts'
import { kindRows } from './advice-rows.ts'

kindRows('a question', [
  ['kubectl without a login', 'error: You must be logged in to the server (Unauthorized)', 'permission_denied', /kubectl config get-contexts/],
  [
    'an event of the kubelet',
    '  Warning  BackOff  3s (x9 over 2m)  kubelet  Back-off restarting failed container fit in pod fit-0_lab(0b1c22d4)',
    'job_failed',
    /kubectl logs fit-0 -n lab -c fit --previous/,
  ],
  ['srun alone says it', 'srun: error: gpu07: task 0: Out Of Memory', 'host_oom_kill', /task 0 on gpu07/],
  [
    'a server that is not there yet',
    "curl: (7) Failed to connect to localhost port 8000 after 0 ms: Couldn't connect to server",
    'network_error',
    /-p 8000:8000[^]*sport = :8000/,
  ],
  ['a server inside a container', 'curl: (56) Recv failure: Connection reset by peer', 'network_error', /--host 0\.0\.0\.0/],
])

test.each([
  ['another host', 'curl: (7) Failed to connect to mirror.example.org port 443 after 3 ms: No route to host'],
  [
    'the end itself is reported',
    '    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n  Warning  BackOff  3s  kubelet  Back-off restarting failed container fit in pod fit-0_lab(0b1c)',
  ],
])('left alone: %s', (_, text) => {
  expect(answer(text).all).not.toMatch(/Nothing listens|crashes again and again/)
})

kindRows('storage and devices of a host', [
  ['a disk', 'kernel: blk_update_request: I/O error, dev sda, sector 1234567 op 0x0:(READ)', 'storage_error', /smartctl -a \/dev\/sda/],
  ['an NVMe disk', 'nvme nvme1: I/O 512 QID 4 timeout, aborting', 'storage_error', /nvme1/],
  [
    'ext4',
    'EXT4-fs error (device nvme0n1p2): ext4_find_entry:1455: inode #2: comm python: reading directory lblock 0',
    'storage_error',
    /findmnt[^]*\/dev\/nvme0n1p2/,
  ],
  ['XFS', 'XFS (md0): Metadata corruption detected at xfs_buf_ioend+0x10/0x20 [xfs], xfs_inode block 0x60', 'storage_error', /md0 \(XFS\)/],
  [
    'a GPU that is in use',
    'GPU 00000000:3B:00.0 is currently in use by one or more other processes (e.g. Fabric Manager). Please close them.',
    'gpu_busy',
    /in use/,
  ],
])

test('a drive without a medium is no fault', () => {
  expect(answer('kernel: I/O error, dev sr0, sector 0 op 0x0:(READ)').kind).toBeUndefined()
})
