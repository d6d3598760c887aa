// A disk or a quota is full: checkpoints, downloads and images cannot be written.
import { joinedFrom } from '../joining.ts'
import { known, whole } from './parts/window.ts'
import { ruleFamily, type Seen } from './parts/rules.ts'
import type { Facts } from '../../model/facts.ts'
import type { Remedy } from '../../model/fault.ts'

const REMEDIES: readonly Remedy[] = [
  { text: 'See which file system is full: space, and inodes.', command: 'df -h; df -i' },
  { text: 'Docker: drop images and build cache that nothing uses.', command: 'docker system prune --all' },
  { text: 'Hugging Face: list and delete cached models, or move the cache.', command: 'hf cache ls   # export HF_HOME=/big/disk/hf' },
  { text: 'Keep fewer checkpoints (save_total_limit).' },
]
const QUOTA: readonly Remedy[] = [
  { text: 'See your quota and what fills it.', command: 'quota -s; du -xh --max-depth=1 "$HOME" | sort -h | tail' },
  { text: 'Move caches off the quota.', command: 'export HF_HOME=/scratch/$USER/hf' },
]
/** Shared memory has its own kind: bigger disks do not help there. */
const SHARED_MEMORY = /\/dev\/shm\b|posix_fallocate failed|<\/torch_|shared memory ?\(shm\)/
const PATH = /(?:'|"|write |writing |to |at )(\/[\w.@+/-]{2,200})/
const facts = ({ match, message }: Seen): Facts =>
  known({
    errno: whole(
      /\[Errno (\d{1,3})\]|os error (\d{1,3})\)|error writing.{0,80}\((\d{1,3})\)/
        .exec(message.slice(Math.max(0, match.index - 40)))
        ?.slice(1)
        .find((group) => group !== undefined),
    ),
    path: PATH.exec(message.slice(Math.max(0, match.index - 240), match.index + 300))?.[1],
  })
const FREE = /only has (\d{1,12}(?:\.\d{1,4})?) MB free/
const DECIMAL_MB = 1_000_000
const severity = 'critical'
const title = 'Disk full'

export const diskFull = ruleFamily({
  id: 'disk-full',
  kind: 'disk_full',
  literals: [
    'No space left on device',
    'no space left on device',
    'Disk quota exceeded',
    'disk quota exceeded',
    'Not enough free disk space',
    'PytorchStreamWriter failed writing file',
    'There is not enough space on the disk',
    'not enough disk space',
    'ENOSPC: ',
    'file write failed',
    'database or disk is full',
    'low on resource: ephemeral-storage',
    'NoSpaceLeftError',
  ],
  facts,
  rules: [
    {
      pattern:
        /[Nn]o space left on device|There is not enough space on the disk|database or disk is full|NoSpaceLeftError|low on resource: ephemeral-storage|\bENOSPC\b[:,]/,
      severity,
      title,
      remedies: REMEDIES,
      verdict: ({ match, message }) => {
        const path = PATH.exec(message.slice(Math.max(0, match.index - 240), match.index + 300))?.[1]
        return `A write failed because the file system${path === undefined ? '' : ` with ${path}`} has no space (or no inodes) left.`
      },
      unless: ({ message, text, at }) => SHARED_MEMORY.test(message) || SHARED_MEMORY.test(text[at - 1] ?? ''),
    },
    {
      pattern: /[Dd]isk quota exceeded/,
      severity,
      title: 'Disk quota used up',
      remedies: QUOTA,
      verdict: 'A write failed because the quota of this user or directory is used up; the disk itself may have room.',
    },
    {
      pattern: /Not enough free disk space to download the file/,
      facts: ({ text, at }) => {
        const message = joinedFrom(text, at, 4)
        const free = FREE.exec(message)?.[1]
        return known({
          free_bytes: free === undefined ? undefined : Math.round(Number(free) * DECIMAL_MB),
          path: /target location (\/\S{1,300})/.exec(message)?.[1],
        })
      },
      severity: 'warning',
      title,
      remedies: REMEDIES,
      verdict: 'The hub client sees too little free space for the file that it is to download.',
      // On network file systems the free space is misread as none, and the download goes on.
      unless: ({ text, at }) => text.slice(at + 1, at + 12).some((line) => /100%\|/.test(line)),
    },
    {
      pattern: /PytorchStreamWriter failed writing file[^]{0,80}?file write ?failed/,
      severity,
      title: 'A checkpoint could not be written',
      remedies: REMEDIES,
      verdict: 'torch.save could not write its file: the disk or the quota is full, in nearly all cases.',
    },
    {
      pattern: /\bnot enough disk space\b/,
      severity: 'warning',
      title,
      remedies: REMEDIES,
      verdict: 'A program refused to write because too little disk space is free.',
    },
  ],
})
