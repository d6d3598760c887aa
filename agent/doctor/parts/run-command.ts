// Runs programs that only look: no shell, a deadline, bounded output, found in PATH and where root's programs lie; each question is asked once.
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { createRunner } from '../../sources/nvidia-smi/run.ts'

export type CommandResult =
  | { readonly kind: 'ended'; readonly exitCode: number; readonly stdout: string; readonly stderr: string }
  /** No such program, or it cannot be started. */
  | { readonly kind: 'missing' }
  | { readonly kind: 'timed out'; readonly deadlineMs: number }
  | { readonly kind: 'too long'; readonly maxBytes: number }

export type CommandOptions = { readonly timeoutMs?: number; readonly maxBytes?: number }
/** `command` is a name to look for, or an absolute path. The output is English, with C's numbers. */
export type RunCommand = (command: string, args: readonly string[], options?: CommandOptions) => Promise<CommandResult>

/** Beside PATH, which lacks root's folders for others and WSL's for services. */
const FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin', '/usr/lib/wsl/lib']
/** Below the two seconds of a check, so that it can still say what it waited for. */
const TIMEOUT_MS = 1_500
const MAX_BYTES = 4 * 2 ** 20

async function find(command: string, folders: readonly string[]): Promise<string | undefined> {
  const candidates = command.startsWith('/') ? [command] : folders.map((folder) => join(folder, command))
  for (const path of candidates) {
    const found = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (found) return path
  }
  return undefined
}

/** `folders`: where programs are looked for; tests name their own. */
export function createRunCommand(env: Readonly<Record<string, string | undefined>>, folders?: readonly string[]): RunCommand {
  const places = folders ?? [...new Set([...(env['PATH'] ?? '').split(':').filter((folder) => folder.startsWith('/')), ...FOLDERS])]
  const asked = new Map<string, Promise<CommandResult>>()

  const start = async (command: string, args: readonly string[], deadlineMs: number, maxBytes: number): Promise<CommandResult> => {
    const path = await find(command, places)
    if (path === undefined) return { kind: 'missing' }
    const result = await createRunner({ deadlineMs, maxBytes }).run(path, args)
    switch (result.kind) {
      case 'ended':
        return { kind: 'ended', exitCode: result.exitCode, stdout: result.stdout, stderr: result.stderr }
      case 'timeout':
        return { kind: 'timed out', deadlineMs: result.deadlineMs }
      case 'too_long':
        return { kind: 'too long', maxBytes: result.maxBytes }
      case 'absent':
      case 'still_hanging':
      default:
        return { kind: 'missing' }
    }
  }
  return (command, args, { timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES } = {}) => {
    const key = JSON.stringify([command, args, timeoutMs, maxBytes])
    const before = asked.get(key)
    if (before !== undefined) return before
    const answer = start(command, args, timeoutMs, maxBytes)
    asked.set(key, answer)
    return answer
  }
}

/** A message for a check that cannot go on; undefined where the program ended with 0. */
export function commandProblem(command: string, result: CommandResult): string | undefined {
  switch (result.kind) {
    case 'missing':
      return `${command} is not installed`
    case 'timed out':
      return `${command} did not answer within ${result.deadlineMs} ms`
    case 'too long':
      return `${command} printed more than ${result.maxBytes} bytes`
    case 'ended':
    default:
      return result.exitCode === 0
        ? undefined
        : `${command} ended with ${result.exitCode}: ${(result.stderr.trim() || result.stdout.trim()).split('\n')[0]?.slice(0, 200) ?? ''}`
  }
}
