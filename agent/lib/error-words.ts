// What an error of Node, OpenSSL, SQLite or the system says, in one line.

type Quota = Error & { readonly syscall?: string }
/** Node 24 has no name for Linux's EDQUOT (122). */
const isQuota = (error: unknown): error is Quota => error instanceof Error && 'errno' in error && error.errno === -122

/** The word of the one who failed: SQLite's (`SQLITE_FULL`), the system's (`ENOSPC`), OpenSSL's; empty where there is none. */
export const codeOf = (error: unknown): string =>
  isQuota(error) ? 'EDQUOT' : error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
export const messageOf = (error: unknown): string =>
  isQuota(error) ? `EDQUOT: disk quota exceeded, ${error.syscall ?? 'write'}` : error instanceof Error ? error.message : String(error)

/** An AggregateError (several addresses of one name) has no words of its own. */
export function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const parts = error instanceof AggregateError ? error.errors.map(messageOf) : [error.message]
  const text = parts.filter((part) => part !== '').join('; ')
  return (text === '' ? codeOf(error) || error.name : text).replaceAll('\n', ' ').slice(0, 300)
}
