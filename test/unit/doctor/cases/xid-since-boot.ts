// Cases of the check xid-since-boot.
import { healthy, NO_GPU, WSL } from '../hosts.ts'
import type { CheckCase } from '../scene.ts'

const files = { ...healthy(), '/proc/uptime': '100000.00 90000.00\n' }
const said = (...lines: readonly string[]) => ({ dmesg: { prints: `[    0.000000] Linux version 6.1.0\n${lines.join('\n')}\n` } })
const xid = (at: number, code: number, rest = 'pid=1234, name=python') => `[${at}.000000] NVRM: Xid (PCI:0000:01:00): ${code}, ${rest}`
const refused = { script: 'echo "dmesg: read kernel buffer failed: Operation not permitted" >&2; exit 1' }

export const cases: readonly CheckCase[] = [
  { about: 'none', scene: { files, programs: said('[   10.0] usb 1-1: new device') }, status: 'pass', says: /back to the boot/ },
  { about: 'off the bus, just now', scene: { files, programs: said(xid(99_900, 79)) }, status: 'fail', says: /Xid 79 .*once, last 100 s ago/ },
  { about: 'the same, thrice', scene: { files, programs: said(xid(99_000, 79), xid(99_500, 79), xid(99_900, 79)) }, status: 'fail', says: /3 times/ },
  { about: 'off the bus, more than a day ago', scene: { files, programs: said(xid(100, 79)) }, status: 'warn', says: /28 h ago/ },
  { about: "a program's own bug", scene: { files, programs: said(xid(99_900, 31)) }, status: 'pass', says: /Xid 31/ },
  { about: 'a line of another program that speaks of an Xid', scene: { files, programs: said('[ 100.0] audit: comm="grep" exe="Xid"') }, status: 'pass' },
  {
    about: 'through the journal where dmesg may not',
    scene: {
      files,
      programs: {
        dmesg: refused,
        journalctl: { prints: '[99900.000000] host kernel: NVRM: Xid (PCI:0000:01:00): 48, pid=1, An uncorrectable double bit error\n' },
      },
    },
    status: 'fail',
    says: /Xid 48/,
  },
  { about: 'nobody may read it', scene: { files, programs: { dmesg: refused } }, status: 'skipped', says: /cannot be read.*Operation not permitted/ },
  { about: 'no driver', scene: { files: NO_GPU }, status: 'skipped' },
  { about: 'WSL', scene: { files: WSL }, status: 'skipped' },
]
