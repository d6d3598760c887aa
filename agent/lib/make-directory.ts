// Makes a directory and those above it, with the rights that are asked for whatever the umask is. Not Node's `recursive: true`: where a file system answers ENOENT to every mkdir (/proc, automounts),
// that one tries for ever, at full load (seen with Node 24.21).
import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { codeOf } from '../text/error.ts'

/** Throws what the system says of the first directory that cannot be made; one that is there already is left as it is. */
export function makeDirectory(path: string, mode: number): void {
  try {
    make(path, mode)
  } catch (error) {
    if (codeOf(error) === 'EEXIST' && statSync(path).isDirectory()) return
    if (codeOf(error) !== 'ENOENT' || dirname(path) === path) throw error
    makeDirectory(dirname(path), mode)
    make(path, mode)
  }
}

function make(path: string, mode: number): void {
  mkdirSync(path, { mode })
  if ((statSync(path).mode & 0o777) !== mode) chmodSync(path, mode)
}
