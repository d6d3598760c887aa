// What a test file shares among its tests and gives back when they have ended. A hook at the top of a shared module would run after the first file only that imports it: the next one in the same
// process finds the module there already.
const ends: (() => unknown)[] = []

/** Runs after all hooks of the file that runs now. */
export function atFileEnd(end: () => unknown): void {
  ends.push(end)
}

/** For the set-up of every file (test/setup/file-folder.ts). */
export async function endFile(): Promise<void> {
  for (const end of ends.splice(0).toReversed()) await end()
}
