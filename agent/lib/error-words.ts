// What an error of Node, OpenSSL or the system says, in one line.

const codeOf = (error: Error): string => ('code' in error && typeof error.code === 'string' ? error.code : '')

/** An AggregateError (several addresses of one name) has no words of its own. */
export function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const parts = error instanceof AggregateError ? error.errors.map((part: unknown) => (part instanceof Error ? part.message : String(part))) : [error.message]
  const text = parts.filter((part) => part !== '').join('; ')
  return (text === '' ? codeOf(error) || error.name : text).replaceAll('\n', ' ').slice(0, 300)
}
