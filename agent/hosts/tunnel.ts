// A way to an agent on another host's loopback: the system's ssh forwards a socket that only this user may open.
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export type Tunnel = {
  /** The path of the socket, once it stands. Rejects with what ssh says. */
  readonly open: () => Promise<string>
  readonly close: () => void
}

const AGENT_PORT = 9839
const STANDS_WITHIN_MS = 8_000
const LOOK_EVERY_MS = 50
const MAX_STDERR = 2_000

/** `ssh://USER@HOST:SSH-PORT?agent=PORT` as arguments; no shell sees them. */
export function sshArguments(url: string, socket: string): readonly string[] {
  const { username, hostname, port, searchParams } = new URL(url)
  const options = [
    'BatchMode=yes',
    'ExitOnForwardFailure=yes',
    'ConnectTimeout=5',
    'ServerAliveInterval=5',
    'ServerAliveCountMax=2',
    'StreamLocalBindMask=0177',
  ]
  return [
    '-N',
    '-T',
    ...options.flatMap((option) => ['-o', option]),
    ...(port === '' ? [] : ['-p', port]),
    '-L',
    `${socket}:127.0.0.1:${searchParams.get('agent') ?? AGENT_PORT}`,
    '--',
    `${username === '' ? '' : `${username}@`}${hostname.replace(/^\[|\]$/g, '')}`,
  ]
}

export function createTunnel(url: string, program = 'ssh'): Tunnel {
  let folder: string | undefined
  let child: ChildProcess | undefined
  let opening: Promise<string> | undefined

  const start = async (): Promise<string> => {
    // Short, as the path of a socket has 107 bytes at most; readable by this user alone.
    folder ??= mkdtempSync(join(tmpdir(), 'ww-ssh-'))
    const socket = join(folder, 's')
    rmSync(socket, { force: true })
    let [said, over] = ['', false]
    const made = spawn(program, sshArguments(url, socket), { stdio: ['ignore', 'ignore', 'pipe'] })
    child = made
    made.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-MAX_STDERR)))
    const ended = (why: string): void => {
      over = true
      said = said === '' ? why : said
      opening = undefined
    }
    made.once('error', (error) => ended(`ssh cannot be started: ${error.message}`))
    made.once('close', (code) => ended(`ssh ended with exit code ${code ?? '?'}`))
    const until = performance.now() + STANDS_WITHIN_MS
    while (!existsSync(socket)) {
      if (over) throw new Error(`ssh: ${said.trim().split('\n').at(-1) ?? ''}`)
      if (performance.now() > until) {
        made.kill()
        throw new Error(`ssh: no connection within ${STANDS_WITHIN_MS / 1_000} s`)
      }
      await sleep(LOOK_EVERY_MS)
    }
    return socket
  }
  return {
    async open() {
      opening ??= start()
      try {
        return await opening
      } catch (error) {
        opening = undefined
        throw error
      }
    },
    close() {
      child?.kill()
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
      folder = undefined
    },
  }
}
