// How sure a verdict is, as a field: read in the text, computed from figures, or only likely; and a later line that names the cause wins.
import { expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const explained = (text: string) => explainText(logScanner(), text)

test.each([
  ['read', "OSError: [Errno 28] No space left on device: '/data/out/checkpoint.pt'"],
  [
    'computed',
    'torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.64 GiB of which 512.00 MiB is free. Including non-PyTorch memory, this process has 23.12 GiB memory in use. Of the allocated memory 22.50 GiB is allocated by PyTorch, and 120.00 MiB is reserved by PyTorch but unallocated.',
  ],
  ['likely', 'NVRM: Xid (PCI:0000:41:00): 13, pid=912, name=python, Graphics Exception: ESR 0x504730=0x201000e'],
] as const)('%s', (confidence, text) => {
  const [fault] = explained(text)
  expect(fault?.confidence).toBe(confidence)
})

test('a verdict that says likely is likely, and no other', () => {
  const texts = [
    'NVRM: Xid (PCI:0000:41:00): 79, pid=912, GPU has fallen off the bus.',
    'RuntimeError: CUDA error: an illegal memory access was encountered',
    'nvidia-smi: command not found',
    'RuntimeError: NCCL error in: ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.',
  ]
  for (const fault of texts.flatMap(explained)) expect(/[Ll]ikely/.test(fault.verdict) && fault.confidence !== 'likely').toBe(false)
})

test('an Xid that its own line calls a consequence stands behind its cause, whichever was printed first', () => {
  const first = 'NVRM: Xid (PCI:0000:dc:00): 45, pid=4242, name=python, Ch 00000010'
  const named = 'NVRM: Xid (PCI:0000:dc:00): 45, pid=4242, name=python, channel 0x00000011, caused by previous Xid 149'
  const cause = 'NVRM: Xid (PCI:0000:dc:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 03 (0x004505c6 0x00000000)'
  const faults = explained([first, named, cause].join('\n'))
  expect(faults.map(({ facts }) => facts.xid)).toEqual([149, 45])
  expect(faults[1]?.facts.caused_by_xid).toBe(149)
  expect(faults[1]?.verdict).toContain('Xid 149')
})
