// What a table of `df -h` in a text says of the file systems: which is full, or that none of those is.
import type { Piece } from '../remedies/plan.ts'

const ROW =
  /^(?:[#>] {1,6})?\S{1,80}\s{1,40}([\d.]{1,8}[KMGTP])i?\s{1,20}[\d.]{1,8}[KMGTP]?i?\s{1,20}(-?[\d.]{1,8}[KMGTP]?)i?\s{1,20}(\d{1,3})%\s{1,10}(\/\S{0,100})[ \t]*$/gm
/** Pieces of the system that are full, or tiny, by their nature. */
const SYSTEM = /^\/(?:snap|boot|sys|proc|dev|run)(?:\/|$)/
const FULL = 98

type Row = { readonly size: string; readonly free: string; readonly used: number; readonly mount: string }
const rowsOf = (text: string): readonly Row[] =>
  // Of inodes, not of space.
  /IUse%/.test(text)
    ? []
    : [...text.matchAll(ROW)]
        .map(([, size = '', free = '', used, mount = '']) => ({ size, free, used: Number(used), mount }))
        .filter(({ mount }) => !SYSTEM.test(mount))

/** The file system of the path, or any where no path is known. */
export const fullIn = (text: string, path: string | undefined): Row | undefined =>
  rowsOf(text)
    .filter(({ used, mount }) => used >= FULL && (path === undefined || `${path}/`.startsWith(mount === '/' ? '/' : `${mount}/`)))
    .sort((a, b) => b.mount.length - a.mount.length)[0]

/** Where the table answers what `df` would be asked for. */
export function shownBy(text: string, path: string | undefined): Piece {
  const full = fullIn(text, path)
  if (full !== undefined) return { text: `See what fills the file system of ${full.mount}.`, command: `du -xh --max-depth=1 ${full.mount} | sort -h | tail` }
  const [first] = rowsOf(text)
  return (
    path === undefined &&
    first !== undefined && {
      text: `df shows ${first.free} free on ${first.mount}: what ran out may be another file system (such as a /tmp in memory), its inodes or a quota; or a part was deleted again.`,
      command: 'df -h "${TMPDIR:-/tmp}"; df -i',
    }
  )
}

/** What it shows of the root file system, where Docker's data root lies by default. */
export function rootFree(text: string): string {
  const root = rowsOf(text).find(({ mount }) => mount === '/')
  return root === undefined ? '' : ` df shows ${root.free} free of ${root.size} on /: the layers need more, unpacked, than the download says.`
}
