// What goes through disks and networks of the host, and how full its file systems are.
import { defineMetric } from '../model/metric.ts'

const space = (what: string, help: string) =>
  defineMetric({
    name: `warpwatch_host_disk_${what}_bytes`,
    subject: 'host',
    field: `disk_${what}_bytes`,
    by: 'mountpoint',
    kind: 'gauge',
    unit: 'By',
    help,
    labels: ['mountpoint', 'device', 'fstype'],
  })
export const hostDiskTotalBytes = space('total', 'Size of the file system.')
export const hostDiskFreeBytes = space('free', 'Bytes not in use, those kept back for root included.')
export const hostDiskAvailableBytes = space('available', 'Bytes that programs without privileges can still write.')
const io = (direction: 'read' | 'write') => [{ name: 'system.disk.io', attributes: { 'disk.io.direction': direction }, labels: { device: 'system.device' } }]
export const hostDiskReadBytesTotal = defineMetric({
  name: 'warpwatch_host_disk_read_bytes_total',
  subject: 'host',
  field: 'disk_read_bytes_total',
  kind: 'counter',
  unit: 'By',
  help: 'Bytes read, by disk. Mapped devices (dm, md) count beside the disks under them.',
  labels: ['device'],
  otel: io('read'),
})
export const hostDiskWrittenBytesTotal = defineMetric({
  name: 'warpwatch_host_disk_written_bytes_total',
  subject: 'host',
  field: 'disk_written_bytes_total',
  kind: 'counter',
  unit: 'By',
  help: 'Bytes written, by disk. Mapped devices (dm, md) count beside the disks under them.',
  labels: ['device'],
  otel: io('write'),
})
export const hostDiskBusySecondsTotal = defineMetric({
  name: 'warpwatch_host_disk_busy_seconds_total',
  subject: 'host',
  field: 'disk_busy_seconds_total',
  kind: 'counter',
  unit: 's',
  help: 'Time in which the disk had at least one request in flight.',
  labels: ['device'],
  otel: [{ name: 'system.disk.io_time', labels: { device: 'system.device' } }],
})
const network = (way: 'receive' | 'transmit', help: string) =>
  defineMetric({
    name: `warpwatch_host_network_${way}_bytes_total`,
    subject: 'host',
    field: `network_${way}_bytes_total`,
    kind: 'counter',
    unit: 'By',
    help,
    labels: ['interface'],
    otel: [{ name: 'system.network.io', attributes: { 'network.io.direction': way }, labels: { interface: 'network.interface.name' } }],
  })
export const hostNetworkReceiveBytesTotal = network('receive', 'Bytes received, by interface; those of containers and bridges left out.')
export const hostNetworkTransmitBytesTotal = network('transmit', 'Bytes sent, by interface; those of containers and bridges left out.')

const infiniband = (way: 'receive' | 'transmit', help: string) =>
  defineMetric({
    name: `warpwatch_host_infiniband_${way}_bytes_total`,
    subject: 'host',
    field: `infiniband_${way}_bytes_total`,
    kind: 'counter',
    unit: 'By',
    help,
    labels: ['device', 'port'],
  })
export const hostInfinibandReceiveBytesTotal = infiniband('receive', 'Bytes received, by InfiniBand or RoCE port.')
export const hostInfinibandTransmitBytesTotal = infiniband('transmit', 'Bytes sent, by InfiniBand or RoCE port.')
