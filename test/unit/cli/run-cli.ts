// Runs the command line as a real process and collects what it says.
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import type { Readable } from 'node:stream'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeFlags } from '../../../scripts/node-flags.mjs'

/** The build where it is of these sources: it starts for a third of the CPU time, as nothing is compiled. */
export const MAIN = process.env['TEST_BUILT_MAIN'] ?? join(import.meta.dirname, '../../../agent/main.ts')

export type Ended = { readonly code: number | null; readonly signal: NodeJS.Signals | null; readonly stdout: string; readonly stderr: string }
export type Running = {
  readonly child: ChildProcessByStdio<null, Readable, Readable>
  readonly stdout: () => string
  readonly stderr: () => string
  readonly ended: Promise<Ended>
}

/** The caller's WARPWATCH_ variables must not reach the process. */
const cleanEnvironment = (): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('WARPWATCH_')))

export function startCli(args: readonly string[], options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {}): Running {
  const child = spawn(process.execPath, [...nodeFlags(args), MAIN, ...args], {
    cwd: options.cwd ?? mkdtempSync(join(tmpdir(), 'warpwatch-cli-')),
    env: { ...cleanEnvironment(), ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }))
  })
  return { child, stdout: () => stdout, stderr: () => stderr, ended }
}

export const runCli = async (...args: Parameters<typeof startCli>): Promise<Ended> => startCli(...args).ended
