// /proc/PID/mountinfo: on which file system a path of a process lies (proc_pid_mountinfo(5)).

export type Mount = {
  readonly point: string
  readonly type: string
  readonly source: string
  readonly readOnly: boolean
  /** Of the file system. */
  readonly options: readonly string[]
}

/** Spaces and such are written as \040. */
const plain = (text: string): string => text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))

export function parseMounts(text: string): readonly Mount[] {
  return text.split('\n').flatMap((line) => {
    // 36 35 98:0 /root /point rw,noatime shared:1 - ext3 /dev/root rw,errors=continue
    const match = /^\d+ \d+ \d+:\d+ \S+ (\S+) (\S+)(?: \S+)*? - (\S+) (\S*) (\S+)$/.exec(line)
    if (match === null) return []
    const [, point = '', own = '', type = '', source = '', options = ''] = match
    const all = options.split(',')
    return [{ point: plain(point), type, source: plain(source), readOnly: own.split(',').includes('ro') || all.includes('ro'), options: all }]
  })
}

/** The last one counts where several are over each other. */
export function mountOf(mounts: readonly Mount[], path: string): Mount | undefined {
  let best: Mount | undefined
  for (const mount of mounts) {
    const covers = mount.point === '/' || path === mount.point || path.startsWith(`${mount.point}/`)
    if (covers && mount.point.length >= (best?.point.length ?? 0)) best = mount
  }
  return best
}
