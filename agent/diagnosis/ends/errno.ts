// The system's error numbers: as messages write them, and which kind of end each means.
import type { LogKind } from '../../model/kinds.ts'

const BY_NUMBER = new Map<number, LogKind>([
  [1, 'permission_denied'],
  [2, 'file_missing'],
  [5, 'storage_error'],
  [12, 'host_memory'],
  [13, 'permission_denied'],
  [20, 'file_missing'],
  [21, 'file_missing'],
  [30, 'permission_denied'],
  [98, 'port_in_use'],
  [99, 'network_error'],
  [100, 'network_error'],
  [101, 'network_error'],
  [103, 'network_error'],
  [104, 'network_error'],
  [107, 'storage_error'],
  [110, 'network_error'],
  [111, 'network_error'],
  [112, 'network_error'],
  [113, 'network_error'],
  [116, 'storage_error'],
  [121, 'storage_error'],
])
const NAMES = new Map<string, number>([
  ['EPERM', 1],
  ['ENOENT', 2],
  ['EIO', 5],
  ['ENOMEM', 12],
  ['EACCES', 13],
  ['ENOTDIR', 20],
  ['EISDIR', 21],
  ['EROFS', 30],
  ['EADDRINUSE', 98],
  ['EADDRNOTAVAIL', 99],
  ['ENETUNREACH', 101],
  ['ECONNRESET', 104],
  ['ETIMEDOUT', 110],
  ['ECONNREFUSED', 111],
  ['EHOSTUNREACH', 113],
  ['ESTALE', 116],
])
const WRITTEN =
  /\[Errno (-?\d{1,3})\]|\berrno ?[:=] ?(-?\d{1,3})\b|\bos error (\d{1,3})\b|\bOs \{ code: (\d{1,3})\b|\bError code (\d{1,3}) \(|\bcode: -(\d{1,3}), name: E|\bError (\d{1,3}) connecting to /
const NAMED =
  /\b(EPERM|ENOENT|EIO|ENOMEM|EACCES|ENOTDIR|EISDIR|EROFS|EADDRINUSE|EADDRNOTAVAIL|ENETUNREACH|ECONNRESET|ETIMEDOUT|ECONNREFUSED|EHOSTUNREACH|ESTALE)\b/

export function errnoIn(text: string): number | undefined {
  const match = WRITTEN.exec(text)
  const digits = match?.slice(1).find((group) => group !== undefined)
  if (digits !== undefined) return Number(digits)
  const name = NAMED.exec(text)?.[1]
  return name === undefined ? undefined : NAMES.get(name)
}
export const kindOfErrno = (errno: number | undefined): LogKind | undefined => (errno === undefined ? undefined : BY_NUMBER.get(errno))
