// Asks NCCL's RAS how many collectives each rank has launched: as JSON, only of releases in which that is safe, never anything but SET FORMAT
// and STATUS. Up to NCCL 2.29.1 a question can crash the job (nccl#1669, nccl#1762, nccl#2346); `CONTROL` changes a running job.
import { spawn } from 'node:child_process'
import { readFileSync, readdirSync, readlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { messageOf } from '../../text/error.ts'
import { readRas } from '../evidence/ras.ts'
import type { Evidence, RasPoll } from '../model.ts'
import { environmentOf, ownPidOf } from './process.ts'

const DEFAULT_PORT = 28_028
/** A status takes two legs of 5 s each where a rank does not answer. */
const MOST_MS = 15_000
const MOST_BYTES = 16 * 2 ** 20
const LEAST_VERSION = [2, 29, 2] as const
/** The kernel picks one process of several that share the port: another job may answer. */
const TRIES = 3

/** `2.29.7`, by the name of the library's file or of the package that it is in; undefined where neither says. */
export function versionIn(paths: readonly string[], packagesBeside: (folder: string) => readonly string[]): string | undefined {
  for (const path of paths) {
    const own = /libnccl\.so\.(\d+\.\d+\.\d+)$/.exec(path)?.[1]
    if (own !== undefined) return own
    const packaged = packagesBeside(dirname(dirname(dirname(dirname(path))))).flatMap(
      (name) => /^nvidia_nccl_\w+-(\d+\.\d+\.\d+)\S*\.dist-info$/.exec(name)?.[1] ?? [],
    )[0]
    if (packaged !== undefined) return packaged
  }
  return undefined
}

export function isSafe(version: string | undefined): boolean {
  const parts = (version ?? '').split('.').map(Number)
  for (const [i, least] of LEAST_VERSION.entries()) {
    const part = parts[i] ?? Number.NaN
    if (!(part >= least)) return false
    if (part > least) return true
  }
  return true
}

function ncclVersion(pid: number): string | undefined {
  const maps = readFileSync(`/proc/${pid}/maps`, 'utf8')
  const paths = [...new Set(Array.from(maps.matchAll(/ (\/\S*libnccl\.so[\d.]*)$/gm), ([, path = '']) => path))]
  return versionIn(paths, (folder) => {
    try {
      return readdirSync(join(`/proc/${pid}/root`, folder))
    } catch {
      return []
    }
  })
}

/** The port on which the process itself listens for questions, and how to reach it from its own network namespace. */
export function listenerOf(pid: number): { readonly host: string; readonly port: number } | undefined {
  const said = /:(\d{1,5})$/.exec(environmentOf(pid).get('NCCL_RAS_ADDR') ?? '')?.[1]
  const port = said === undefined ? DEFAULT_PORT : Number(said)
  const own = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${name}`))?.[1] ?? []
      } catch {
        return []
      }
    }),
  )
  const wanted = port.toString(16).toUpperCase().padStart(4, '0')
  for (const [file, host] of [
    ['tcp', '127.0.0.1'],
    ['tcp6', '::1'],
  ] as const)
    for (const line of readFileSync(`/proc/${pid}/net/${file}`, 'utf8').split('\n')) {
      const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/)
      if (state === '0A' && local.endsWith(`:${wanted}`) && own.has(inode)) return { host, port }
    }
  return undefined
}

/** The whole answer to one STATUS. Rejects in a bounded time whatever the other end does. */
export function askStatus(host: string, port: number, mostMs = MOST_MS): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let [bytes, asked] = [0, false]
    const socket = connect({ host, port })
    const fail = (why: string): void => {
      clearTimeout(timer)
      socket.destroy()
      reject(new Error(`NCCL RAS: ${why}`))
    }
    const timer = setTimeout(() => fail(`no whole answer within ${mostMs / 1000} s`), mostMs)
    socket.on('connect', () => socket.write('SET FORMAT json\n'))
    socket.on('error', (error) => fail(messageOf(error)))
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > MOST_BYTES) return fail('the answer is too long')
      if (asked) return
      const line = Buffer.concat(chunks).toString('latin1')
      if (!line.includes('\n')) return
      // Without JSON the text of a status can crash the job: nothing more is asked.
      if (!/^OK\r?\n$/.test(line)) return fail(`it does not answer in JSON: ${line.slice(0, 80).trim()}`)
      asked = true
      chunks.length = 0
      bytes = 0
      socket.write('STATUS\n')
    })
    socket.on('close', () => {
      clearTimeout(timer)
      if (asked) resolve(Buffer.concat(chunks).toString('utf8'))
      else reject(new Error('NCCL RAS: it closed the connection'))
    })
  })
}

/** In the network namespace of the process; `self`: the program that asks there. */
function askBeside(pid: number, host: string, port: number, self: string): Promise<string> {
  const there = readlinkSync(`/proc/${pid}/ns/net`) === readlinkSync('/proc/self/ns/net')
  if (there) return askStatus(host, port)
  return new Promise((resolve, reject) => {
    const child = spawn('nsenter', [`--net=/proc/${pid}/ns/net`, process.execPath, self, 'ras', host, String(port)], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {},
    })
    let [out, problem] = ['', '']
    const timer = setTimeout(() => child.kill('SIGKILL'), MOST_MS + 2_000)
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text
      if (out.length > MOST_BYTES) child.kill('SIGKILL')
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => (problem = (problem + text).slice(-2_000)))
    child.once('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
    child.once('close', (code) => {
      clearTimeout(timer)
      if (code === 0) resolve(out)
      else reject(new Error(problem.trim().split('\n').at(-1) ?? 'NCCL RAS: no answer'))
    })
  })
}

/** One poll of the job; undefined where it must not or cannot be asked. */
export async function pollRas(ranks: ReadonlyMap<number, number>, self: string, evidence: Evidence): Promise<RasPoll | undefined> {
  for (const pid of ranks.values()) {
    try {
      const listener = listenerOf(pid)
      if (listener === undefined) continue
      const version = ncclVersion(pid)
      if (!isSafe(version)) return undefined
      const own = new Set([...ranks.values()].map(ownPidOf))
      for (let i = 0; i < TRIES; i += 1) {
        const { at, nccl, comms } = readRas(await askBeside(pid, listener.host, listener.port, self))
        const pids = comms.flatMap((comm) => [...comm.ranks, ...comm.dead].map(({ place }) => Number(place.slice(place.lastIndexOf(':') + 1))))
        if (![...own].every((one) => pids.includes(one))) continue
        if (nccl !== undefined) evidence.nccl ??= nccl
        return { ...(at === undefined ? {} : { at }), comms }
      }
      evidence.problems.push('NCCL RAS: another job answers on its port')
      return undefined
    } catch (error) {
      evidence.problems.push(messageOf(error).split('\n')[0] ?? '')
      return undefined
    }
  }
  return undefined
}
