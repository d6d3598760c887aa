// The kernel's log as a source: real records written to /dev/kmsg where root may, a file in its place elsewhere.
import { appendFileSync, closeSync, openSync, mkdtempSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { LogLine } from '../../../agent/model/event.ts'
import { createKernelLogSource } from '../../../agent/sources/kernel-log.ts'
import { createCursorStore, type CursorStore } from '../../../agent/store/cursors.ts'
import { poll } from '../../setup/poll.ts'
import { runSource, type RunningSource } from '../../setup/run-source.ts'

const quiet = { info: () => {}, warn: () => {}, error: () => {} }
const containing = (word: string) => {
  const needle = Buffer.from(word)
  return (bytes: Uint8Array, start: number, end: number): boolean => Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).includes(needle)
}
const logs = ({ events }: RunningSource): readonly LogLine[] => events.filter((event) => event.type === 'log')

function writable(): boolean {
  if (process.getuid?.() !== 0) return false
  try {
    closeSync(openSync('/dev/kmsg', 'r+'))
    return true
  } catch {
    return false
  }
}

describe('kernel log', () => {
  let directory = ''
  let cursors: CursorStore
  let run: RunningSource | undefined
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'warpwatch-kernel-'))
    cursors = createCursorStore({ directory, log: quiet })
  })
  afterEach(async () => {
    await run?.stop()
    run = undefined
    cursors.close()
    rmSync(directory, { recursive: true, force: true })
  })

  test('without permission, or without the device, there is a gap with the reason and one warning', () => {
    run = runSource(createKernelLogSource({ path: join(directory, 'none'), cursors, interesting: () => true }))
    expect(run.gaps()).toEqual([expect.objectContaining({ metric: 'kernel-log', reason: 'not_supported', code: 2 })])
    expect(run.lines.filter((line) => line.startsWith('warn'))).toHaveLength(1)
    expect(run.value('warpwatch_agent_log_lines_total')).toBeUndefined()
  })

  describe.skipIf(!writable())('real records (needs root and a writable /dev/kmsg)', () => {
    /** Opened for each few lines: the kernel allows ten in five seconds for one opening. */
    const say = (lines: readonly string[]): void => {
      for (let at = 0; at < lines.length; at += 8) {
        const fd = openSync('/dev/kmsg', 'r+')
        for (const line of lines.slice(at, at + 8)) writeSync(fd, `<3>${line}\n`)
        closeSync(fd)
      }
    }
    const start = (word: string): RunningSource => (run = runSource(createKernelLogSource({ cursors, interesting: containing(word) })))

    test('a line comes with its level, time and place', async () => {
      const word = `warpwatch-test-${process.pid}-a`
      const source = start(word)
      const began = Date.now()
      say([`${word}: gpu 7`])
      await poll(() => logs(source).some(({ text }) => text.includes(word)), { what: 'the line', everyMs: 2 })
      const line = logs(source).find(({ text }) => text.includes(word))
      expect(line).toMatchObject({ stream: 'kernel', origin: {}, level: 3, cursor: expect.stringMatching(/^[0-9a-f-]{36}:\d+$/) })
      expect(Math.abs((line?.t ?? 0) - began)).toBeLessThan(1_000)
    })

    test('a burst of a thousand: each of them, none twice, also over a restart', async () => {
      const word = `warpwatch-test-${process.pid}-b`
      const numbered = (from: number, to: number): readonly string[] => Array.from({ length: to - from }, (_, index) => `${word} n=${from + index};`)
      const source = start(word)
      const reported = (from: RunningSource): readonly string[] => logs(from).flatMap(({ text }) => (text.startsWith(word) ? [text] : []))
      say(numbered(0, 500))
      await poll(() => reported(source).length >= 500, { what: () => `500, came ${reported(source).length}` })
      await source.stop()
      say(numbered(500, 1_000))
      const again = start(word)
      await poll(() => reported(again).length >= 500, { what: () => `500 more, came ${reported(again).length}` })
      expect([...reported(source), ...reported(again)]).toEqual(numbered(0, 1_000))
      expect(again.value('warpwatch_agent_log_skipped_total', { reason: 'overwritten' })).toBe(0)
    })
  })

  test('numbers that are missing are counted as overwritten; what was read before is passed over', async () => {
    const path = join(directory, 'records')
    // A file gives several records in one read, a device one: one line here is what one read gives.
    appendFileSync(path, '3,10,1,-;FAULT ten\n')
    cursors.set('kernel', `${await bootId()}:4`)
    run = runSource(createKernelLogSource({ path, cursors, interesting: containing('FAULT') }))
    const source = run
    await poll(() => logs(source).length > 0, { what: 'the record' })
    expect(source.value('warpwatch_agent_log_skipped_total', { reason: 'overwritten' })).toBe(5)
    appendFileSync(path, '3,10,1,-;FAULT again\n')
    await poll(() => cursors.get('kernel')?.endsWith(':10'), { what: 'the cursor' })
    expect(logs(source).map(({ text }) => text)).toEqual(['FAULT ten'])
  })
})

async function bootId(): Promise<string> {
  const { readFile } = await import('node:fs/promises')
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()
}
