// The archive of the doctor, as the system's own tar reads it.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { tarGz } from '../../../agent/doctor/bundle/tar.ts'

test('tar gives back what was put in', () => {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-tar-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const files = [
    { name: 'bundle/empty.txt', text: '' },
    { name: 'bundle/words.txt', text: 'äöü → 漢字\n' },
    { name: 'bundle/block.txt', text: 'x'.repeat(512) },
    { name: 'bundle/long.txt', text: 'y'.repeat(100_001) },
  ]
  const archive = join(folder, 'a.tar.gz')
  writeFileSync(archive, tarGz(files, 1_763_600_000_999))
  const said = execFileSync('tar', ['-xvzf', archive, '-C', folder], { encoding: 'utf8' })
  expect(said.trim().split('\n')).toEqual(files.map(({ name }) => name))
  for (const { name, text } of files) expect(readFileSync(join(folder, name), 'utf8')).toBe(text)
  expect(statSync(join(folder, 'bundle/long.txt')).mtimeMs).toBe(1_763_600_000_000)
})

test('a name that no header holds is refused', () => {
  expect(() => tarGz([{ name: 'n'.repeat(101), text: '' }], 0)).toThrow(/must be of 1 to 100/)
})
