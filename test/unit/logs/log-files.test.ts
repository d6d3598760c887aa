// Log files: appended, renamed away, truncated, of containers in both forms, over restarts.
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createContainerDirectory } from '../../../agent/attribution/directory.ts'
import type { LogLine } from '../../../agent/model/event.ts'
import { createLogFilesSource } from '../../../agent/sources/log-files.ts'
import { createCursorStore, type CursorStore } from '../../../agent/store/cursors.ts'
import { poll } from '../../setup/poll.ts'
import { runSource, type RunningSource } from '../../setup/run-source.ts'

const NEEDLE = Buffer.from('FAULT')
const interesting = (bytes: Uint8Array, start: number, end: number): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).includes(NEEDLE)
const quiet = { info: () => {}, warn: () => {}, error: () => {} }
const ID = 'ab'.repeat(32)

describe('log files', () => {
  let folder = ''
  let cursors: CursorStore
  let run: RunningSource | undefined
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'warpwatch-files-'))
    cursors = createCursorStore({ directory: join(folder, 'data'), log: quiet })
  })
  const end = async (): Promise<void> => {
    await run?.stop()
    run = undefined
  }
  afterEach(async () => {
    await end()
    cursors.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const start = (patterns: { readonly files?: readonly string[]; readonly containerFiles?: readonly string[] }): RunningSource =>
    (run = runSource(createLogFilesSource({ files: [], containerFiles: [], directory: createContainerDirectory(), cursors, interesting, ...patterns })))
  const logs = (source: RunningSource): readonly LogLine[] => source.events.filter((event) => event.type === 'log')
  const faults = (source: RunningSource): readonly string[] => logs(source).flatMap(({ text }) => text.match(/FAULT-\w+/g) ?? [])
  const come = async (source: RunningSource, count: number): Promise<readonly string[]> => {
    await poll(() => faults(source).length >= count, { what: () => `${count} faults, came ${faults(source).join()}` })
    return faults(source)
  }

  test('what is appended comes with the lines before it; what was there before the first start does not', async () => {
    const path = join(folder, 'job.log')
    writeFileSync(path, 'FAULT-old\n')
    const source = start({ files: [path] })
    appendFileSync(path, 'step 1\nFAULT-new\n')
    expect(await come(source, 1)).toEqual(['FAULT-new'])
    expect(logs(source).map(({ text }) => text)).toEqual(['step 1', 'FAULT-new'])
    expect(logs(source).at(-1)).toMatchObject({ stream: 'file', origin: { path } })
  })

  test('a file that the first look does not come to is read from where it ended at the start', async () => {
    const before = Array.from({ length: 80 }, (_, at) => join(folder, `${at}.before`))
    for (const path of before) writeFileSync(path, 'step\n'.repeat(50_000))
    const path = join(folder, 'job.log')
    writeFileSync(path, 'FAULT-old\n')
    const source = start({ containerFiles: [join(folder, '*.before')], files: [path] })
    appendFileSync(path, 'FAULT-new\n')
    expect(await come(source, 1)).toEqual(['FAULT-new'])
  })

  test('where a log ended at the start is kept at once: what is written before a kill is read by the next agent', async () => {
    const path = join(folder, 'job.log')
    writeFileSync(path, 'FAULT-old\n')
    start({ files: [path] })
    expect(cursors.get(`file:${path}`)?.split(':')[2]).toBe('10')
  })

  test('rotation by renaming and by truncating', async () => {
    const path = join(folder, 'job.log')
    const source = start({ files: [path] })
    writeFileSync(path, 'FAULT-a\n')
    expect(await come(source, 1)).toEqual(['FAULT-a'])
    appendFileSync(path, 'FAULT-b\n')
    renameSync(path, `${path}.1`)
    appendFileSync(`${path}.1`, 'FAULT-c\n')
    writeFileSync(path, 'FAULT-d\n')
    expect(await come(source, 4)).toEqual(['FAULT-a', 'FAULT-b', 'FAULT-c', 'FAULT-d'])
    truncateSync(path, 0)
    await poll(() => cursors.get(`file:${path}`)?.split(':')[2] === '0', { what: 'the truncation to be seen' })
    appendFileSync(path, 'FAULT-e\n')
    expect(await come(source, 5)).toEqual(['FAULT-a', 'FAULT-b', 'FAULT-c', 'FAULT-d', 'FAULT-e'])
  })

  test('truncated and written beyond the old end between two looks: read from its beginning', async () => {
    const path = join(folder, 'job.log')
    const source = start({ files: [path] })
    writeFileSync(path, 'FAULT-a\n')
    expect(await come(source, 1)).toEqual(['FAULT-a'])
    writeFileSync(path, 'another beginning\nFAULT-b\nFAULT-c\n')
    expect(await come(source, 3)).toEqual(['FAULT-a', 'FAULT-b', 'FAULT-c'])
  })

  test.skipIf(process.platform !== 'linux')(
    'a pipe, a device or a directory under the name of a log holds nobody up, and a file that takes its place is read',
    async () => {
      const other = join(folder, 'other.log')
      const path = join(folder, 'job.log')
      writeFileSync(other, '')
      writeFileSync(path, 'before\n')
      const source = start({ files: [join(folder, '*.log')] })
      renameSync(path, join(folder, 'job.old'))
      execFileSync('mkfifo', [path])
      symlinkSync('/dev/zero', join(folder, 'zero.log'))
      mkdirSync(join(folder, 'directory.log'))
      appendFileSync(other, 'FAULT-a\n')
      expect(await come(source, 1)).toEqual(['FAULT-a'])
      await poll(() => source.lines.filter((text) => text.includes('is no file but')).length >= 3, {
        what: () => `three warnings, came ${source.lines.join('; ')}`,
        deadlineMs: 15_000,
      })
      rmSync(path)
      writeFileSync(path, 'FAULT-b\n')
      appendFileSync(other, 'FAULT-c\n')
      expect([...(await come(source, 3))].sort()).toEqual(['FAULT-a', 'FAULT-b', 'FAULT-c'])
    },
  )

  test('a restart goes on where it was, also in a file that was renamed meanwhile', async () => {
    const path = join(folder, 'job.log')
    const first = start({ files: [path] })
    writeFileSync(path, 'beginning of the file\nFAULT-a\n')
    expect(await come(first, 1)).toEqual(['FAULT-a'])
    await end()
    appendFileSync(path, 'FAULT-b\n')
    renameSync(path, `${path}.1`)
    writeFileSync(path, 'a new file\nFAULT-c\n')
    expect(await come(start({ files: [path] }), 2)).toEqual(['FAULT-b', 'FAULT-c'])
    await end()
    const third = start({ files: [path] })
    appendFileSync(path, 'FAULT-d\n')
    expect(await come(third, 1)).toEqual(['FAULT-d'])
  })

  test('a glob finds files that come later', async () => {
    const source = start({ files: [join(folder, '*.log')] })
    writeFileSync(join(folder, 'late.log'), 'FAULT-late\n')
    expect(await come(source, 1)).toEqual(['FAULT-late'])
  })

  test("a json-file and a CRI file, told by their first line: the program's own lines, split ones joined", async () => {
    mkdirSync(join(folder, ID))
    const json = join(folder, ID, `${ID}-json.log`)
    const cri = join(folder, `trainer-0_ml_trainer-${'cd'.repeat(32)}.log`)
    const source = start({ containerFiles: [join(folder, '*', '*-json.log'), join(folder, '*.log')] })
    const entry = (log: string): string => `${JSON.stringify({ log, stream: 'stderr', time: '2026-11-20T10:17:00.5Z' })}\n`
    writeFileSync(json, entry('say "x" <FAU') + entry('LT-json> é\n'))
    writeFileSync(cri, '2026-11-20T10:17:00.5+00:00 stdout P FAULT-\n2026-11-20T10:17:00.6+00:00 stdout F cri\n')
    await poll(() => faults(source).length >= 2, { what: 'both' })
    const lines = [...logs(source)].sort((a, b) => a.text.length - b.text.length)
    expect(lines.map(({ text }) => text)).toEqual(['FAULT-cri', 'say "x" <FAULT-json> é'])
    expect(lines.map(({ t }) => t)).toEqual([Date.parse('2026-11-20T10:17:00.5Z'), Date.parse('2026-11-20T10:17:00.5Z')])
    expect(lines[1]?.origin).toMatchObject({ container: ID.slice(0, 12), container_id: ID.slice(0, 12) })
  })

  test('a line without its end is judged after a while; garbage and a line of 10 MB pass through, bounded', async () => {
    const path = join(folder, 'job.log')
    const source = start({ files: [path] })
    const garbage = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 7_919) % 256))
    writeFileSync(path, Buffer.concat([garbage, Buffer.from('\n'), Buffer.alloc(10_000_000, 0x78), Buffer.from('\nFAULT-after\nFAULT-unfinished')]))
    expect(await come(source, 2)).toEqual(['FAULT-after', 'FAULT-unfinished'])
    await poll(() => (source.value('warpwatch_agent_log_skipped_total', { reason: 'cut' }) ?? 0) > 100, { what: 'the cuts to be counted', deadlineMs: 12_000 })
    expect(Math.max(...logs(source).map(({ text }) => text.length))).toBeLessThanOrEqual(64 * 1024)
  })
})
