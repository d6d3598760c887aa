// Reading or writing fails in the storage itself: disks, network file systems, HDF5.
import { WEIGHT, anyOf, pathIn, raises, saying, says, type EndKind } from '../end-kind.ts'
import { kindOfErrno } from '../errno.ts'

const claims = anyOf(
  says(
    /Input\/output error|Stale (?:NFS )?file handle|Remote I\/O error|Transport endpoint is not connected|\bEIO\b|\bESTALE\b|database disk image is malformed|[Uu]nable to lock file|[Cc]an't (?:read|write|open|synchronously (?:read|write)) data|[Uu]nable to (?:synchronously )?(?:create|open|write) (?:file|dataset|attribute) \(|HDF5 (?:error|library)|Structure needs cleaning|[Bb]ad file descriptor|unexpected bus error reading/,
    WEIGHT.errno + 0.5,
    (match) => {
      const path = pathIn(match.input) ?? /: '((?:\/|\.{1,2}\/)[^'\n]{1,400})'$/.exec(match.input)?.[1]
      return path === undefined ? {} : { path }
    },
  ),
  raises(/^(?:HDF5|HDF5ExtError|StorageError|StorageException)$/),
)

const OWN = /[Uu]nable to lock file/

export const storageError: EndKind = {
  kind: 'storage_error',
  stage: 'cause',
  severity: 'critical',
  // HDF5 wraps every failure of the system: its number decides.
  claims: (error) => (error.errno !== undefined && kindOfErrno(error.errno) !== 'storage_error' && !OWN.test(error.full) ? undefined : claims(error)),
  title: () => 'Storage failed',
  verdict: (context) =>
    saying(
      context,
      'could not read or write',
      context.error?.name === 'HDF5' && context.facts.errno === undefined
        ? 'HDF5 does not say whether the file or the storage is at fault.'
        : 'The storage itself failed.',
    ),
  remedies: ({ facts: { path, errno }, error }) => [
    error?.name === 'HDF5' && {
      text: 'See whether the file can be read at all, and whether another process has it open.',
      command: 'h5ls <FILE>; fuser -v <FILE>',
    },
    errno === 116
      ? {
          text: 'A file handle of a network file system is stale: the file was replaced or the server restarted. Mount it again, and let the job reopen its files.',
          command: 'df -hT; mount | grep -E "nfs|lustre|gpfs|ceph|fuse"',
        }
      : {
          text: 'See what the kernel logged about disks and network mounts at that time.',
          command: "sudo dmesg -T | grep -iE 'I/O error|nfs|lustre|ceph|nvme|ata' | tail",
        },
    { text: `See whether ${path ?? 'the folder'} can be read and written now, and how full it is.`, command: 'df -h; df -i' },
    { text: 'Write checkpoints to a local disk first and copy them afterwards: a short failure of the network then does not end the run.' },
  ],
}
