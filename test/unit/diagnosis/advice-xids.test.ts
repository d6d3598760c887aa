// Xids as the kernel log surrounds them: wrapped lines, what came before on the same GPU, and what the driver says of a repair.
import { expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const said = (text: string): string =>
  explainText(logScanner(), text)
    .map(({ kind, title, verdict, remedies }) => [`${kind}: ${title}`, verdict, ...remedies.map((one) => `${one.text} ${one.command ?? ''}`)].join('\n'))
    .join('\n\n')

test.each([
  [
    'the test of a GPU after its reset',
    'NVRM: Xid (PCI:0000:21:00): 48, pid=2100, name=train, DBE\n',
    /nvidia-smi --gpu-reset -i 0000:21:00\.0[^]*After the reset, test it/,
  ],
  [
    'who only looked at the GPU when its firmware fell silent',
    'NVRM: Xid (PCI:0000:21:00): 119, pid=2100, name=nvtop, Timeout after 45s of waiting for RPC response from GPU0 GSP! Expected function 76 (GSP_RM_CONTROL) (0x20802002 0x4).\n',
    /nvtop \(pid 2100 on the host\) only called the driver at that moment/,
  ],
  [
    'the same Xid of one program on several GPUs, told once',
    'NVRM: Xid (PCI:0000:21:00): 31, pid=500, name=train, Ch 00000010, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_2 faulted @ 0x7f10_aa000000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ\nNVRM: Xid (PCI:0000:22:00): 31, pid=501, name=train, Ch 00000010, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_2 faulted @ 0x7f10_aa000000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ\n',
    /^(?![^]*Xid 31[^]*Xid 31:)[^]*It came 2 times on 2 GPUs: 0000:21:00 \(pid 500\), 0000:22:00 \(pid 501\)\./,
  ],
  [
    'the firmware of one GPU that answers no program, told once',
    'NVRM: Xid (PCI:0000:9b:00): 119, pid=40, name=python, Timeout after 45s of waiting for RPC response from GPU4 GSP! Expected function 76 (GSP_RM_CONTROL) (0x20801702 0x4).\nNVRM: Xid (PCI:0000:9b:00): 119, pid=28, name=feature-disc, Timeout after 45s of waiting for RPC response from GPU4 GSP! Expected function 76 (GSP_RM_CONTROL) (0x20810108 0x3e0).\n',
    /^(?![^]*Xid 119:[^]*Xid 119:)[^]*It came 2 times on this GPU: processes python \(pid 40\), feature-disc \(pid 28\)/,
  ],
  [
    'a game, which nobody debugs, and a desktop, which nobody drains',
    'NVRM: Xid (PCI:0000:01:00): 79, pid=8100, name=GameThread, GPU has fallen off the bus.\n',
    /^(?![^]*(?:Drain|CUDA_LAUNCH))[^]*switch the computer off completely/,
  ],
  [
    'a program that computes on a game card',
    'GeForce RTX 3090\nNVRM: Xid (PCI:0000:01:00): 13, pid=77, name=python3, Graphics Exception: ESR 0x404490=0x80000001\n',
    /CUDA_LAUNCH_BLOCKING=1/,
  ],
  [
    "the firmware's watchdog, whose firmware comes with the driver",
    'NVRM: Xid (PCI:0000:3b:00): 38, pid=991, name=python, Ch 00000008, engmask 00000101\n',
    /comes with the driver: update it/,
  ],
  [
    'what an exception was, wrapped before its bracket',
    '[  50.000001] NVRM: Xid (PCI:0000:41:00): 13, Graphics SM Warp Exception on\n              (GPC 2, TPC 1, SM 0): Misaligned Address\n',
    /The driver says: "Graphics SM Warp Exception on \(GPC 2, TPC 1, SM 0\): Misaligned Address"/,
  ],
  [
    'the recovery that the driver asks for, wrapped',
    'NVRM: Xid (PCI:0000:41:00): 154, GPU recovery action changed\n          from 0x0 (None) to 0x4 (Drain and Reset)\n',
    /It now asks for: Drain and Reset\.[^]*gpu-reset -i 0000:41:00\.0/,
  ],
  [
    'a GPU off the bus cannot be reset, whatever the driver asks for',
    'NVRM: Xid (PCI:0000:41:00): 79, GPU has fallen off the bus.\nNVRM: Xid (PCI:0000:41:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)\n',
    /^(?![^]*gpu-reset)[^]*it cannot be reset: the host must be rebooted/,
  ],
  [
    'no spare rows are left',
    "NVRM: Xid (PCI:0000:41:00): 64, pid='<unknown>', name=<unknown>, Row Remapper Error: (0x0000000000001000) - Row Remapping table is full\n",
    /There is no spare left for it[^]*Take the GPU out of service and have the board replaced/,
  ],
  [
    'a repair that only waits for its reset',
    'NVRM: Xid (PCI:0000:41:00): 64, DRAM Retirement failed due to pending row remap at 0x0000000000001000\n',
    /^(?![^]*replaced)[^]*waits for a reset[^]*gpu-reset -i 0000:41:00\.0/,
  ],
  [
    'an uncorrected error of the link comes before a page fault',
    "nvidia 0000:41:00.0: AER: can't recover (no error_detected callback)\nNVRM: Xid (PCI:0000:41:00): 31, pid=77, name=viewer, Ch 00000010, intr 00000000. MMU Fault: ENGINE HOST0\n",
    /^pcie_aer: [^]*xid: Xid 31[^]*an uncorrected error \(AER\) before it: likely the cause\.(?! Most likely an application bug)[^]*See to the link first/,
  ],
  [
    'what follows the halt of the firmware is not told as an error of its own',
    'NVRM: Xid (PCI:0000:41:00): 62, 00000a9f 00000a85 00000a72\nNVRM: Xid (PCI:0000:41:00): 109, pid=9, name=worker, channel 0x00000002, errorString CTX SWITCH TIMEOUT, Info 0x4c015\n',
    /Xid 109[^]*Xid 62 \([^)]*\) came before it on the same GPU: likely its cause\.[^]*Look at Xid 62 first/,
  ],
  [
    'a stopped program and the exception that stopped it',
    '[  50.1] NVRM: Xid (PCI:0000:41:00): 13, Graphics Exception: ESR 0x1=0x2\n[  50.2] NVRM: Xid (PCI:0000:41:00): 43, pid=9, name=worker, channel 0x00000002\n',
    /Xid 43[^]*Xid 13 \([^)]*\) came before it[^]*Look for the fault in worker \(pid 9\)/,
  ],
  [
    'what another program wrote behind the message is not the driver',
    'failed: [n1] (item=NVRM: Xid (PCI:0000:41:00): 140, pid=\'<unknown>\', name=<unknown>, An uncorrectable ECC error detected DRAM:0) => {"changed": false, "item": "NVRM: Xid (PCI:0000:41:00): 140"}\n',
    /The driver says: "An uncorrectable ECC error detected DRAM:0"\.[^]*gpu-reset -i 0000:41:00\.0/,
  ],
  [
    'the words of a switch',
    'nvidia-nvswitch1: SXid (PCI:0000:b1:00.0): 20009, Non-fatal, Link 7 RX Short Error Rate\n',
    /on link 7; [^]*It says: "RX Short Error Rate"/,
  ],
  [
    'a benchmark of graphics is on a desktop',
    'VK::error(): device lost\nNVRM: Xid (PCI:0000:41:00): 109, pid=77, name=bench.x64, Ch 00000008, errorString CTX SWITCH TIMEOUT, Info 0x1\n',
    /^(?![^]*dcgmi)[^]*bench\.x64 \(pid 77 on the host\)/,
  ],
  [
    'the GPU could not leave what had failed before',
    'NVRM: Xid (PCI:0000:41:00): 13, pid=77, name=a.out, Graphics Exception: ESR 0x1=0x2\nNVRM: Xid (PCI:0000:41:00): 109, pid=77, name=a.out, Ch 00000008, errorString CTX SWITCH TIMEOUT, Info 0x1\n',
    /Xid 109[^]*Look at Xid 13 first/,
  ],
  [
    'a page fault right after damaged commands',
    '[ 9.100000] NVRM: Xid (PCI:0000:41:00): 32, Channel ID 00000000 intr 00004000\n[ 9.200000] NVRM: Xid (PCI:0000:41:00): 31, Ch 00000003, engmask 00000101, intr 10000000\n',
    /^(?![^]*The driver says)[^]*Xid 31[^]*Xid 32 \(Commands arrived damaged\) came before it/,
  ],
  [
    'a monitor that writes the number in brackets',
    '{"level":"INFO","message":"GPU had an uncontained error (XID 95) Drain the GPU and reset it."}\n',
    /^xid: Xid 95/,
  ],
  [
    'the memory that a 48 means, by what stands beside it',
    'NVRM: Xid (PCI:0000:41:00): 48, pid=9, name=a.out, An uncorrectable double bit error (DBE) has been detected on GPU\nNVRM: Xid (PCI:0000:41:00): 63, pid=9, name=a.out, Row Remapper: New row (0x0000000000001234) marked for remapping, reset gpu to activate.\n',
    /Xid 48(?![^]*A 63 or 64 with it)[^]*Xid 63 beside it: the bad memory is DRAM/,
  ],
  [
    'a 63 of another GPU says nothing of it',
    'NVRM: Xid (PCI:0000:42:00): 63, Row Remapper: New row marked for remapping\nNVRM: Xid (PCI:0000:41:00): 48, pid=9, name=a.out, An uncorrectable double bit error (DBE) has been detected on GPU\n',
    /Xid 48[^]*A 63 or 64 with it means DRAM/,
  ],
  [
    'the instance of MIG',
    'NVRM: Xid (PCI:0000:41:00 GPU-I:05): 94, pid=7194, Contained: CE User Channel (0x9). RST: No, D-RST: No\n',
    /GPU 0000:41:00 \(MIG instance 5\)/,
  ],
  [
    'a card in an enclosure that was unplugged',
    'NVRM: Xid (PCI:0000:41:00): 79, GPU has fallen off the bus.\nthunderbolt 0-1: device disconnected\n',
    /A Thunderbolt device was disconnected/,
  ],
  [
    'first what to do now, then what if it stays so',
    "NVRM: Xid (PCI:0000:41:00): 64, pid='N/A', Row Remapper: could not be written\n",
    /Most likely the hardware\.\nGive the GPU at 0000:41:00 no new work[^]*If "Remapping Failure Occurred"/,
  ],
])('%s', (_, text, expected) => {
  expect(said(text)).toMatch(expected)
})

test('an Xid of another hour is no cause', () => {
  const text =
    'Jan 02 03:04:05 node kernel: NVRM: Xid (PCI:0000:41:00): 62, 00000a9f 00000a85\nJan 02 09:04:05 node kernel: NVRM: Xid (PCI:0000:41:00): 109, pid=9, name=worker, errorString CTX SWITCH TIMEOUT\n'
  expect(said(text)).not.toContain('came before it')
})

test('what explains Xids, and what the display says, are no faults', () => {
  expect(said('XID 48: This XID indicates an uncorrectable ECC error has occurred. XID 171 indicates if it is DRAM\n')).toBe('')
  expect(said('n1 kernel: nvidia-modeset: ERROR: GPU:0: Wait for channel idle timed out\n')).not.toContain('job_failed')
})
