// One record of /dev/kmsg: "priority,sequence,microseconds,flags[,…];text", then lines " KEY=value". Documentation/ABI/testing/dev-kmsg.

export type KernelRecord = {
  /** 0 emergency … 7 debug. */
  readonly level: number
  /** 0 kernel, 1 user … as in syslog. */
  readonly facility: number
  readonly sequence: number
  /** Since boot. */
  readonly microseconds: number
  /** `c` begins a fragment of a line, `+` continues one. */
  readonly fragment: 'none' | 'begin' | 'continue'
  readonly text: string
}

const HEAD = /^(\d{1,10}),(\d{1,20}),(\d{1,20}),([^,;]{1,8})[^;]{0,256};/

/** Undefined when it is no record. */
export function parseRecord(record: string): KernelRecord | undefined {
  const match = HEAD.exec(record)
  if (match === null) return undefined
  const [head, priority = '', sequence = '', microseconds = '', flags = ''] = match
  // Keys and values of the device follow on lines of their own; control characters in the text are escaped, so a line end ends it.
  const end = record.indexOf('\n', head.length)
  const escaped = record.slice(head.length, end < 0 ? record.length : end)
  return {
    level: Number(priority) & 7,
    facility: Number(priority) >>> 3,
    sequence: Number(sequence),
    microseconds: Number(microseconds),
    fragment: flags.startsWith('c') ? 'begin' : flags.startsWith('+') ? 'continue' : 'none',
    text: unescape(escaped),
  }
}

/** `\x0a` for bytes that do not print; an escaped line end separates lines of one message. Bytes beyond ASCII are UTF-8. */
function unescape(text: string): string {
  if (!text.includes('\\x')) return text
  const bytes = Buffer.from(
    text.replace(/\\x([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )
  // The text itself was decoded as latin1 where it was read.
  return bytes.toString('utf8')
}
