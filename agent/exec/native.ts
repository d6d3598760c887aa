// What Node cannot do itself: real pipes, a second terminal, its size, and ending by a signal without a core file. Through koffi and the C library.
import { closeSync, constants, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type * as koffiModule from 'koffi'

export type Pair = {
  /** Ours: what the command writes is read here. */
  readonly read: number
  /** The command's. */
  readonly write: number
}
export type Native = {
  /** undefined: the system gives none. */
  readonly pipe: () => Pair | undefined
  /** A terminal that changes nothing of what passes through it, of the size of `like`. */
  readonly terminal: (like: number) => Pair | undefined
  /** Gives the terminal behind `read` the size of `like`. */
  readonly resize: (read: number, like: number) => void
  /** There is something to read, or nobody left to write it; waits up to `withinMs` for that. */
  readonly isReady: (fd: number, withinMs: number) => boolean
  /** Passes up to so many bytes of the pipe `from` on to the pipe `to` without copying them; they stay in `from`. undefined: there is no room; 0: nobody
   * writes any more; negative: it cannot be. */
  readonly tee: (from: number, to: number, most: number) => number | undefined
  /** Drops so many bytes of a pipe without copying them; returns how many. */
  readonly drop: (pipe: number, bytes: number) => number
  /** Moves up to so many bytes from one pipe into another without copying them; returns how many, 0 or less where there is no room. */
  readonly move: (from: number, to: number, bytes: number) => number
  /** Whoever writes much into this pipe then waits less often for its reader. */
  readonly enlarge: (pipe: number) => void
  readonly withoutCore: () => void
  /** Ends this process at once. Node's own way waits for V8's helper threads, of which one that compiles may wait for us: neither ever ends (Node 24). */
  readonly leave: (exitCode: number) => void
}

// asm-generic/ioctls.h, linux/prctl.h; x86_64 and arm64 have the same numbers.
const TIOCGWINSZ = 0x5413
const TIOCSWINSZ = 0x5414
const F_SETPIPE_SZ = 1031
const POLLIN = 1
const POLLOUT = 4
const SPLICE_F_NONBLOCK = 2
/** How long room is waited for; a signal for us waits as long. */
const ROOM_MS = 20
/** asm-generic/errno-base.h */
const EAGAIN = 11
/** What a user may have without privileges (fs.pipe-max-size). */
export const PIPE_BYTES = 1024 * 1024
const TCSANOW = 0
const PR_SET_DUMPABLE = 4
/** `struct termios` of glibc is 60 bytes long. */
const TERMIOS_BYTES = 128

type Koffi = typeof koffiModule.default
/** Koffi's own loader takes 15 ms to find its library, which is where its package says; a command of a tenth of a second would be that much longer. */
async function loadKoffi(): Promise<Koffi> {
  const loaded: { exports: Partial<Koffi> } = { exports: {} }
  try {
    const place = import.meta.resolve(`@koromix/koffi-linux-${process.arch}/linux_${process.arch}/koffi.node`)
    process.dlopen(loaded, fileURLToPath(place))
  } catch {
    // Another C library, another place.
  }
  return isWhole(loaded.exports) ? loaded.exports : (await import('koffi')).default
}
const isWhole = (koffi: Partial<Koffi>): koffi is Koffi => typeof koffi.load === 'function' && typeof koffi.version === 'string'

/** undefined where koffi or the C library cannot be loaded. */
export async function loadNative(): Promise<Native | undefined> {
  try {
    const koffi = await loadKoffi()
    const libc = koffi.load('libc.so.6')
    const pipe2 = libc.func('int pipe2(_Out_ int *fds, int flags)')
    const fcntl = libc.func('int fcntl(int fd, int command, int value)')
    const openpt = libc.func('int posix_openpt(int flags)')
    const grantpt = libc.func('int grantpt(int fd)')
    const unlockpt = libc.func('int unlockpt(int fd)')
    const ptsname = libc.func('const char *ptsname(int fd)')
    const open = libc.func('int open(const char *path, int flags)')
    const tcgetattr = libc.func('int tcgetattr(int fd, _Out_ uint8_t *termios)')
    const cfmakeraw = libc.func('void cfmakeraw(_Inout_ uint8_t *termios)')
    const tcsetattr = libc.func('int tcsetattr(int fd, int actions, const uint8_t *termios)')
    const winsize = libc.func('int ioctl(int fd, ulong request, _Inout_ uint8_t *size)')
    const poll = libc.func('int poll(void *fds, ulong count, int timeout)')
    const tee = libc.func('int64_t tee(int from, int to, size_t length, uint flags)')
    const splice = libc.func('int64_t splice(int from, void *at, int to, void *where, size_t length, uint flags)')
    const exit = libc.func('void _exit(int code)')
    const prctl = libc.func('int prctl(int option, ulong value)')
    const closeOnExec = 0o2000000
    // `struct pollfd`: the descriptor in two halves, what is asked for, and the answer.
    const pollFor = (fd: number, events: number): Int16Array => new Int16Array([fd & 0xffff, fd >> 16, events, 0])
    let nowhere: number | undefined

    const resize = (to: number, like: number): void => {
      const size = new Uint8Array(8)
      if (winsize(like, TIOCGWINSZ, size) === 0) winsize(to, TIOCSWINSZ, size)
    }
    // Where a user has too many large pipes it stays as it is.
    const enlarge = (fd: number): void => void fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES)
    return {
      pipe() {
        const fds = new Int32Array(2)
        if (pipe2(fds, closeOnExec) !== 0) return undefined
        const [read = -1, write = -1] = fds
        enlarge(write)
        return { read, write }
      },
      terminal(like) {
        const read: number = openpt(constants.O_RDWR | constants.O_NOCTTY | closeOnExec)
        if (read < 0) return undefined
        const path: unknown = grantpt(read) === 0 && unlockpt(read) === 0 ? ptsname(read) : undefined
        const write: number = typeof path === 'string' ? open(path, constants.O_RDWR | constants.O_NOCTTY | closeOnExec) : -1
        if (write < 0) {
          closeSync(read)
          return undefined
        }
        // The real terminal turns line ends into what it wants; done twice they would be wrong.
        const termios = new Uint8Array(TERMIOS_BYTES)
        tcgetattr(write, termios)
        cfmakeraw(termios)
        tcsetattr(write, TCSANOW, termios)
        resize(read, like)
        return { read, write }
      },
      resize,
      enlarge,
      isReady: (fd, withinMs) => poll(pollFor(fd, POLLIN), 1, withinMs) === 1,
      tee(from, to, most) {
        if (poll(pollFor(to, POLLOUT), 1, ROOM_MS) !== 1) return undefined
        const size: number = tee(from, to, most, SPLICE_F_NONBLOCK)
        // Another writer of that pipe was faster.
        return size < 0 && koffi.errno() === EAGAIN ? undefined : size
      },
      drop: (pipe, bytes) => splice(pipe, null, (nowhere ??= openSync('/dev/null', 'w')), null, bytes, 0),
      move: (from, to, bytes) => splice(from, null, to, null, bytes, SPLICE_F_NONBLOCK),
      withoutCore: () => void prctl(PR_SET_DUMPABLE, 0),
      leave: (exitCode) => void exit(exitCode),
    }
  } catch {
    return undefined
  }
}
