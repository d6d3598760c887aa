// The page about the detectors is what they declare.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DETECTOR_LIST } from '../../agent/cli/detector-settings.ts'
import { detectorsPage } from '../../scripts/detectors-doc.ts'

test('docs/detectors.md is what the declarations say (node scripts/detectors-doc.ts writes it)', () => {
  const page = detectorsPage()
  expect(DETECTOR_LIST.length).toBeGreaterThan(20)
  for (const { id, options } of DETECTOR_LIST)
    for (const text of [`## ${id}\n`, ...Object.keys(options).map((name) => `| \`${name}\` |`)]) expect(page).toContain(text)
  expect(readFileSync(join(import.meta.dirname, '../../docs/detectors.md'), 'utf8')).toBe(page)
})
