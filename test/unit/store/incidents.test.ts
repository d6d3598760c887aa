// Incidents on disk: whole after kill -9, bounded, and in memory while the disk is lost.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { summaryOf, type Incident, type Occurrence } from '../../../agent/model/incident.ts'
import { createIncidentStore } from '../../../agent/store/incidents.ts'
import { INCIDENTS_FILE, openIncidentFile } from '../../../agent/store/incidents/file.ts'
import { INCIDENT } from '../http/incident-fixture.ts'

function place(): string {
  const directory = mkdtempSync(join(tmpdir(), 'warpwatch-incidents-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}
const quiet = () => {
  const lines: string[] = []
  const add = (text: string): void => void lines.push(text)
  return { lines, log: { info: add, warn: add, error: add } }
}
const nth = (n: number, more: Partial<Incident> = {}): Incident => ({
  ...INCIDENT,
  id: n.toString(16).padStart(16, '0'),
  started_at: 1_000 + n,
  last_seen_at: 2_000 + n,
  ...more,
})

test('keeps what it is given, newest first, and filters', () => {
  const directory = place()
  const store = createIncidentStore({ directory, log: quiet().log })
  store.save(nth(1, { status: 'firing' }))
  store.save(nth(2, { kind: 'xid' }))
  store.save(nth(3))
  store.save(nth(1, { status: 'firing', count: 9 }))
  store.close()
  const again = createIncidentStore({ directory, log: quiet().log })
  expect(again.list({ limit: 10 })).toEqual([summaryOf(nth(3)), summaryOf(nth(2, { kind: 'xid' })), summaryOf(nth(1, { status: 'firing', count: 9 }))])
  expect(again.list({ limit: 1 })).toHaveLength(1)
  expect(again.list({ limit: 10, kind: 'xid' }).map(({ id }) => id)).toEqual([nth(2).id])
  expect(again.list({ limit: 10, status: 'firing' }).map(({ id }) => id)).toEqual([nth(1).id])
  expect(again.list({ limit: 10, since: 2_003 }).map(({ id }) => id)).toEqual([nth(3).id])
  expect(again.get(nth(3).id)).toEqual(nth(3))
  expect(again.get('nothing')).toBeUndefined()
  expect(again.unresolved()).toEqual([nth(1, { status: 'firing', count: 9 })])
  again.close()
})

test('keeps the earlier occurrences of an incident, which lists do without', () => {
  const directory = place()
  const earlier: Occurrence = { at: 900, pid: 41, title: 'before', verdict: 'It was so before.', facts: { xid: 79 }, log_lines: [], series: [] }
  const again = nth(1, { occurred_at: 1_500, count: 2, occurrences: [earlier] })
  const store = createIncidentStore({ directory, log: quiet().log })
  store.save(again)
  store.close()
  const file = openIncidentFile(directory)
  expect(file.get(again.id)).toEqual(again)
  expect(file.list({ limit: 1 })).toEqual([summaryOf(again)])
  file.close()
})

test('loses nothing that was told safe to kill -9', async () => {
  const directory = place()
  let next = 0
  for (let round = 0; round < 6; round++) {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'incidents-child.ts'), directory, String(next)], { stdio: ['ignore', 'pipe', 'pipe'] })
    let [reported, errors] = ['', '']
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
    const closed = once(child, 'close')
    await new Promise<void>((resolve) => {
      child.once('exit', () => resolve())
      child.stdout.on('data', (chunk: Buffer) => {
        reported += chunk.toString()
        if (reported.split('\n').length > 20 + round * 13) resolve()
      })
    })
    child.kill('SIGKILL')
    await closed
    expect(errors).toBe('')
    next = Number(reported.slice(0, reported.lastIndexOf('\n')).split('\n').at(-1)) + 1
  }
  const file = openIncidentFile(directory)
  const found = new Set(file.list({ limit: 100_000 }).map(({ started_at: n }) => n))
  for (let n = 0; n < next; n++) expect(found.has(n), `incident ${n} of ${next}`).toBe(true)
  expect(file.get((0).toString(16).padStart(16, '0'))?.evidence).toEqual(INCIDENT.evidence)
  file.close()
})

test('stays within its bounds, and lets resolved ones go first', () => {
  const directory = place()
  const store = createIncidentStore({ directory, log: quiet().log, maxCount: 20 })
  for (let n = 0; n < 60; n++) store.save(nth(n, n < 3 ? { status: 'firing' } : {}))
  store.maintain(1e12)
  const left = store.list({ limit: 1_000 })
  expect(left).toHaveLength(20)
  expect(left.filter(({ status }) => status === 'firing')).toHaveLength(3)
  expect(left[0]?.id).toBe(nth(59).id)
  store.close()
  const small = createIncidentStore({ directory, log: quiet().log, maxBytes: 10_000 })
  small.maintain(1e12)
  expect(small.list({ limit: 1_000 }).length).toBeLessThan(12)
  small.close()
})

test('without a disk goes on in memory, says so once, and writes when the disk is back', () => {
  const directory = place()
  const blocked = join(directory, 'data')
  writeFileSync(blocked, 'not a directory')
  const { lines, log } = quiet()
  const store = createIncidentStore({ directory: blocked, log })
  for (let n = 0; n < 300; n++) store.save(nth(n))
  store.maintain(1e12)
  store.maintain(1e12 + 20_000)
  expect(lines.filter((text) => text.includes('kept in memory only'))).toHaveLength(1)
  expect(store.degraded()).toBeDefined()
  expect(store.list({ limit: 1_000 })).toHaveLength(200)
  expect(store.get(nth(299).id)).toEqual(nth(299))
  rmSync(blocked)
  store.maintain(1e12 + 40_000)
  expect(store.degraded()).toBeUndefined()
  expect(lines.at(-1)).toContain('written')
  store.close()
  const file = openIncidentFile(blocked)
  expect(file.list({ limit: 1_000 })).toHaveLength(200)
  file.close()
})

test('sets a broken file aside and starts over', () => {
  const directory = place()
  writeFileSync(join(directory, INCIDENTS_FILE), 'x'.repeat(10_000))
  const { lines, log } = quiet()
  const store = createIncidentStore({ directory, log })
  store.save(nth(1))
  store.maintain(1e12)
  expect(store.get(nth(1).id)).toEqual(nth(1))
  expect(store.degraded()).toBeUndefined()
  expect(readdirSync(directory).filter((file) => file.startsWith(`${INCIDENTS_FILE}.broken-`))).toHaveLength(1)
  expect(lines.join('\n')).toContain('set aside')
  store.close()
  expect(statSync(join(directory, INCIDENTS_FILE)).size).toBeGreaterThan(0)
})
