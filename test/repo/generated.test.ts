// Everything that is made from declarations is committed as it is made: after `npm run generate` the tree is unchanged.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { strays } from '../../scripts/generate.ts'
import { committed, ROOT, withPart, type Generator } from '../../scripts/generators/generator.ts'
import * as registry from '../../scripts/generators/index.ts'

describe('what is made from declarations is what is committed; if not: npm run generate', () => {
  test.each(Object.entries<Generator>(registry))('%s', async (_, generator) => {
    const files = await generator.files(false)
    expect(files.size).toBeGreaterThan(0)
    expect([...files.keys()].filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
    for (const [path, text] of files) expect({ path, text: committed(path) }).toEqual({ path, text })
    expect(strays(generator, files)).toEqual([])
  })

  test('a page without a place for its part is refused', () => {
    expect(() => withPart('docs/otlp.md', 'metrics', '', '# Nothing\n')).toThrow(/no place for the generated part/)
  })
})
