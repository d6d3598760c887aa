// Which mounts are real local file systems, from mountinfo (proc_pid_mountinfo(5)).

export type Mount = { readonly mountpoint: string; readonly device: string; readonly fstype: string }

/** File systems on the host's own disks. Network ones are left out: asking a dead one hangs; read-only images are always full. */
const LOCAL = new Set(['ext2', 'ext3', 'ext4', 'xfs', 'btrfs', 'zfs', 'f2fs', 'jfs', 'bcachefs', 'vfat', 'exfat', 'ntfs', 'ntfs3', 'fuseblk', 'hfsplus'])
const MAX_MOUNTS = 64

/** Blanks and the like stand as octal escapes: `\040`. */
const unescape = (text: string): string => text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))

/**
 * `27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw`: the fields before ` - ` vary in number, the fourth is the root within the file system.
 * A file system mounted several times (bind mounts, subvolumes) counts once, at its shortest path. In a container the root is an overlay of the disk below.
 */
export function parseMounts(text: string): readonly Mount[] {
  const byDevice = new Map<string, Mount>()
  for (const line of text.split('\n')) {
    const [before, after] = line.split(' - ')
    const left = before?.split(' ') ?? []
    const [fstype, source] = after?.split(' ') ?? []
    const [, , numbers, , path] = left
    if (numbers === undefined || path === undefined || fstype === undefined || source === undefined) continue
    const mountpoint = unescape(path)
    if (!LOCAL.has(fstype) && !(fstype === 'overlay' && mountpoint === '/')) continue
    const device = unescape(source)
    const key = device.startsWith('/') || fstype === 'zfs' ? device : numbers
    const known = byDevice.get(key)
    if (known === undefined || mountpoint.length < known.mountpoint.length) byDevice.set(key, { mountpoint, device, fstype })
  }
  return [...byDevice.values()].sort((a, b) => (a.mountpoint < b.mountpoint ? -1 : 1)).slice(0, MAX_MOUNTS)
}
