// A TCP connection inside another process's network namespace: a socket belongs for ever to the namespace in which it was made, wherever it is used.
import { closeSync, openSync } from 'node:fs'
import { Socket } from 'node:net'
import type { ConnectRequest } from '../protocol.ts'

/** <sched.h>, <sys/socket.h> */
const CLONE_NEWNET = 0x40000000
const [AF_INET, AF_INET6, SOCK_STREAM, SOCK_NONBLOCK, SOCK_CLOEXEC] = [2, 10, 1, 0o4000, 0o2000000]
const [SOL_SOCKET, SO_ERROR] = [1, 4]

type Libc = {
  readonly setns: (fd: number, type: number) => number
  readonly socket: (family: number, type: number, protocol: number) => number
  readonly connect: (fd: number, address: Uint8Array, length: number) => number
  readonly getsockopt: (fd: number, level: number, name: number, value: Uint8Array, length: Uint8Array) => number
  readonly errno: () => number
}
let loaded: Promise<Libc> | undefined

async function load(): Promise<Libc> {
  const { default: koffi } = await import('koffi')
  const libc = koffi.load('libc.so.6')
  return {
    setns: libc.func('setns', 'int', ['int', 'int']),
    socket: libc.func('socket', 'int', ['int', 'int', 'int']),
    connect: libc.func('connect', 'int', ['int', 'void *', 'uint32']),
    getsockopt: libc.func('getsockopt', 'int', ['int', 'int', 'int', 'void *', 'void *']),
    errno: () => koffi.errno(),
  }
}

/** struct sockaddr_in, or sockaddr_in6 of ::1. */
function addressOf(host: string, port: number): { readonly family: number; readonly bytes: Uint8Array } {
  const isV6 = host === '::1'
  const bytes = Buffer.alloc(isV6 ? 28 : 16)
  bytes.writeUInt16LE(isV6 ? AF_INET6 : AF_INET, 0)
  bytes.writeUInt16BE(port, 2)
  if (isV6) bytes[23] = 1
  else bytes.set(host.split('.').map(Number), 4)
  return { family: isV6 ? AF_INET6 : AF_INET, bytes }
}

const HINTS: Readonly<Record<number, string>> = { 1: ' (it needs CAP_SYS_ADMIN)', 111: ' (nobody listens there)' }
const failure = (call: string, errno: number): Error => new Error(`${call} failed with errno ${errno}${HINTS[errno] ?? ''}`)

/** Nothing asynchronous is between the two calls of setns: the whole thread is in the other namespace meanwhile. */
function socketInside(libc: Libc, namespace: string, family: number): number {
  const home = openSync('/proc/thread-self/ns/net', 'r')
  try {
    const there = openSync(namespace, 'r')
    try {
      if (libc.setns(there, CLONE_NEWNET) !== 0) throw failure('setns', libc.errno())
      const fd = libc.socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)
      const errno = libc.errno()
      // A process that cannot come home must not go on: its parent begins another.
      if (libc.setns(home, CLONE_NEWNET) !== 0) process.abort()
      if (fd < 0) throw failure('socket', errno)
      return fd
    } finally {
      closeSync(there)
    }
  } finally {
    closeSync(home)
  }
}

export async function connectInside({ namespace, host, port }: ConnectRequest): Promise<Socket> {
  const libc = await (loaded ??= load())
  const { family, bytes } = addressOf(host, port)
  const fd = socketInside(libc, namespace, family)
  libc.connect(fd, bytes, bytes.length)
  // It does not wait, yet on loopback the connection stands, or is refused, when the call returns.
  const [error, length] = [Buffer.alloc(4), Buffer.from([4, 0, 0, 0])]
  libc.getsockopt(fd, SOL_SOCKET, SO_ERROR, error, length)
  if (error.readInt32LE() !== 0) {
    closeSync(fd)
    throw failure('connect', error.readInt32LE())
  }
  return new Socket({ fd, allowHalfOpen: true })
}
