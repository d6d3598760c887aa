// The error of a snapshot that is refused: one line that says what is wrong, where, and what was expected.

export class SnapshotError extends Error {
  override readonly name = 'SnapshotError'
}

/** Text from a file, made fit for an error: no control characters, not too long. */
export function quoted(text: string, length = 60): string {
  const cut = text.length > length ? `${text.slice(0, length)}…` : text
  return JSON.stringify(cut).replace(/[\u007f-\u009f]/g, '·')
}
