// The kernel's files, by examples written here.
import { expect, test } from 'vitest'
import { parseStat } from '../../../agent/sources/host/cpu.ts'
import { parseDiskstats } from '../../../agent/sources/host/disk-io.ts'
import { osName } from '../../../agent/sources/host/info.ts'
import { parseLoad } from '../../../agent/sources/host/load.ts'
import { meminfoValue } from '../../../agent/sources/host/memory.ts'
import { parseMounts } from '../../../agent/sources/host/mounts.ts'
import { parseNetDev } from '../../../agent/sources/host/network.ts'
import { parsePressure } from '../../../agent/sources/host/pressure.ts'

test('stat: seconds by mode, cores, boot time', () => {
  const text = 'cpu  100 20 300 4000 50 6 7 8 90 10\ncpu0 50 10 150 2000 25 3 3 4 0 0\ncpu1 50 10 150 2000 25 3 4 4 0 0\nintr 1 2\nbtime 1700000000\n'
  expect(parseStat(text)).toEqual({
    seconds: { user: 1, nice: 0.2, system: 3, idle: 40, iowait: 0.5, irq: 0.06, softirq: 0.07, steal: 0.08 },
    cores: 2,
    bootTime: 1_700_000_000,
  })
  expect(parseStat('cpu  1 2 3 4\n')).toEqual({ seconds: { user: 0.01, nice: 0.02, system: 0.03, idle: 0.04 }, cores: 0 })
  expect(parseStat('intr 5')).toBeUndefined()
})

test('meminfo: kB are KiB; a key is a whole word', () => {
  const text = 'MemTotal:       1000 kB\nMemFree:         500 kB\nSwapTotal:         0 kB\nHugePages_Total:       3\nSwapCached: x kB\n'
  expect([meminfoValue(text, 'MemTotal'), meminfoValue(text, 'MemFree'), meminfoValue(text, 'SwapTotal'), meminfoValue(text, 'HugePages_Total')]).toEqual([
    1_024_000, 512_000, 0, 3,
  ])
  expect([meminfoValue(text, 'Mem'), meminfoValue(text, 'Total'), meminfoValue(text, 'SwapCached'), meminfoValue(text, 'Absent')]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

test('pressure: percent and microseconds', () => {
  expect(parsePressure('some avg10=12.50 avg60=1.00 avg300=0.10 total=2500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n')).toEqual([
    { kind: 'some', ratio: 0.125, waitedSeconds: 2.5 },
    { kind: 'full', ratio: 0, waitedSeconds: 0.000007 },
  ])
  expect(parsePressure('some avg10=nan total=1')).toEqual([])
})

test('loadavg', () => {
  expect(parseLoad('0.52 1.00 12.25 2/345 6789\n')).toEqual([0.52, 1, 12.25])
  expect(parseLoad('')).toBeUndefined()
})

test('net/dev: bytes received and sent, also where the name touches the number', () => {
  const text =
    'Inter-|   Receive                |  Transmit\n face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets\n  eth0: 1000 2 0 0 0 0 0 0 3000 4 0 0 0 0 0 0\nib0:5 1 0 0 0 0 0 0 6 1 0 0 0 0 0 0\n'
  expect(parseNetDev(text)).toEqual([
    { name: 'eth0', received: 1_000, transmitted: 3_000 },
    { name: 'ib0', received: 5, transmitted: 6 },
  ])
})

test('diskstats: whole disks in bytes; partitions, loops and memory left out', () => {
  const line = (name: string) => `   8       0 ${name} 10 0 4 5 20 0 6 7 0 1500 9 0 0 0 0\n`
  const disks = parseDiskstats(
    ['sda', 'sda1', 'nvme0n1', 'nvme0n1p2', 'nvme0c0n1', 'loop0', 'zram0', 'dm-0', 'md127', 'vdb', 'mmcblk0p1', 'sr0'].map(line).join(''),
  )
  expect(disks.map(({ device }) => device)).toEqual(['sda', 'nvme0n1', 'dm-0', 'md127', 'vdb'])
  expect(disks[0]).toEqual({ device: 'sda', readBytes: 2_048, writtenBytes: 3_072, busySeconds: 1.5 })
})

test('mountinfo: real file systems once each, network ones never', () => {
  const text = [
    '27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw',
    '28 27 0:21 / /proc rw - proc proc rw',
    '29 27 254:0 /var/lib/x /var/lib/x rw shared:1 - ext4 /dev/vda rw',
    '30 27 259:1 / /data\\040one rw,relatime shared:2 master:3 - xfs /dev/nvme0n1 rw,attr2',
    '31 27 0:40 / /nfs rw - nfs4 server:/export rw',
    '32 27 0:41 / /smb rw - cifs //server/share rw',
    '33 27 0:42 / /run rw - tmpfs tmpfs rw',
    '34 27 0:43 /@home /home rw - btrfs /dev/sdb rw',
    '35 27 0:44 /@ /btrfs/all rw - btrfs /dev/sdb rw',
    '36 27 7:1 / /snap/core ro - squashfs /dev/loop1 ro',
    '37 27 0:45 / /tank rw - zfs tank rw',
    '38 27 0:46 / /tank/a rw - zfs tank/a rw',
    '39 27 0:47 / /var/lib/docker/overlay2/x/merged rw - overlay overlay rw',
    'garbage',
    '',
  ].join('\n')
  expect(parseMounts(text)).toEqual([
    { mountpoint: '/', device: '/dev/vda', fstype: 'ext4' },
    { mountpoint: '/data one', device: '/dev/nvme0n1', fstype: 'xfs' },
    { mountpoint: '/home', device: '/dev/sdb', fstype: 'btrfs' },
    { mountpoint: '/tank', device: 'tank', fstype: 'zfs' },
    { mountpoint: '/tank/a', device: 'tank/a', fstype: 'zfs' },
  ])
  expect(parseMounts('1 0 0:50 / / rw - overlay overlay rw\n')).toEqual([{ mountpoint: '/', device: 'overlay', fstype: 'overlay' }])
})

test('os-release', () => {
  expect(osName('NAME=x\nPRETTY_NAME="Example Linux 1 (\\"one\\")"\n')).toBe('Example Linux 1 ("one")')
  expect(osName('PRETTY_NAME=Plain\n')).toBe('Plain')
  expect(osName('NAME=x\n')).toBeUndefined()
})
