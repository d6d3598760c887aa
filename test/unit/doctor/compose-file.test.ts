// Compose files as the checks read them: with lines, anchors put in, bounds, and words where they cannot be parsed.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseComposeFile, readComposeFile } from '../../../agent/doctor/compose/file.ts'
import { at, itemsOf, textOf } from '../../../agent/doctor/compose/part.ts'
import { createHostFiles } from '../../../agent/doctor/parts/host-files.ts'
import { isBounded } from '../../setup/bounded.ts'

const TEXT = `x-gpu: &gpu
  shm_size: 8gb
  image: other
x-more: &more {shm_size: 1gb, init: true}
services:
  trainer:
    <<: [*gpu, *more]
    image: pytorch
    ports:
      - "80:80"
      - "443:443"
  other: {image: x, "<<": {init: false}}
`

test('the value, and the line of each part', () => {
  const { root, problem } = parseComposeFile('compose.yaml', TEXT)
  expect(problem).toBeUndefined()
  const trainer = at(root, 'services', 'trainer')
  // The file's own key goes before a merged one, of those the first; each knows where it is written.
  expect([textOf(at(trainer, 'image')), at(trainer, 'image')?.line]).toEqual(['pytorch', 8])
  expect([textOf(at(trainer, 'shm_size')), at(trainer, 'shm_size')?.line]).toEqual(['8gb', 2])
  expect([textOf(at(trainer, 'init')), at(trainer, 'init')?.line]).toEqual(['true', 4])
  expect(itemsOf(at(trainer, 'ports')).map(({ line }) => line)).toEqual([10, 11])
  expect([at(root, 'services')?.line, trainer?.line]).toEqual([5, 6])
  // In quotes it is a key like others.
  expect(textOf(at(root, 'services', 'other', 'init'))).toBeUndefined()
})
test('tags of Compose are kept, and are no error', () => {
  const { root } = parseComposeFile('c', 'a: !reset null\nb: !override [1]\nc: !mine 2\n')
  expect(['a', 'b', 'c'].map((key) => at(root, key)?.tag)).toEqual(['reset', 'override', undefined])
})
test('what cannot be parsed says where', () => {
  expect(parseComposeFile('c', 'services:\n  a: [1\n  b: 2\n').problem).toMatchObject({
    line: expect.toBeOneOf([2, 3]),
    message: expect.stringMatching(/^not valid YAML: /),
  })
  expect(parseComposeFile('c', 'x: 1\na: *nothing\n').problem).toEqual({
    line: 2,
    message: 'expected an anchor &nothing before the alias *nothing, found none',
  })
  expect(parseComposeFile('c', 'x: 1\na:\n  <<: 3\n').problem?.message).toMatch(/expected a map behind the merge key/)
})
test('a bomb of aliases is refused, and one that holds itself', () => {
  const levels = Array.from(
    { length: 9 },
    (_, depth) => `l${depth}: &l${depth} [${Array.from({ length: 9 }, () => (depth === 0 ? 'x' : `*l${depth - 1}`)).join(', ')}]`,
  )
  expect(parseComposeFile('c', levels.join('\n')).problem?.message).toMatch(/more than 50000 values with aliases/)
  expect(parseComposeFile('c', 'a: &a [*a]\n').problem?.message).toMatch(/holds itself/)
})
test('an alias stands for the last anchor of its name before it', () => {
  const { root } = parseComposeFile('c', 'a: &x 1\nb: *x\nc: &x 2\nd: *x\n')
  expect(['b', 'd'].map((key) => textOf(at(root, key)))).toEqual(['1', '2'])
})
test('many aliases cost no more than their number', () => {
  // Looked up again in the whole file for each they took seconds.
  const text = `a: &a 1\nb: [${'*a, '.repeat(20_000)}]`
  expect(isBounded(() => expect(parseComposeFile('c', text).problem).toBeUndefined(), 2)).toBe(true)
})
test('depth is bounded', () => {
  for (const levels of [100, 20_000])
    expect(parseComposeFile('c', `a: ${'['.repeat(levels)}${']'.repeat(levels)}`).problem?.message).toMatch(/^more than \d+ levels|^not valid YAML: /)
})
test('what cannot be read is a finding, not an end', async () => {
  const words = async (path: string): Promise<string | undefined> => (await readComposeFile(path, createHostFiles())).problem?.message
  expect(await words('/none.yaml')).toBe('expected a file, found none')
  expect(await words('/dev/zero')).toMatch(/not a character device/)
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-compose-file-'))
  try {
    writeFileSync(join(folder, 'large.yml'), `# ${'x'.repeat(2 ** 20)}`)
    expect(await words(join(folder, 'large.yml'))).toBe('larger than 1 MiB: too large to read')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
