// Compose files as the checks read them: with lines, anchors put in, bounds, and words where they cannot be parsed.
import { expect, test } from 'vitest'
import { parseComposeFile, readComposeFile } from '../../../agent/doctor/parts/compose-file.ts'
import { createHostFiles } from '../../../agent/doctor/parts/host-files.ts'

const TEXT = `x-gpu: &gpu
  shm_size: 8gb
services:
  trainer:
    <<: *gpu
    image: pytorch
    ports:
      - "80:80"
      - "443:443"
  other: {image: x}
`

test('the value, and the line of each part', () => {
  const file = parseComposeFile('compose.yaml', TEXT)
  expect(file.problem).toBeUndefined()
  expect(file.value).toMatchObject({ services: { trainer: { shm_size: '8gb', image: 'pytorch' } } })
  expect(file.lineOf(['services'])).toBe(3)
  expect(file.lineOf(['services', 'trainer', 'image'])).toBe(6)
  expect(file.lineOf(['services', 'trainer', 'ports', 1])).toBe(9)
  expect(file.lineOf(['services', 'other', 'image'])).toBe(10)
  // What a merge brought is not written here: the nearest part around it is.
  expect(file.lineOf(['services', 'trainer', 'shm_size'])).toBe(4)
})
test('what cannot be parsed says where', () => {
  expect(parseComposeFile('c', 'services:\n  a: [1\n  b: 2\n').problem).toMatch(/^line [23]: /)
  expect(parseComposeFile('c', 'a: *nothing\n').problem).toMatch(/nothing/)
})
test('a bomb of aliases is refused', () => {
  const levels = Array.from({ length: 9 }, (_, at) => `l${at}: &l${at} [${Array.from({ length: 9 }, () => (at === 0 ? 'x' : `*l${at - 1}`)).join(', ')}]`)
  expect(parseComposeFile('c', levels.join('\n')).problem).toMatch(/alias/i)
})
test('what cannot be read is a finding, not an end', async () => {
  expect((await readComposeFile('/none.yaml', createHostFiles())).problem).toBe('expected a file, found none')
  expect((await readComposeFile('/dev/zero', createHostFiles())).problem).toMatch(/came a character device/)
})
