// What probes in PyTorch processes report of their allocators.
import { onOff, text } from '../field.ts'

export const allocator = {
  description: "PyTorch's allocator from inside: what the probe (probe/python) in a process says of its memory.",
  fields: {
    enabled: onOff({ default: true, description: 'Listen to probes.' }),
    socket: text({
      default: '',
      pattern: /^$|^\/[^\0]{1,100}$/,
      expected: 'an absolute path of at most 101 characters, or nothing',
      description: 'Socket for probes; mount its directory into containers. Empty = /run/warpwatch/probe.sock for root, else probe/probe.sock in data_dir.',
    }),
    discover: onOff({
      default: true,
      description: "Look for probes without the mount, in the /tmp of processes that hold GPU memory. Needs root for other users' processes.",
    }),
  },
}
