// Lines of the kernel's log about crashed processes.
import { expect, test } from 'vitest'
import { mayBeKernelCrash, parseKernelCrash } from '../../../agent/text/kernel-crash.ts'

test.each([
  ['python3[812]: segfault at 8 ip 000055b8c7aeb132 sp 00007ffddacd3b90 error 6 in _C.so[1132,55b8c7aeb000+1000]', { pid: 812, signal: 'SIGSEGV' }],
  ['traps: pt_main_thread[77] general protection fault ip:7f33aa sp:7ffd11 error:0 in libtorch.so[7f33a0+1000]', { pid: 77, signal: 'SIGSEGV' }],
  ['traps: python[9] trap invalid opcode ip:55d sp:7ff error:0 in python3.11[55d+1]', { pid: 9, signal: 'SIGILL' }],
  ['traps: job[10] trap divide error ip:55d sp:7ff error:0', { pid: 10, signal: 'SIGFPE' }],
  ['python3[812]: unhandled exception: DABT (lower EL), ESR 0x92000006, level 2 translation fault in libc.so.6', { pid: 812, signal: 'SIGSEGV' }],
])('%s', (text, crash) => {
  const bytes = Buffer.from(`  ${text}`)
  expect(mayBeKernelCrash(bytes, 2, bytes.length)).toBe(true)
  expect(parseKernelCrash(text)).toEqual(crash)
})
test('other lines', () => {
  for (const text of ['NVRM: Xid (PCI:0000:01:00): 79, pid=812', 'docs[1]: how to read a segfault at home', 'traps: x[1] trap stack segment']) {
    expect(parseKernelCrash(text)).toBeUndefined()
  }
})
