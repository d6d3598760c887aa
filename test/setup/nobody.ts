// The user nobody, as whom some tests run the agent: only root may become it, and it must be able to enter the folders of the clone.
import { statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'

export const NOBODY = 65_534

/** The first folder on the way to `path` that others may not enter. */
function closedTo(path: string): string | undefined {
  const parent = dirname(path)
  const above = parent === path ? undefined : closedTo(parent)
  return above ?? ((statSync(path).mode & 0o001) === 0 ? path : undefined)
}

const closed = [import.meta.dirname, dirname(process.execPath), tmpdir()].map(closedTo).find((path) => path !== undefined)

/** Why no program can be run as nobody, for the name of a skipped test; undefined: it can. */
export const nobodyMissing =
  process.getuid?.() !== 0 ? 'needs root, to become another user' : closed === undefined ? undefined : `needs ${closed} to be open to other users`
