// What the kernel says of disks and file systems that fail: programs then get errors of reading and writing, or wait.
import { rowFamily, step, type Row } from './parts/rows.ts'

const ROWS: readonly Row[] = [
  {
    kind: 'storage_error',
    // Not of drives without a medium.
    pattern:
      /\bI\/O error,? (?:on )?dev(?:ice)? (?!fd\d|sr\d|loop)([a-z][\w-]{1,30})\b|\bnvme (nvme\d{1,3}): I\/O (?:tag )?\d{1,6}[^\n]{0,40} timeout, (?:aborting|reset|disable)/,
    title: 'A disk does not answer as it should',
    verdict: ({ match }) =>
      `The disk ${match[1] ?? match[2]} failed to read or write, or did not answer in time: programs get an I/O error or wait, and files may be damaged.`,
    remedies: ({ match }) => [
      step('See which errors it counts itself.', `sudo smartctl -a /dev/${match[1] ?? match[2]} | grep -iE 'error|health|spare|realloc|pending'`),
      step('Save what is on it elsewhere, checkpoints first, and have the disk, its cable or slot looked at. A disk of a network or cloud: see its service.'),
    ],
    severity: 'warning',
  },
  {
    kind: 'storage_error',
    pattern:
      /\b(EXT4-fs|XFS|BTRFS)(?=(?: (?:error|critical)\b| \([^)\n]{2,60}\):? [^\n]{0,80}?(?:[Cc]orrupt|Remounting filesystem read-only|[Ss]hutting down|forced readonly|checksum)))[^(\n]{0,12}\((?:device )?([\w-]{2,40})/,
    title: 'The file system on {2} has errors',
    verdict: 'The kernel found {2} ({1}) damaged, or its disk failing. It may be read-only from now on, and then no checkpoint can be written there.',
    remedies: [
      step('See whether it is read-only, and which folders are on it.', 'findmnt -o TARGET,SOURCE,OPTIONS /dev/{2}'),
      step('Read which errors there are: of the disk below it too.', 'sudo dmesg -T | grep {2} | tail -n 30'),
      step('Save what matters, then unmount it and have it checked (fsck, xfs_repair), which ends what uses it.'),
    ],
    severity: 'warning',
  },
]

export const hostDisks = rowFamily(
  'host-disks',
  [
    'I/O error',
    ' timeout, aborting',
    ' timeout, reset',
    ' timeout, disable',
    'EXT4-fs error',
    'Remounting filesystem read-only',
    'orruption detected',
    'hutting down filesystem',
    'BTRFS error',
    'BTRFS critical',
    'forced readonly',
  ],
  ROWS,
)
