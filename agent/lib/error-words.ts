// What an error of Node, OpenSSL, SQLite or the system says, in one line.

/** The word of the one who failed: SQLite's (`SQLITE_FULL`), the system's (`ENOSPC`), OpenSSL's; empty where there is none. */
export const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '')
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** An AggregateError (several addresses of one name) has no words of its own. */
export function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const parts = error instanceof AggregateError ? error.errors.map(messageOf) : [error.message]
  const text = parts.filter((part) => part !== '').join('; ')
  return (text === '' ? codeOf(error) || error.name : text).replaceAll('\n', ' ').slice(0, 300)
}
