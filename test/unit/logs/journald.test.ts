// The journal: entries in every form that journalctl prints, and the source with a program in its place.
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createJournaldSource } from '../../../agent/sources/journald.ts'
import { parseEntry } from '../../../agent/sources/journald/entry.ts'
import { createCursorStore } from '../../../agent/store/cursors.ts'
import { poll } from '../../setup/poll.ts'
import { runSource } from '../../setup/run-source.ts'

const entry = (fields: object): string =>
  JSON.stringify({ __CURSOR: 's=1;i=2', __REALTIME_TIMESTAMP: '1763600000123456', _SYSTEMD_UNIT: 'job.service', ...fields })

describe('an entry of the journal', () => {
  test('text, bytes and several messages', () => {
    expect(parseEntry(entry({ MESSAGE: 'hello' }))).toEqual({ text: 'hello', t: 1_763_600_000_123, cursor: 's=1;i=2', unit: 'job.service' })
    expect(parseEntry(entry({ MESSAGE: [104, 105] }))).toMatchObject({ text: 'hi' })
    expect(parseEntry(entry({ MESSAGE: ['a', 'b'] }))).toMatchObject({ text: 'a\nb' })
  })

  test('what other sources tell, and what is no entry', () => {
    expect(parseEntry(entry({ MESSAGE: 'x', _TRANSPORT: 'kernel' }))).toBe('elsewhere')
    expect(parseEntry(entry({ MESSAGE: 'x', CONTAINER_ID_FULL: 'ab' }))).toBe('elsewhere')
    for (const line of ['', '{', '[]', 'null', '{"MESSAGE":"x"}', entry({ MESSAGE: null })]) expect(parseEntry(line)).toBeUndefined()
  })
})

describe('the journal as a source', () => {
  test('goes on after its cursor; the program is started again when it ends; without it there is a gap', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'warpwatch-journal-'))
    const quiet = { info: () => {}, warn: () => {}, error: () => {} }
    const cursors = createCursorStore({ directory: folder, log: quiet })
    const command = join(folder, 'journalctl')
    writeFileSync(
      command,
      `#!/bin/sh\nprintf '%s\\n' "$*" >> ${folder}/asked\ncat <<'END'\n${entry({ MESSAGE: 'before' })}\n${entry({ MESSAGE: 'FAULT', __CURSOR: 's=1;i=3' })}\nEND\n`,
    )
    chmodSync(command, 0o755)
    const needle = Buffer.from('FAULT')
    const interesting = (bytes: Uint8Array, start: number, end: number): boolean =>
      Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).includes(needle)
    const run = runSource(createJournaldSource({ command, units: ['job.service'], cursors, interesting }))
    try {
      const asked = await poll(
        () => {
          const lines = readFileSync(join(folder, 'asked'), { encoding: 'utf8', flag: 'a+' }).split('\n')
          return lines.length > 2 ? lines : undefined
        },
        { what: 'two starts' },
      )
      expect(asked[0]).toContain('--since=-10min --unit=job.service')
      expect(asked[1]).toContain('--after-cursor=s=1;i=3')
      const logs = run.events.filter((event) => event.type === 'log')
      expect(logs.slice(0, 2)).toMatchObject([
        { text: 'before' },
        { text: 'FAULT', t: 1_763_600_000_123, origin: { path: 'journal:job.service' }, cursor: 's=1;i=3' },
      ])
    } finally {
      await run.stop()
    }
    const missing = runSource(createJournaldSource({ command: join(folder, 'none'), units: [], cursors, interesting }))
    await poll(() => missing.lines.length > 0, { what: 'the warning' })
    await poll(() => missing.gaps().length > 0, { what: 'the gap', deadlineMs: 12_000 })
    expect(missing.gaps()).toMatchObject([{ metric: 'journald', reason: 'not_supported' }])
    await missing.stop()
    cursors.close()
    rmSync(folder, { recursive: true, force: true })
  })
})
