// Xid and SXid lines of the kernel log, in the forms that drivers of different ages write; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'a page fault with its process',
    text: '[ 8123.004512] NVRM: Xid (PCI:0000:3b:00): 31, pid=70211, name=python3, Ch 00000012, intr 10000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_4 faulted @ 0x7f10_22000000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ',
    kinds: ['xid'],
    facts: { xid: 31, pci_bus_id: '0000:3b:00', pid: 70211, process: 'python3' },
  },
  {
    name: 'process and pid unknown',
    text: "Jan 09 03:12:55 node7 kernel: NVRM: Xid (PCI:0000:86:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
    kinds: ['xid'],
    facts: { xid: 79, pci_bus_id: '0000:86:00' },
  },
  {
    name: 'the bus loss said twice is one fault',
    text: '[90001.100000] NVRM: GPU at PCI:0000:86:00: GPU-00000000-1111-2222-3333-444444444444\n[90001.100100] NVRM: Xid (PCI:0000:86:00): 79, GPU has fallen off the bus.\n[90001.100200] NVRM: GPU 0000:86:00.0: GPU has fallen off the bus.',
    kinds: ['xid'],
    facts: { xid: 79, pci_bus_id: '0000:86:00' },
  },
  {
    name: 'a name with blanks, cut at 15 characters',
    text: 'NVRM: Xid (PCI:0000:0a:00): 109, pid=5501, name=My Long Program, channel 0x00000011, errorString CTX SWITCH TIMEOUT, Info 0x1c007',
    kinds: ['xid'],
    facts: { xid: 109, pci_bus_id: '0000:0a:00', pid: 5501, process: 'My Long Program' },
  },
  {
    name: 'an old driver without PCI:',
    text: 'kernel: [  912.334] NVRM: Xid (0000:02:00): 13, 0003 00000000 0000c197 00000000 00000000 00000100',
    kinds: ['xid'],
    facts: { xid: 13, pci_bus_id: '0000:02:00' },
  },
  {
    name: 'a MIG instance',
    text: 'NVRM: Xid (PCI:0000:c1:00 GPU-I:05 GPU-CI:00): 94, pid=9001, name=trainer, Contained: CE User Channel (0x9). RST: No, D-RST: No',
    kinds: ['xid'],
    facts: { xid: 94, pci_bus_id: '0000:c1:00', pid: 9001, process: 'trainer' },
  },
  {
    name: 'a domain that is not zero, a long address',
    text: 'NVRM: Xid (PCI:0018:01:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 04 (0x024001c6 0x00000000 0x00000000 0x00000000 0x00000000 0x00000000)',
    kinds: ['xid'],
    facts: { xid: 149, pci_bus_id: '0018:01:00' },
  },
  {
    name: 'the recovery action of the driver',
    text: 'NVRM: Xid (PCI:0000:4d:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)',
    kinds: ['xid'],
    facts: { xid: 154, pci_bus_id: '0000:4d:00' },
  },
  { name: 'a code that nobody knows', text: 'NVRM: Xid (PCI:0000:4d:00): 9999, something new', kinds: ['xid'], facts: { xid: 9999 } },
  {
    name: 'wrapped behind the pid',
    text: 'Mar 01 10:00:00 box kernel: NVRM: Xid (PCI:0000:01:00): 43, pid=1234,\nname=render, Ch 00000018',
    kinds: ['xid'],
    facts: { xid: 43, pid: 1234, process: 'render' },
  },
  {
    name: 'an NVSwitch',
    text: '[ 55.1] nvidia-nvswitch2: SXid (PCI:0000:c4:00.0): 20034, Fatal, Link 31 LTSSM Fault Up',
    kinds: ['xid'],
    facts: { sxid: 20034, pci_bus_id: '0000:c4:00.0' },
  },
  {
    name: 'as the Kubernetes device plugin says it',
    text: 'I0301 10:11:12.000001 1 nvidia.go:212] XidCriticalError: Xid=48 on Device=GPU-00000000-1111-2222-3333-444444444444; marking device as unhealthy.',
    kinds: ['xid'],
    facts: { xid: 48 },
  },
  { name: 'quiet: transaction ids of a data base', text: 'LOG:  oldest xid is far in the past, xid 733 wraparound\nzxid=0x500000012 peerEpoch=0x5', kinds: [] },
  { name: 'quiet: no number', text: 'NVRM: Xid (PCI:0000:01:00): unknown', kinds: [] },
  {
    name: 'quiet: the driver loads',
    text: '[    9.1] nvidia: module license taints kernel.\n[    9.2] NVRM: loading NVIDIA UNIX x86_64 Kernel Module  570.86.15  Mon Jan 20 00:00:00 UTC 2025',
    kinds: [],
  },
  { name: 'a monitor names the GPU', text: 'WARN health: GPU 3 reported XID 79, cordoning the node', kinds: ['xid'], facts: { xid: 79 } },
  { name: 'quiet: a number that is no Xid', text: 'job on GPU node finished, XID 8812', kinds: [] },
]
