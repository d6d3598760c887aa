// What an error of Node, OpenSSL, SQLite or the system says, for a person who reads a log or a gap.

type Quota = Error & { readonly syscall?: string }
/** Node 24 has no name for Linux's EDQUOT (122). */
const isQuota = (error: unknown): error is Quota => error instanceof Error && 'errno' in error && error.errno === -122

/** The error's code: SQLite's (`SQLITE_FULL`), the system's (`ENOSPC`), OpenSSL's. Undefined when it has none. */
export const codeOf = (error: unknown): string | undefined =>
  isQuota(error) ? 'EDQUOT' : error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

/** The system's errno as a positive number (2 for ENOENT), as gaps carry it. Undefined when it has none. */
export const errnoOf = (error: unknown): number | undefined =>
  error instanceof Error && 'errno' in error && typeof error.errno === 'number' ? Math.abs(error.errno) : undefined

/** What it says; whatever else was thrown, as text. */
export const messageOf = (error: unknown): string =>
  isQuota(error) ? `EDQUOT: disk quota exceeded, ${error.syscall ?? 'write'}` : error instanceof Error ? error.message : String(error)

/** Its first line: parsers and loaders append an excerpt or a list of places that were searched. */
export const firstLineOf = (error: unknown): string => messageOf(error).split('\n')[0] ?? ''

/** With its stack, for faults of our own that the log must help to find. */
export const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error))

/** All that it says in one line of at most 300 characters. An AggregateError (several addresses of one name) has no message of its own. */
export function lineOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const parts = error instanceof AggregateError ? error.errors.map(messageOf) : [error.message]
  const text = parts.filter((part) => part !== '').join('; ')
  return (text === '' ? (codeOf(error) ?? error.name) : text).replaceAll('\n', ' ').slice(0, 300)
}
