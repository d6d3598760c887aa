// What the kernel writes of a process that crashed (arch/x86/mm/fault.c, arch/x86/kernel/traps.c, arch/arm64/kernel/traps.c), where debug.exception-trace is on.
import { lookup } from './lookup.ts'

export type KernelCrash = { readonly pid: number; readonly signal: string }

/** One of these is in each such line. */
const WORDS: readonly string[] = [': segfault at ', 'traps: ', ': unhandled exception: ']
const FORMS: readonly { readonly pattern: RegExp; readonly signal?: string }[] = [
  { pattern: /\[(?<pid>\d{1,10})\]: segfault at [0-9a-f]{1,16} ip /, signal: 'SIGSEGV' },
  { pattern: /traps: .{1,40}\[(?<pid>\d{1,10})\] (?:trap )?(?<trap>[a-z][a-z ]{2,30}?)(?: fault)? ip:/ },
  // arm64: `python3[812]: unhandled exception: DABT (lower EL), ESR 0x…, level 2 translation fault`
  { pattern: /\[(?<pid>\d{1,10})\]: unhandled exception: (?<trap>[A-Za-z][\w ()-]{1,40}), ESR /, signal: 'SIGSEGV' },
]
const TRAPS: Readonly<Record<string, string>> = {
  'general protection': 'SIGSEGV',
  'stack segment': 'SIGBUS',
  'invalid opcode': 'SIGILL',
  'divide error': 'SIGFPE',
  int3: 'SIGTRAP',
}

export const mayBeKernelCrash = (bytes: Uint8Array, start: number, end: number): boolean => {
  const line = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start)
  return WORDS.some((word) => line.includes(word))
}

export function parseKernelCrash(text: string): KernelCrash | undefined {
  for (const { pattern, signal } of FORMS) {
    const { pid, trap = '' } = pattern.exec(text)?.groups ?? {}
    const sent = signal ?? lookup(TRAPS, trap)
    if (pid !== undefined && sent !== undefined) return { pid: Number(pid), signal: sent }
  }
  return undefined
}
