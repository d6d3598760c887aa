// One entry of the journal as `journalctl -o json` prints it. systemd.io/JOURNAL_EXPORT_FORMATS, systemd.journal-fields(7).

export type JournalEntry = { readonly text: string; readonly t: number; readonly cursor: string; readonly unit: string }

/** Undefined: no entry, or one that other sources tell (the kernel, containers of Docker's journald driver). */
export function parseEntry(line: string): JournalEntry | undefined | 'elsewhere' {
  let parsed: unknown
  try {
    parsed = JSON.parse(line)
  } catch {
    return undefined
  }
  if (typeof parsed !== 'object' || parsed === null) return undefined
  const fields = new Map<string, unknown>(Object.entries(parsed))
  const cursor = fields.get('__CURSOR')
  const micros = Number(fields.get('__REALTIME_TIMESTAMP'))
  if (typeof cursor !== 'string' || !Number.isFinite(micros)) return undefined
  if (fields.get('_TRANSPORT') === 'kernel' || fields.has('CONTAINER_ID_FULL')) return 'elsewhere'
  const text = messageOf(fields.get('MESSAGE'))
  if (text === undefined) return undefined
  const unit = fields.get('_SYSTEMD_UNIT') ?? fields.get('SYSLOG_IDENTIFIER')
  return { text, t: Math.floor(micros / 1000), cursor, unit: typeof unit === 'string' ? unit : '' }
}

/** A text; an array of bytes where it is no UTF-8; null where it is too large; several messages in one entry are an array of texts. */
function messageOf(message: unknown): string | undefined {
  if (typeof message === 'string') return message
  if (!Array.isArray(message)) return undefined
  if (message.every((part) => typeof part === 'number')) return Buffer.from(message).toString('utf8')
  return message.flatMap((part) => messageOf(part) ?? []).join('\n')
}
