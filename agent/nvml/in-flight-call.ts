// Before each native call the process writes the call into its own thread name, so that /proc/PID/comm shows the one that hangs.
import type { LibraryHandle } from 'koffi'

/** From linux/prctl.h: names the calling thread; at most 15 bytes and a NUL. */
const PR_SET_NAME = 15
const COMM_BYTES = 16

type Load = { readonly load: (path: string) => LibraryHandle }

/** Texts are made once per GPU and function, then a call costs the system call alone (0.2 µs). Without a libc nothing is written. */
export function createCallMarker(
  koffi: Load,
  format: (gpu: number | undefined, ordinal: number) => string,
): (gpu: number | undefined, ordinal: number) => void {
  let prctl: (option: number, name: Uint8Array) => number
  try {
    prctl = koffi.load('libc.so.6').func('prctl', 'int', ['int', 'void *'])
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
    prctl(PR_SET_NAME, text)
  }
}
