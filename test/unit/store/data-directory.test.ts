// The data directory becomes private where it is the agent's own; what is shared, or holds others' files, is left alone and told of.
import { chmodSync, chownSync, linkSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { secureDataDirectory } from '../../../agent/store/data-directory.ts'
import { kept } from '../../setup/alert-scene.ts'

const modeOf = (path: string): string => (lstatSync(path).mode & 0o7777).toString(8).padStart(4, '0')

/** Files named as the agent's databases become private wherever they lie. */
const isPrivate = (name: string): boolean => name.endsWith('.db')
/** A directory with these files, each as wide as an earlier version left it. */
function scene(names: readonly string[], mode = 0o755) {
  const home = mkdtempSync(join(tmpdir(), 'warpwatch-private-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const directory = join(home, 'data')
  mkdirSync(directory)
  for (const name of names) {
    writeFileSync(join(directory, name), '')
    chmodSync(join(directory, name), 0o644)
  }
  chmodSync(directory, mode)
  const { lines, log } = kept()
  return { home, directory, at: (name: string) => join(directory, name), lines, secure: () => secureDataDirectory(directory, log) }
}

describe('a directory of the agent', () => {
  test('is made 0700, with those above it', () => {
    const { home, lines } = scene([])
    const directory = join(home, 'a/b')
    secureDataDirectory(directory, kept().log)
    expect([modeOf(directory), modeOf(join(home, 'a')), lines]).toEqual(['0700', '0700', []])
  })

  test('of an earlier version is tightened, with all its files', () => {
    const names = [
      'history.db',
      'history.db-wal',
      'history.db-shm',
      'history.db.broken-2026-01-01',
      'incidents.db',
      'outbox.db.broken',
      'lock.db',
      'lock.pid',
      'cursors.db',
    ]
    const { directory, at, lines, secure } = scene(names, 0o750)
    mkdirSync(at('simulated'))
    writeFileSync(at('simulated/history.db'), '')
    chmodSync(at('simulated'), 0o755)
    chmodSync(at('simulated/history.db'), 0o644)
    secure()
    expect(modeOf(directory)).toBe('0700')
    expect(names.map((name) => modeOf(at(name)))).toEqual(names.map(() => '0600'))
    expect([modeOf(at('simulated')), modeOf(at('simulated/history.db'))]).toEqual(['0700', '0600'])
    expect(lines[0]).toContain('mode 0750 made 0700')
    lines.length = 0
    secure()
    expect(lines).toEqual([])
  })

  test.each([
    ['empty', []],
    ['a file system of its own', ['lost+found', 'history.db']],
  ])('that was there before is tightened: %s', (_, names) => {
    const { directory, secure } = scene(names)
    secure()
    expect(modeOf(directory)).toBe('0700')
  })

  test('keeps the rights of the probes’ folder', () => {
    const { at, secure } = scene(['history.db'])
    mkdirSync(at('probe'), { mode: 0o755 })
    chmodSync(at('probe'), 0o755)
    secure()
    expect(modeOf(at('probe'))).toBe('0755')
  })
})

describe('a directory that is not its own', () => {
  test.each<readonly [string, readonly string[], number, RegExp]>([
    ['holds others’ files', ['history.db', 'notes.txt'], 0o755, /files that are not the agent's \(notes\.txt\)/],
    ['holds databases of something else', ['grafana.db'], 0o755, /no file in it is known to be the agent's/],
    ['is shared by everybody', [], 0o1777, /it is a shared directory/],
  ])('is left as it is and told of: it %s', (_, names, mode, why) => {
    const { directory, at, lines, secure } = scene(names, mode)
    secure()
    expect(modeOf(directory)).toBe(mode.toString(8).padStart(4, '0'))
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(why)
    const after = names.map((name) => [name, modeOf(at(name))])
    expect(after).toEqual(names.map((name) => [name, isPrivate(name) ? '0600' : '0644']))
  })

  test('is not told of where nobody else can look into it', () => {
    const { lines, secure } = scene(['history.db', 'notes.txt'], 0o700)
    secure()
    expect(lines).toEqual([])
  })

  test('links lead nowhere: what they point to keeps its rights', () => {
    const { home, at, secure } = scene(['history.db'])
    for (const name of ['secret', 'twice']) {
      writeFileSync(join(home, name), '')
      chmodSync(join(home, name), 0o644)
    }
    symlinkSync(join(home, 'secret'), at('incidents.db'))
    linkSync(join(home, 'twice'), at('outbox.db'))
    secure()
    expect([modeOf(join(home, 'secret')), modeOf(join(home, 'twice'))]).toEqual(['0644', '0644'])
  })

  test.skipIf(process.getuid?.() !== 0)('of another user keeps its rights, the agent’s files in it do not (root only)', () => {
    const { directory, at, lines, secure } = scene(['history.db', 'incidents.db'])
    chownSync(directory, 65_534, 65_534)
    chownSync(at('incidents.db'), 65_534, 65_534)
    secure()
    expect([modeOf(directory), modeOf(at('history.db')), modeOf(at('incidents.db'))]).toEqual(['0755', '0600', '0644'])
    expect(lines[0]).toContain('it belongs to uid 65534, the agent runs as uid 0')
  })
})
