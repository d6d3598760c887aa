// Full disks and quotas; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['disk_full']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'Python',
    text: "OSError: [Errno 28] No space left on device: '/data/ckpt/step-100.pt'",
    kinds: one,
    facts: { errno: 28, path: '/data/ckpt/step-100.pt' },
  },
  { name: 'Docker', text: 'failed to register layer: write /opt/lib/libtorch_cuda.so: no space left on device', kinds: one },
  { name: 'a quota', text: 'OSError: [Errno 122] Disk quota exceeded', kinds: one, facts: { errno: 122 } },
  {
    name: 'torch.save',
    text: 'RuntimeError: [enforce fail at inline_container.cc:603] . PytorchStreamWriter failed writing file data/12: file write failed',
    kinds: one,
  },
  {
    name: 'the hub',
    text: 'UserWarning: Not enough free disk space to download the file. The expected file size is: 500.00 MB. The target location /models only has 12.00 MB free disk space.',
    kinds: one,
    facts: { free_bytes: 12_000_000 },
  },
  {
    name: 'quiet: the download went on',
    text: 'UserWarning: Not enough free disk space to download the file. The expected file size is: 0.10 MB. The target location /nfs only has 0.00 MB free disk space.\nconfig.json: 100%|██████████| 1.2k/1.2k [00:00<00:00, 1.1MB/s]',
    kinds: [],
  },
  { name: 'quiet: df', text: '/dev/nvme0n1p2  1.8T  900G  800G  53% /', kinds: [] },
  {
    name: 'NumPy',
    text: 'Traceback (most recent call last):\n  File "/srv/job/cache.py", line 7, in write\n    np.save(path, rows)\nOSError: 300000 requested and 4096 written',
    kinds: one,
    facts: { exception: 'OSError', frame: 'cache.py:7' },
  },
  { name: 'quiet: of requests', text: '12 pages requested and 3 written so far', kinds: [] },
  { name: "Ollama's models", text: 'Error: write /root/.ollama/models/blobs/sha256-cd-partial: no space left on device', kinds: ['disk_full'] },
]
