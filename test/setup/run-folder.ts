// Global set-up of every run: one folder in the temporary directory for all that the run makes there, removed at its end, a cache for what Node compiles, and a PATH without detours.
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { isBuilt } from '../../scripts/fingerprint.mjs'
import { leftRunning, type LeftRunning } from './left-running.ts'
import { mountMemory } from './memory-folder.ts'
import { folderBehindShim } from './pythons.ts'

const root = join(import.meta.dirname, '../..')

const PATIENCE_MS = 10_000

function end({ pid }: LeftRunning): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}

export default function setup(): () => Promise<void> {
  // As short as can be: names of Unix sockets end after 107 bytes.
  const folder = mkdtempSync(join(tmpdir(), 'ww-'))
  // As /tmp itself: other users make files in it too.
  chmodSync(folder, 0o1777)
  process.env['TMPDIR'] = folder
  process.env['TEST_RUN_FOLDER'] = folder
  const memory = mountMemory(folder)
  if (memory !== undefined) process.env['TEST_MEMORY_FOLDER'] = memory.path
  // Hundreds of tests start the command line from its sources: what one of them compiled the others need not compile again.
  process.env['NODE_COMPILE_CACHE'] ??= join(root, 'node_modules/.cache/compiled')
  const python = folderBehindShim()
  if (python !== undefined) process.env['PATH'] = [python, process.env['PATH']].join(delimiter)
  if (isBuilt(root)) process.env['TEST_BUILT_MAIN'] = join(root, 'dist/main.js')
  // Throws, and so fails the run, where something cannot be removed: a mount, or where a test left a program running.
  return async () => {
    const left = await leftRunning(folder, PATIENCE_MS)
    for (const each of left) end(each)
    const remove = (path: string): void => rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 })
    // What was left in it is found as on a disk.
    if (memory !== undefined) for (const name of readdirSync(memory.path)) remove(join(memory.path, name))
    memory?.remove()
    remove(folder)
    if (left.length > 0)
      throw new Error(`left running when the tests had ended:\n${left.map(({ pid, command, file }) => `${file}: ${pid} ${command}`).join('\n')}`)
  }
}
