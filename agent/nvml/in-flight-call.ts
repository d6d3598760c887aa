// Before each native call the process writes the call into its own thread name, so that /proc/PID/comm shows the one that hangs,
// and into a file that whoever started it holds open, so that the one that crashes is known when the process has gone.
import type { LibraryHandle } from 'koffi'

/** From linux/prctl.h: names the calling thread; at most 15 bytes and a NUL. */
const PR_SET_NAME = 15
const COMM_BYTES = 16
/** From linux/mman.h. */
const [PROT_READ_WRITE, MAP_SHARED, MAP_FAILED] = [3, 1, 2n ** 64n - 1n]

type Koffi = { readonly load: (path: string) => LibraryHandle; readonly view: (address: bigint, bytes: number) => ArrayBuffer }
export type FormatCall = (gpu: number | undefined, ordinal: number) => string

/** The beginning of the file as memory: a write costs no system call, and the kernel keeps it when the process dies. */
function mapRecord(koffi: Koffi, libc: LibraryHandle, fd: number): Uint8Array | undefined {
  const mmap: (...args: readonly unknown[]) => bigint | number = libc.func('mmap', 'uintptr_t', ['uintptr_t', 'size_t', 'int', 'int', 'int', 'int64'])
  const address = BigInt(mmap(0n, COMM_BYTES, PROT_READ_WRITE, MAP_SHARED, fd, 0))
  return address === MAP_FAILED ? undefined : new Uint8Array(koffi.view(address, COMM_BYTES))
}

/** Texts are made once per GPU and function, then a call costs the system call alone (0.2 µs). Without a libc nothing is written. `callFd`: that file's. */
export function createCallMarker(koffi: Koffi, format: FormatCall, callFd?: number): (gpu: number | undefined, ordinal: number) => void {
  let prctl: (option: number, name: Uint8Array) => number
  let record: Uint8Array | undefined
  try {
    const libc = koffi.load('libc.so.6')
    prctl = libc.func('prctl', 'int', ['int', 'void *'])
    if (callFd !== undefined) record = mapRecord(koffi, libc, callFd)
  } catch {
    return () => {}
  }
  const texts: Uint8Array[][] = []
  return (gpu, ordinal) => {
    const at = gpu === undefined ? 0 : gpu + 1
    const ofGpu = (texts[at] ??= [])
    let text = ofGpu[ordinal]
    if (text === undefined) {
      text = new Uint8Array(COMM_BYTES)
      text.set(Buffer.from(format(gpu, ordinal)).subarray(0, COMM_BYTES - 1))
      ofGpu[ordinal] = text
    }
    record?.set(text)
    prctl(PR_SET_NAME, text)
  }
}
