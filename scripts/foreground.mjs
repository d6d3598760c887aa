// Runs other programs so that the signals that this process gets reach them: none is left behind when npm is ended.
import { spawn } from 'node:child_process'

const NUMBERS = { SIGHUP: 129, SIGINT: 130, SIGKILL: 137, SIGTERM: 143 }

/** The exit code of a child as a shell would give it. */
export const exitCode = ({ status, signal }) => status ?? NUMBERS[signal] ?? 1

function started(command, args, options, passed) {
  const child = spawn(command, args, options)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    const pass = () => passed.includes(signal) && child.kill(signal)
    process.on(signal, pass)
    child.once('close', () => process.off(signal, pass))
  }
  return child
}

/**
 * Runs a program in the place of this process: its terminal, its signals, its exit code. A terminal's Ctrl-C reaches it anyway, as
 * one of the terminal's group; `passInterrupt` is for one that must also hear a SIGINT sent to this process alone (and does not
 * mind hearing of one Ctrl-C twice).
 */
export function foreground(command, args, { cwd, passInterrupt = false }) {
  const child = started(command, args, { cwd, stdio: 'inherit' }, ['SIGTERM', 'SIGHUP', ...(passInterrupt ? ['SIGINT'] : [])])
  child.on('error', (error) => {
    process.stderr.write(`warpwatch: ${command} cannot be run: ${error.message}\n`)
    process.exit(2)
  })
  child.on('exit', (status, signal) => process.exit(exitCode({ status, signal })))
}

/** Runs a program to its end, keeping what it prints; this process ends with it when a signal ended both. */
export async function runToEnd(command, args, { cwd, env }) {
  let asked
  const note = (signal) => (asked = signal)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, note)
  const child = started(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] }, ['SIGINT', 'SIGTERM', 'SIGHUP'])
  let stdout = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text))
  const ended = await new Promise((resolve) => {
    child.once('error', (error) => resolve({ status: null, signal: null, error }))
    child.once('close', (status, signal) => resolve({ status, signal, error: undefined }))
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(signal, note)
  if (asked !== undefined) process.exit(exitCode({ status: null, signal: asked }))
  return { ...ended, stdout }
}
